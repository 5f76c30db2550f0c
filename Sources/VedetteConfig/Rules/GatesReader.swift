// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the gates of a rule.
struct GatesReader {
    let windows: [String: [CivilWindow]]
    let scope: NameScope
    /// Reads the sinks of a `notify`.
    let notices: (YAMLNode) -> [Rule.NotificationTarget]
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func gates(_ map: MapReader) -> Gates {
        var gates = Gates()
        gates.pendingFor = map["for"].flatMap { scalars.duration($0, "'for'") } ?? .zero
        gates.depends = map["depends"].flatMap(depends) ?? []
        gates.quiet = quiet(map)
        gates.conditions = conditions(map["if"], "'if'") + conditions(map["unless"], "'unless'", isExcluded: true)
        gates.atLeast = map["at_least"].flatMap(atLeast)
        gates.nothing = map["nothing"].flatMap { scalars.duration($0, "'nothing'", atLeast: .seconds(1)) } ?? .zero
        for name in ["for", "at_least", "digest", "once_per"]
        where map.has("nothing") && map.has(name) {
            findings.error(
                map.key(name), "'\(name)' is about events, but 'nothing' is about their absence; remove one")
        }
        gates.oncePer = map["once_per"].flatMap { field($0, "'once_per'") }
        gates.digest = map["digest"].flatMap(digest)
        gates.limit = map["limit"].flatMap(limit)
        gates.remind = map["remind"].flatMap(remind)
        gates.escalate = map["escalate"].map(escalate) ?? []
        gates.resolved = map["resolved"].flatMap { $0.isMap ? true : scalars.flag($0, "'resolved'") } ?? false
        gates.recoveredFor = map["recovered_for"].flatMap { scalars.duration($0, "'recovered_for'") } ?? .zero
        if map.has("recovered_for"), !gates.resolved {
            findings.error(
                map.key("recovered_for"),
                "'recovered_for' is about ends, which only 'resolved: true' tells; add that or remove it")
        }
        if gates.digest != nil || gates.quiet?.action == .digest, !gates.escalate.isEmpty {
            findings.error(
                map.key("escalate"), "'escalate' is about one event, but 'digest' joins several; keep one")
        }
        return gates
    }

    private func field(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = scalars.text(node, what) else { return nil }
        scope.check(field: name, at: node.place, findings)
        return name
    }

    private func depends(_ node: YAMLNode) -> [String]? {
        scalars.oneOrMany(node, "'depends'")?.compactMap { node in
            guard let name = scalars.text(node, "'depends'") else { return nil }
            if scope.all.contains(name) { return name }
            findings.error(node.place, MapReader.unknown("source", name, among: scope.all))
            return nil
        }
    }

    /// Reads `quiet`, and `during` of the rule, which is its inverse.
    private func quiet(_ rule: MapReader) -> Quiet? {
        let outside = rule["during"].flatMap(namedWindows) ?? []
        guard let node = rule["quiet"] else {
            return outside.isEmpty ? nil : Quiet(windows: [], outside: outside, action: .defer)
        }
        guard let map = MapReader(node, "'quiet'", keys: ConfigurationKeys.quiet, findings) else { return nil }
        let action: Quiet.Action? = map["then"].flatMap { scalars.choice($0, "'then'") }
        if !map.has("during"), !rule.has("during") {
            findings.error(node.place, "'quiet' lacks 'during': names of windows")
        }
        return Quiet(
            windows: map["during"].flatMap(namedWindows) ?? [], outside: outside, action: action ?? .defer)
    }

    private func namedWindows(_ node: YAMLNode) -> [CivilWindow]? {
        scalars.oneOrMany(node, "'during'")?.flatMap { node -> [CivilWindow] in
            guard let name = scalars.text(node, "'during'") else { return [] }
            if let found = windows[name] { return found }
            findings.error(node.place, MapReader.unknown("window", name, among: Array(windows.keys)))
            return []
        }
    }

    /// Reads `if` or `unless`: a map, or a list of maps of which each must hold.
    private func conditions(_ node: YAMLNode?, _ what: String, isExcluded: Bool = false) -> [SourceCondition] {
        guard let node, let nodes = scalars.oneOrMany(node, what) else { return [] }
        let matchers = MatcherReader(findings: findings)
        return nodes.compactMap { node in
            guard let map = MapReader(node, what, keys: ConfigurationKeys.sourceCondition, findings),
                let sourceNode = map["source"], let source = scalars.text(sourceNode, "'source'")
            else { return nil }
            guard scope.all.contains(source) else {
                findings.error(sourceNode.place, MapReader.unknown("source", source, among: scope.all))
                return nil
            }
            let items = (map["item"]?.entries("'item'", findings) ?? []).flatMap { entry in
                matchers.matchers(entry.value, "'\(entry.name)'").map { (name: entry.name, matcher: $0) }
            }
            let field = map["field"].flatMap { scalars.text($0, "'field'") } ?? "state"
            guard let matcher = map["is"].flatMap({ matchers.matcher($0, "'is'") }) else { return nil }
            return SourceCondition(
                source: source, items: items, field: field, matcher: matcher, isExcluded: isExcluded,
                drops: map["drop"].flatMap { scalars.flag($0, "'drop'") } ?? false)
        }
    }

    private func atLeast(_ node: YAMLNode) -> Limit? {
        guard let map = MapReader(node, "'at_least'", keys: ConfigurationKeys.atLeast, findings) else { return nil }
        let count = map["count"].flatMap { scalars.integer($0, "'count'", in: 2...1000) }
        let per = map["per"].flatMap { scalars.duration($0, "'per'", atLeast: .seconds(1)) }
        let by = map["by"].flatMap { grouping($0) } ?? .rule
        guard let count, let per else { return nil }
        return Limit(count: count, per: per, by: by)
    }

    private func limit(_ node: YAMLNode) -> Limit? {
        guard let map = MapReader(node, "'limit'", keys: ConfigurationKeys.limit, findings) else { return nil }
        let count = map["count"].flatMap { scalars.integer($0, "'count'", in: 1...10_000) }
        let per = map["per"].flatMap { scalars.duration($0, "'per'", atLeast: .seconds(1)) }
        let by = map["by"].flatMap { grouping($0) } ?? .item
        guard let count, let per else { return nil }
        return Limit(count: count, per: per, by: by)
    }

    /// Reads `rule`, `item`, or the name of a field.
    private func grouping(_ node: YAMLNode) -> Grouping? {
        guard let text = scalars.text(node, "'by'") else { return nil }
        switch text {
        case "rule": return .rule
        case "item": return .item
        default:
            scope.check(field: text, at: node.place, findings)
            return .field(text)
        }
    }

    private func digest(_ node: YAMLNode) -> DigestPlan? {
        guard let map = MapReader(node, "'digest'", keys: ConfigurationKeys.digest, findings) else { return nil }
        let every = map["every"].flatMap { scalars.duration($0, "'every'", atLeast: .seconds(1)) }
        let time = map["at"].flatMap { self.time($0, zone: map["tz"].flatMap(WindowReader(findings: findings).zone)) }
        guard map.has("every") != map.has("at") else {
            findings.error(node.place, "'digest' takes one of 'every' (a duration) and 'at' (a time of day)")
            return nil
        }
        let by = map["by"].flatMap { grouping($0) } ?? .rule
        let days = map["days"].flatMap(WindowReader(findings: findings).days) ?? []
        for name in ["days", "tz"] where map.has(name) && !map.has("at") {
            findings.error(map.key(name), "'\(name)' needs 'at', as 'at: \"08:00\"'")
        }
        if let every { return DigestPlan(release: .every(every), by: by) }
        return time.map { DigestPlan(release: .at($0, days: days), by: by) }
    }

    func time(_ node: YAMLNode, zone: String? = nil) -> CivilTimeOfDay? {
        guard let text = scalars.text(node, "'at'") else { return nil }
        guard let time = CivilTimeOfDay(text, zone: zone) else {
            findings.error(node.place, "'at' is a time of day as \"08:30\", not '\(text)'")
            return nil
        }
        return time
    }

    private func remind(_ node: YAMLNode) -> Reminder? {
        guard let map = MapReader(node, "'remind'", keys: ConfigurationKeys.remind, findings),
            let every = map["every"].flatMap({ scalars.duration($0, "'every'", atLeast: .seconds(1)) })
        else { return nil }
        return Reminder(every: every, until: map["until"].flatMap { scalars.texts($0, "'until'") } ?? [])
    }

    private func escalate(_ node: YAMLNode) -> [Escalation] {
        guard let nodes = node.elements("'escalate'", findings) else { return [] }
        if nodes.isEmpty { findings.error(node.place, "'escalate' is an empty list; write a step or remove the key") }
        return nodes.compactMap { node -> Escalation? in
            guard let map = MapReader(node, "a step of 'escalate'", keys: ConfigurationKeys.escalation, findings),
                let after = map["after"].flatMap({ scalars.duration($0, "'after'", atLeast: .seconds(1)) }),
                let sinks = map["notify"]
            else { return nil }
            return Escalation(after: after, notify: notices(sinks))
        }.sorted { $0.after < $1.after }
    }
}
