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
    let values: ValueReader

    private var findings: Findings { values.findings }

    func rule(_ node: YAMLNode) -> ReadRule? {
        let title = node.child("name")?.text
        let what = title.map { "rule '\($0)'" } ?? "a rule"
        guard
            let map = MapReader(
                node, what, keys: ConfigurationKeys.rule, remedies: ConfigurationKeys.misplacedInRule, values)
        else { return nil }
        let place = map.value("name")?.place ?? node.place
        let name = map.text("name").flatMap { NameValidator.check($0, "rule", at: place, findings) }
        let when = map.node("when").flatMap { ConditionReader(values: values).condition($0, scope) }
        let stop = map.flag("stop") == true
        let inner = when?.scope ?? scope
        let notices = notices(map, stop: stop, inner)
        let tags = map.texts("tags")
        let gates = gates(map, inner)
        let tests = map.node("tests").map { RuleTestReader(scope: inner, sinks: sinks, values: values).tests($0) } ?? []
        guard let name, let when else { return nil }
        if when.matchesExisting, gates.pendingFor == .zero, when.condition.isTimed == false {
            findings.error(map.key("when"), "'stays' needs 'for': how long it stays, as 'for: 30m'")
        }
        checkEffect(map, of: when.condition)
        var rule = Rule(
            name: name, when: when.condition, stop: stop, priority: map.choice("priority") ?? .normal, tags: tags,
            notify: notices,
            gates: gates, matchesExisting: when.matchesExisting,
            identity: RuleIdentity.of(map, RuleIdentity.ofRows))
        rule.logIdentity = RuleIdentity.of(map, RuleIdentity.ofLogs)
        rule.formerName = map.text("was")
        rule.ending = ending(map, of: rule, inner)
        rule.tests = tests.map(\.test)
        return ReadRule(rule: rule, node: node, place: place, testPlaces: tests.map(\.place))
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
                (self.values.oneOrMany(node, "'notify'") ?? []).flatMap { self.notices($0, scope) }.map(\.0)
            }, values: values
        ).gates(map)
    }

    private func notices(_ map: MapReader, stop: Bool, _ scope: NameScope) -> [Rule.NotificationTarget] {
        guard map.has("notify") else {
            if !stop { findings.error(map.node.place, "\(map.what) lacks 'notify': the sinks that get its messages") }
            return []
        }
        guard let nodes = map.node("notify").flatMap({ values.oneOrMany($0, "'notify'") }) else { return [] }
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
            guard let name = self.values.text(node, "'notify'"), isSink(name, node.place) else { return [] }
            return [(target(name), node.place)]
        }
        let values = ValueReader(secrets: self.values.secrets, vocabulary: scope.vocabulary)
        return (node.entries("'notify'", findings) ?? []).compactMap { entry -> (Rule.NotificationTarget, Place)? in
            guard isSink(entry.name, entry.key.place),
                let map = MapReader(entry.value, "'\(entry.name)'", keys: ConfigurationKeys.notice, values)
            else { return nil }
            for name in ["title", "text"] where textless.contains(entry.name) && map.has(name) {
                findings.error(
                    map.key(name),
                    "the sink '\(entry.name)' passes on the event itself and shows no '\(name)'; remove it")
            }
            return (
                target(entry.name, title: map.template("title"), text: map.template("text")), entry.key.place
            )
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
    private func ending(_ rule: MapReader, of made: Rule, _ scope: NameScope) -> Rule.Ending {
        var ending = Rule.Ending()
        let values = ValueReader(secrets: self.values.secrets, vocabulary: scope.vocabulary)
        guard let map = rule.object("resolved", values) else { return ending }
        let told = made.allTargets.map(\.sink)
        for (name, place) in map.words("notify") where isSink(name, place) {
            ending.sinks.insert(name)
            if told.contains(name) { continue }
            findings.error(
                place,
                "the rule does not tell '\(name)' of matches, and so not of their ends; name it in its 'notify'")
        }
        func text(_ name: String) -> Rule.Ending.Text? {
            guard let text = map.template(name) else { return nil }
            if (ending.sinks.isEmpty ? Set(told) : ending.sinks).isSubset(of: textless) {
                findings.error(map.key(name), "no sink of the end shows a '\(name)'; remove it")
            }
            return map.value(name)?.text == "same" ? .same : .own(text)
        }
        (ending.title, ending.text) = (text("title"), text("text"))
        ending.priority = map.choice("priority")
        return ending
    }

    private func isSink(_ name: String, _ place: Place) -> Bool {
        findings.isKnown(name, "sink", among: sinks, at: place)
    }
}
