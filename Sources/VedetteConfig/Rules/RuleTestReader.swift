// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `tests`: examples of what a rule sends and does not send.
struct RuleTestReader {
    let scope: NameScope
    let sinks: [String]
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }
    private static let words: [String: RuleTest.Expectation] = [
        "nothing": .sent([]), "deferred": .deferred, "digest": .digest, "held": .held, "suppressed": .suppressed,
    ]

    /// Returns the tests with their places.
    func tests(_ node: YAMLNode) -> [(test: RuleTest, place: Place)] {
        (node.elements("'tests'", findings) ?? []).compactMap { node in test(node).map { ($0, node.place) } }
    }

    private func test(_ node: YAMLNode) -> RuleTest? {
        guard let map = MapReader(node, "a test", keys: ConfigurationKeys.test, findings) else { return nil }
        let given = ConfigurationKeys.testEvents.filter(map.has)
        guard given.count == 1, let name = given.first, let event = map[name] else {
            findings.error(
                node.place, "a test needs one event: one of \(ConfigurationKeys.testEvents.joined(separator: ", "))")
            return nil
        }
        let made = test(name, event)
        guard let expect = map["expect"].flatMap(expectation), var test = made else { return nil }
        test.expect = expect
        test.source = map["source"].flatMap { scalars.text($0, "'source'") }
        if let node = map["at"], let text = scalars.text(node, "'at'") {
            test.at = CivilTimeOfDay(text)
            if test.at == nil { findings.error(node.place, "'at' is a time of day as \"23:00\", not '\(text)'") }
        }
        test.lasts = map["lasts"].flatMap { scalars.duration($0, "'lasts'") }
        return test
    }

    /// Reads the event; the expectation is read separately.
    private func test(_ name: String, _ node: YAMLNode) -> RuleTest? {
        let states = ["source_state": ConditionReader.sourceStates, "sink_state": ConditionReader.sinkStates]
        if let kinds = states[name] {
            return scalars.choice(node, "'\(name)'", among: kinds).map { RuleTest(kind: $0) }
        }
        guard let (item, changes) = item(node, "'\(name)'", takesChanges: name == "change") else { return nil }
        let kinds: [String: Event.Kind] = ["change": .changed, "appears": .appeared, "disappears": .disappeared]
        guard let kind = kinds[name] else { return nil }
        return RuleTest(kind: kind, item: item, changes: changes)
    }

    /// Reads an item: a value for each field, or `[from, to]` where it changed.
    private func item(_ node: YAMLNode, _ what: String, takesChanges: Bool) -> (Item, [FieldChange])? {
        guard let entries = node.entries(what, findings) else { return nil }
        var item = Item(key: "test")
        var changes: [FieldChange] = []
        for entry in entries {
            scope.check(field: entry.name, at: entry.key.place, findings)
            guard let texts = scalars.texts(entry.value, "'\(entry.name)'"), let last = texts.last else { return nil }
            if entry.value.isList {
                guard takesChanges, texts.count == 2 else {
                    findings.error(entry.value.place, "'\(entry.name)' is a value, or [from, to] under 'change'")
                    return nil
                }
                let field = entry.name == "name" ? "title" : entry.name
                changes.append(FieldChange(field: field, from: .text(texts[0]), to: .text(last)))
            }
            item.set(entry.name, last)
        }
        if takesChanges, changes.isEmpty {
            findings.error(node.place, "\(what) shows no change; write a field as {state: [Starting, Ready for use]}")
            return nil
        }
        return (item, changes)
    }

    private func expectation(_ node: YAMLNode) -> RuleTest.Expectation? {
        if let text = node.text, let word = RuleTestReader.words[text] { return word }
        if node.isList, node.isEmpty { return .sent([]) }
        guard let nodes = scalars.oneOrMany(node, "'expect'") else { return nil }
        let names = nodes.compactMap { node -> String? in
            guard let name = scalars.text(node, "'expect'") else { return nil }
            if sinks.contains(name) { return name }
            let known = sinks + RuleTestReader.words.keys.sorted()
            findings.error(node.place, MapReader.unknown("sink or word", name, among: known))
            return nil
        }
        return names.count == nodes.count ? .sent(names) : nil
    }
}

extension Item {
    fileprivate mutating func set(_ name: String, _ text: String) {
        switch name {
        case "key": key = text
        case "title", "name": title = text
        case "state": state = text
        case "url": url = text
        default: fields[name] = .text(text)
        }
    }
}
