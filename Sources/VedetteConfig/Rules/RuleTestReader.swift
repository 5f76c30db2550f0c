// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `tests`: examples of what a rule sends and does not send.
struct RuleTestReader {
    let scope: NameScope
    let sinks: [String]
    let values: ValueReader

    private var findings: Findings { values.findings }
    private static let words: [String: RuleTest.Expectation] = [
        "nothing": .sent([]), "deferred": .deferred, "digest": .digest, "held": .held, "suppressed": .suppressed,
    ]

    /// Returns the tests with their places.
    func tests(_ node: YAMLNode) -> [(test: RuleTest, place: Place)] {
        (node.elements("'tests'", findings) ?? []).compactMap { node in test(node).map { ($0, node.place) } }
    }

    private func test(_ node: YAMLNode) -> RuleTest? {
        guard let map = MapReader(node, "a test", keys: ConfigurationKeys.test, values) else { return nil }
        let given = ConfigurationKeys.testEvents.filter(map.has)
        guard given.count == 1, let name = given.first else {
            findings.error(
                node.place, "a test needs one event: one of \(ConfigurationKeys.testEvents.joined(separator: ", "))")
            return nil
        }
        let made = test(name, map)
        guard let expect = map.node("expect").flatMap(expectation), var test = made else { return nil }
        test.expect = expect
        test.source = map.text("source")
        test.at = map.timeOfDay("at")
        test.lasts = map.duration("lasts")
        test.times = map.integer("times") ?? 1
        test.given = map.node("given").map { self.given($0) } ?? []
        return test
    }

    /// Reads the event; the expectation is read separately.
    private func test(_ name: String, _ map: MapReader) -> RuleTest? {
        if name.hasSuffix("_state") {
            let states = ConfigurationKeys.sourceStates + ConfigurationKeys.sinkStates
            return states.first { $0.word == map.text(name) }.map { RuleTest(kind: $0) }
        }
        guard let node = map.node(name), let steps = items(node, "'\(name)'", takesChanges: name == "change"),
            let first = steps.first
        else {
            return nil
        }
        let kinds: [String: Event.Kind] = ["change": .changed, "appears": .appeared, "disappears": .disappeared]
        guard let kind = kinds[name] else { return nil }
        var test = RuleTest(kind: kind, item: first.item, changes: first.changes)
        test.later = Array(steps.dropFirst())
        return test
    }

    /// Reads what other sources show: the source, and the fields of an item.
    private func given(_ node: YAMLNode) -> [(source: String, item: Item)] {
        (node.elements("'given'", findings) ?? []).enumerated().compactMap { number, node in
            guard let entries = node.entries("an item of 'given'", findings) else { return nil }
            var item = Item(key: "given \(number)")
            var source: (name: String, place: Place)?
            for entry in entries {
                guard let text = values.text(entry.value, "'\(entry.name)'") else { return nil }
                if entry.name == "source" { source = (text, entry.value.place) } else { item.set(entry.name, text) }
            }
            guard let (name, place) = source else {
                findings.error(node.place, "an item of 'given' needs the name of its source, as 'source: home'")
                return nil
            }
            return findings.isKnown(name, "source", among: scope.all, at: place) ? (source: name, item: item) : nil
        }
    }

    /// Reads an item: a value for each field, or `[from, to]` where it changed. Further values are further changes.
    private func items(
        _ node: YAMLNode, _ what: String, takesChanges: Bool
    ) -> [(item: Item, changes: [FieldChange])]? {
        guard let entries = node.entries(what, findings) else { return nil }
        var fields: [(name: String, texts: [String], changes: Bool)] = []
        for entry in entries {
            scope.check(field: entry.name, at: entry.key.place, findings)
            guard let texts = values.texts(entry.value, "'\(entry.name)'"), !texts.isEmpty else { return nil }
            if entry.value.isList, !takesChanges || texts.count < 2 {
                findings.error(entry.value.place, "'\(entry.name)' is a value, or [from, to] under 'change'")
                return nil
            }
            fields.append((entry.name, texts, entry.value.isList))
        }
        let steps = max(1, (fields.map { $0.texts.count }.max() ?? 1) - 1)
        let read = (0..<steps).map { step in
            var item = Item(key: "test")
            var changes: [FieldChange] = []
            for (name, texts, isChange) in fields {
                let value = texts[min(isChange ? step + 1 : 0, texts.count - 1)]
                item.set(name, value)
                guard isChange, step + 1 < texts.count else { continue }
                let field = name == "name" ? "title" : name
                changes.append(FieldChange(field: field, from: .text(texts[step]), to: .text(value)))
            }
            return (item: item, changes: changes)
        }
        if takesChanges, read.first?.changes.isEmpty != false {
            findings.error(node.place, "\(what) shows no change; write a field as {state: [Starting, Ready for use]}")
            return nil
        }
        return read
    }

    private func expectation(_ node: YAMLNode) -> RuleTest.Expectation? {
        if let text = node.text, let word = RuleTestReader.words[text] { return word }
        if node.isList, node.isEmpty { return .sent([]) }
        guard let nodes = values.oneOrMany(node, "'expect'") else { return nil }
        let names = nodes.compactMap { node -> String? in
            guard let name = values.text(node, "'expect'") else { return nil }
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
