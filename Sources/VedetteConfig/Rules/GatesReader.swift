// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the gates of a rule.
struct GatesReader {
    let windows: [String: [CivilWindow]]
    let scope: NameScope
    /// Reads the sinks of a `notify`.
    let notices: (YAMLNode) -> [Rule.NotificationTarget]
    let values: ValueReader

    private var findings: Findings { values.findings }

    func gates(_ map: MapReader) -> Gates {
        var gates = Gates()
        gates.pendingFor = map.duration("for") ?? .zero
        gates.depends = map.words("depends")
            .filter { findings.isKnown($0.text, "source", among: scope.all, at: $0.place) }.map(\.text)
        gates.quiet = quiet(map)
        gates.conditions = conditions(map, "if") + conditions(map, "unless", isExcluded: true)
        gates.atLeast = limit(map, "at_least")
        gates.nothing = map.duration("nothing") ?? .zero
        for name in ["for", "at_least", "digest", "once_per"]
        where map.has("nothing") && map.has(name) {
            findings.error(
                map.key(name), "'\(name)' is about events, but 'nothing' is about their absence; remove one")
        }
        gates.oncePer = map.field("once_per", in: scope)
        gates.digest = map.object("digest").flatMap(digest)
        gates.limit = limit(map, "limit")
        if let remind = map.object("remind"), let every = remind.duration("every") {
            gates.remind = Reminder(every: every, until: remind.texts("until"))
        }
        gates.escalate = escalate(map)
        gates.resolved = map.value("resolved")?.isMap == true || map.flag("resolved") == true
        gates.recoveredFor = map.duration("recovered_for") ?? .zero
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

    /// Reads `quiet`, and `during` of the rule, which is its inverse.
    private func quiet(_ rule: MapReader) -> Quiet? {
        let outside = namedWindows(rule)
        guard rule.has("quiet") else {
            return outside.isEmpty ? nil : Quiet(windows: [], outside: outside, action: .defer)
        }
        guard let map = rule.object("quiet") else { return nil }
        if !map.has("during"), !rule.has("during") {
            findings.error(map.node.place, "'quiet' lacks 'during': names of windows")
        }
        let windows = namedWindows(map)
        if !outside.isEmpty, Set(outside.map(\.name)).isSubset(of: windows.map(\.name)) {
            findings.warn(
                map.key("during"),
                "'quiet' has every window in which the rule tells anything ('during'), so that no match is ever told; remove one of the two, or name another window"
            )
        }
        return Quiet(windows: windows, outside: outside, action: map.choice("then") ?? .defer)
    }

    private func namedWindows(_ map: MapReader) -> [CivilWindow] {
        map.words("during").flatMap { name, place in
            findings.isKnown(name, "window", among: Array(windows.keys), at: place) ? windows[name] ?? [] : []
        }
    }

    /// Reads `if` or `unless`: a map, or a list of maps of which each must hold.
    private func conditions(_ rule: MapReader, _ name: String, isExcluded: Bool = false) -> [SourceCondition] {
        let nodes = rule.node(name).flatMap { values.oneOrMany($0, "'\(name)'") } ?? []
        let matchers = MatcherReader(values: values)
        return nodes.compactMap { node in
            guard let map = MapReader(node, "'\(name)'", keys: ConfigurationKeys.sourceCondition, values),
                let source = map.text("source"), let place = map.value("source")?.place,
                findings.isKnown(source, "source", among: scope.all, at: place)
            else { return nil }
            let items = matchers.items(map, "item")
            guard let matcher = map.node("is").flatMap({ matchers.matcher($0, "'is'") }),
                let field = map.text("field")
            else { return nil }
            return SourceCondition(
                source: source, items: items, field: field, matcher: matcher, isExcluded: isExcluded,
                drops: map.flag("drop") == true)
        }
    }

    /// Reads `limit` or `at_least`.
    private func limit(_ rule: MapReader, _ name: String) -> Limit? {
        guard let map = rule.object(name), let by = grouping(map), let count = map.integer("count"),
            let per = map.duration("per")
        else { return nil }
        return Limit(count: count, per: per, by: by)
    }

    /// Reads `by`: `rule`, `item`, or the name of a field.
    private func grouping(_ map: MapReader) -> Grouping? {
        switch map.text("by") {
        case "rule": .rule
        case "item": .item
        default: map.field("by", in: scope).map { .field($0) }
        }
    }

    private func digest(_ map: MapReader) -> DigestPlan? {
        let windows = WindowReader(values: values)
        let time = map.timeOfDay("at", zone: windows.zone(map))
        guard map.has("every") != map.has("at") else {
            findings.error(
                map.node.place, "'digest' takes one of 'every' (a duration) and 'at' (a time of day)")
            return nil
        }
        let by = grouping(map)
        let days = windows.days(map)
        for name in ["days", "tz"] where map.has(name) && !map.has("at") {
            findings.error(map.key(name), "'\(name)' needs 'at', as 'at: \"08:00\"'")
        }
        guard let by else { return nil }
        if let every = map.duration("every") { return DigestPlan(release: .every(every), by: by) }
        return time.map { DigestPlan(release: .at($0, days: days), by: by) }
    }

    private func escalate(_ rule: MapReader) -> [Escalation] {
        guard let node = rule.node("escalate"), let nodes = node.elements("'escalate'", findings) else { return [] }
        if nodes.isEmpty { findings.error(node.place, "'escalate' is an empty list; write a step or remove the key") }
        return nodes.compactMap { node -> Escalation? in
            guard let map = MapReader(node, "a step of 'escalate'", keys: ConfigurationKeys.escalation, values),
                let after = map.duration("after"), let sinks = map.node("notify")
            else { return nil }
            return Escalation(after: after, notify: notices(sinks))
        }.sorted { $0.after < $1.after }
    }
}

extension MapReader {
    /// Reads the name of a field.
    func field(_ name: String, in scope: NameScope) -> String? {
        guard let field = text(name) else { return nil }
        scope.check(field: field, at: value(name)?.place ?? node.place, findings)
        return field
    }

    /// Reads a time of the day.
    func timeOfDay(_ name: String, zone: String? = nil) -> CivilTimeOfDay? {
        guard let text = text(name) else { return nil }
        let time = CivilTimeOfDay(text, zone: zone)
        if time == nil { refuse(name, "'\(name)' is a time of day as \"08:30\", not '\(text)'") }
        return time
    }
}
