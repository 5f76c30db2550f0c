// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads a rule.
struct RuleReader {
    let scope: NameScope
    /// The names of all sinks, also of those with errors.
    let sinks: [String]
    /// The sinks of kinds that pass the event on, so that a template for them would have no effect.
    let textless: Set<String>
    /// The sinks that are told of several subjects one by one.
    let each: Set<String>
    let windows: [String: [CivilWindow]]
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func rule(_ node: YAMLNode) -> ReadRule? {
        let title = node.child("name")?.text
        let what = title.map { "rule '\($0)'" } ?? "a rule"
        guard let map = MapReader(node, what, keys: ConfigurationKeys.rule, findings) else { return nil }
        let nameNode = map["name"]
        let name = nameNode.flatMap { NameValidator.check($0, "rule", findings) }
        let when = map["when"].flatMap { ConditionReader(findings: findings).condition($0, scope) }
        let stop = map["stop"].flatMap { scalars.flag($0, "'stop'") } ?? false
        let priority: Priority? = map["priority"].flatMap { scalars.choice($0, "'priority'") }
        let inner = when?.scope ?? scope
        let notices = notices(map, stop: stop, inner)
        let tags = map["tags"].flatMap { scalars.texts($0, "'tags'") } ?? []
        let gates = gates(map, inner)
        let tests = map["tests"].map { RuleTestReader(scope: inner, sinks: sinks, findings: findings).tests($0) } ?? []
        guard let name, let nameNode, let when else { return nil }
        if when.matchesExisting, gates.pendingFor == .zero, when.condition.isTimed == false {
            findings.error(map.key("when"), "'stays' needs 'for': how long it stays, as 'for: 30m'")
        }
        checkEffect(map, of: when.condition)
        var rule = Rule(
            name: name, when: when.condition, stop: stop, priority: priority ?? .normal, tags: tags, notify: notices,
            gates: gates, matchesExisting: when.matchesExisting,
            identity: RuleIdentity.of(map, RuleIdentity.ofRows))
        rule.logIdentity = RuleIdentity.of(map, RuleIdentity.ofLogs)
        rule.formerName = map["was"].flatMap { scalars.text($0, "'was'") }
        if let node = map["resolved"], node.isMap { rule.ending = ending(node, of: rule, inner) }
        rule.tests = tests.map(\.test)
        return ReadRule(rule: rule, node: node, place: nameNode.place, testPlaces: tests.map(\.place))
    }

    /// Refuses keys that change nothing in this rule, since whoever writes one expects that it does.
    private func checkEffect(_ map: MapReader, of when: Condition) {
        if map.has("for"), when.isTimed {
            findings.error(map.key("for"), "'for' has no effect beside 'older', which is a time itself; remove one")
        }
        if map.has("once_per"), when.isAboutSources {
            findings.error(
                map.key("once_per"),
                "'once_per' names a field of an item, but this rule's messages are about a source; remove it")
        }
        guard !map.has("notify") else { return }
        let others: Set = ["name", "when", "stop", "tags", "tests"]
        for name in ConfigurationKeys.rule.map(\.name) where !others.contains(name) && map.has(name) {
            findings.error(
                map.key(name),
                "'\(name)' is about messages, but a rule with 'stop' and without 'notify' sends none; remove it")
        }
    }

    private func gates(_ map: MapReader, _ scope: NameScope) -> Gates {
        GatesReader(
            windows: windows, scope: scope,
            notices: { node in
                (self.scalars.oneOrMany(node, "'notify'") ?? []).flatMap { self.notices($0, scope) }.map(\.0)
            }, findings: findings
        ).gates(map)
    }

    private func notices(_ map: MapReader, stop: Bool, _ scope: NameScope) -> [Rule.NotificationTarget] {
        guard map.has("notify") else {
            if !stop { findings.error(map.node.place, "\(map.what) lacks 'notify': the sinks that get its messages") }
            return []
        }
        guard let node = map["notify"] else { return [] }
        guard let nodes = scalars.oneOrMany(node, "'notify'") else { return [] }
        var seen = Set<String>()
        return nodes.flatMap { self.notices($0, scope) }.compactMap { notice, place in
            if seen.insert(notice.sink).inserted { return notice }
            findings.error(place, "the sink '\(notice.sink)' is named twice in 'notify'; keep one")
            return nil
        }
    }

    /// Reads a name, or `name: {text, title}`.
    private func notices(_ node: YAMLNode, _ scope: NameScope) -> [(Rule.NotificationTarget, Place)] {
        guard node.isMap else {
            guard let name = scalars.text(node, "'notify'"), isSink(name, node.place) else { return [] }
            return [(target(name), node.place)]
        }
        return (node.entries("'notify'", findings) ?? []).compactMap { entry -> (Rule.NotificationTarget, Place)? in
            guard isSink(entry.name, entry.key.place),
                let map = MapReader(entry.value, "'\(entry.name)'", keys: ConfigurationKeys.notice, findings)
            else { return nil }
            for name in ["title", "text"] where textless.contains(entry.name) && map.has(name) {
                findings.error(
                    map.key(name),
                    "the sink '\(entry.name)' passes on the event itself and shows no '\(name)'; remove it")
            }
            let reader = TemplateReader(findings: findings, vocabulary: scope.vocabulary)
            let title = map["title"].flatMap { reader.template($0, "'title'") }
            let text = map["text"].flatMap { reader.template($0, "'text'") }
            return (target(entry.name, title: title, text: text), entry.key.place)
        }
    }

    private func target(
        _ sink: String, title: (any Template)? = nil, text: (any Template)? = nil
    ) -> Rule.NotificationTarget {
        var target = Rule.NotificationTarget(sink: sink, title: title, text: text)
        target.tellsEach = each.contains(sink)
        return target
    }

    /// Reads the map of `resolved`.
    private func ending(_ node: YAMLNode, of rule: Rule, _ scope: NameScope) -> Rule.Ending {
        var ending = Rule.Ending()
        guard let map = MapReader(node, "'resolved'", keys: ConfigurationKeys.resolved, findings) else { return ending }
        let told = rule.allTargets.map(\.sink)
        for node in map["notify"].flatMap({ scalars.oneOrMany($0, "'notify'") }) ?? [] {
            guard let name = scalars.text(node, "'notify'"), isSink(name, node.place) else { continue }
            ending.sinks.insert(name)
            if told.contains(name) { continue }
            findings.error(
                node.place,
                "the rule does not tell '\(name)' of matches, and so not of their ends; name it in its 'notify'")
        }
        let reader = TemplateReader(findings: findings, vocabulary: scope.vocabulary)
        func text(_ name: String) -> Rule.Ending.Text? {
            guard let node = map[name] else { return nil }
            if (ending.sinks.isEmpty ? Set(told) : ending.sinks).isSubset(of: textless) {
                findings.error(map.key(name), "no sink of the end shows a '\(name)'; remove it")
            }
            return node.text == "same" ? .same : reader.template(node, "'\(name)'").map(Rule.Ending.Text.own)
        }
        (ending.title, ending.text) = (text("title"), text("text"))
        ending.priority = map["priority"].flatMap { scalars.choice($0, "'priority'") }
        return ending
    }

    private func isSink(_ name: String, _ place: Place) -> Bool {
        if sinks.contains(name) { return true }
        findings.error(place, MapReader.unknown("sink", name, among: sinks))
        return false
    }
}
