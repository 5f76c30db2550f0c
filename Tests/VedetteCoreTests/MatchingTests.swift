// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@Suite("Glob")
struct GlobTests {
    @Test(
        "a glob means what the shell means",
        arguments: [
            ("prod-*", "prod-1", true), ("prod-*", "xprod-1", false), ("", "", true), ("*", "", true), ("?", "", false),
            ("a?c", "abc", true), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[]a]", "]", true),
            ("[!]a]", "b", true), ("[!]a]", "]", false), ("[a", "[a", true), (#"\*"#, "*", true), (#"\*"#, "x", false),
            ("*a*b*", "xxaxxbxx", true), ("*a*b*", "xxbxxa", false), ("[a-]", "-", true), ("?", "é", true),
            ("[a]", "a", true), ("[!a]", "b", true), ("[^a]", "b", true), ("[^a]", "a", false), ("[^]a]", "b", true),
            ("[^]a]", "]", false), ("[a^]", "^", true), ("[a-a]", "a", true), ("[a-a]", "-", false),
            ("[a-cx]", "w", false), ("[c-a]", "b", false), ("[c-a]", "-", true),
        ])
    func meaning(glob: String, text: String, matches: Bool) {
        #expect(Glob(glob).matches(text) == matches)
    }

    /// By definition, exponential.
    private func naive(_ glob: Substring, _ text: Substring) -> Bool {
        guard let first = glob.first else { return text.isEmpty }
        let rest = glob.dropFirst()
        switch first {
        case "*": return naive(rest, text) || (!text.isEmpty && naive(glob, text.dropFirst()))
        case "?": return !text.isEmpty && naive(rest, text.dropFirst())
        default: return text.first == first && naive(rest, text.dropFirst())
        }
    }

    @Test("it agrees with the definition", arguments: 1...20)
    func property(seed: UInt64) {
        var dice = SplitMix64(seed)
        for _ in 0..<300 {
            let glob = String(
                (0..<Int.random(in: 0...7, using: &dice)).map { _ in "ab*?*".randomElement(using: &dice) ?? "a" })
            let text = String(
                (0..<Int.random(in: 0...9, using: &dice)).map { _ in "ab".randomElement(using: &dice) ?? "a" })
            #expect(Glob(glob).matches(text) == naive(glob[...], text[...]), "\(glob) on \(text)")
        }
    }

    @Test("a glob with many stars takes time linear in text times glob")
    func stars() {
        #expect(!Glob(String(repeating: "*a", count: 40) + "b").matches(String(repeating: "a", count: 2000)))
    }
}

private func changed(
    _ changes: [FieldChange] = [], item: Item = Item(key: "1"), kind: Event.Kind = .changed, source: String = "lab"
) -> Event {
    Event(
        id: Identifier("e"), kind: kind, time: at(0), source: source, sourceKind: "stub", poll: "p",
        item: kind.isAboutItem ? item : nil, changes: changes)
}

private func isMet(_ condition: Condition, _ event: Event) -> Bool {
    (try? condition.mismatch(with: event)) == .some(nil)
}

@Suite("Condition")
struct ConditionTests {
    private let ready = ValueMatcher.oneOf(["Ready", "Started"])
    private let starting = ValueMatcher.oneOf(["Starting"])

    @Test("`from` and `to` are lists; a side that is not given matches any value")
    func fromTo() {
        let event = changed([FieldChange(field: "state", from: "Starting", to: "Ready")])
        #expect(isMet(.field("state", from: starting, to: ready), event))
        #expect(isMet(.field("state", from: nil, to: ready), event))
        #expect(isMet(.field("state", from: starting, to: nil), event))
        #expect(!isMet(.field("state", from: ready, to: nil), event))
        #expect(!isMet(.field("title", from: nil, to: nil), event))
    }

    @Test("an item that appears counts as a change of each of its fields from absent")
    func appeared() {
        let event = changed(item: Item(key: "1", state: "Ready", fields: ["owner": "ann"]), kind: .appeared)
        #expect(isMet(.field("state", from: nil, to: ready), event))
        #expect(!isMet(.field("state", from: starting, to: ready), event))
        #expect(isMet(.changes(["owner"]), event))
        #expect(!isMet(.changes(["zone"]), event))
        #expect(isMet(.appears, event) && !isMet(.disappears, event))
    }

    @Test("an item that disappears changes no field")
    func disappeared() {
        let event = changed(item: Item(key: "1", state: "Ready"), kind: .disappeared)
        #expect(!isMet(.field("state", from: nil, to: nil), event) && isMet(.disappears, event))
    }

    @Test("`name` is the field of that name, else the title")
    func name() {
        let title = FieldChange(field: "title", from: "a", to: "b")
        let name = FieldChange(field: "name", from: "c", to: "d")
        #expect(changed([title]).change(of: "name") == title)
        #expect(changed([title, name]).change(of: "name") == name)
    }

    @Test("`where` matches the item as it is now, and never an event about the source")
    func item() {
        let item = Item(key: "1", title: "prod-1", fields: ["tags": .list(["a", "b"]), "cpu": "93"])
        let event = changed([], item: item)
        #expect(isMet(.item("name", .glob(Glob("prod-*"))), event))
        #expect(isMet(.item("tags", .oneOf(["b"])), event) && !isMet(.item("tags", .oneOf(["c"])), event))
        #expect(isMet(.item("cpu", .above(90)), event) && !isMet(.item("cpu", .below(90)), event))
        let five = changed(item: Item(key: "1", fields: ["n": "5"]))
        #expect(!isMet(.item("n", .above(5)), five) && !isMet(.item("n", .below(5)), five))
        #expect(!isMet(.item("name", .above(1)), event) && !isMet(.item("absent", .contains("")), event))
        #expect(!isMet(.item("name", .contains("")), changed(kind: .failing)))
    }

    @Test("all, any and not combine")
    func combined() {
        let event = changed([FieldChange(field: "state", from: "a", to: "b")])
        let (yes, no) = (Condition.changes(["state"]), Condition.appears)
        #expect(isMet(.all([yes, yes]), event) && !isMet(.all([yes, no]), event) && isMet(.all([]), event))
        #expect(isMet(.any([no, yes]), event) && !isMet(.any([no, no]), event) && !isMet(.any([]), event))
        #expect(isMet(.not(no), event) && !isMet(.not(yes), event))
    }

    @Test("a mismatch has both values")
    func reasons() throws {
        let event = changed([FieldChange(field: "state", from: "Queued", to: "Ready")])
        #expect(
            try Condition.field("state", from: starting, to: nil).mismatch(with: event)
                == "from is 'Queued', not 'Starting'"
        )
        #expect(
            try Condition.source(["x"], text: "'x'").mismatch(with: event) == "source is 'lab', not 'x'")
        #expect(try Condition.appears.mismatch(with: event) == "it is 'changed', not 'appeared'")
    }
}

private struct BrokenPattern: Pattern {
    func matches(_ text: String) throws(PatternError) -> Bool { throw PatternError("match limit") }
}

@Suite("RuleSet")
struct RuleSetTests {
    private func rule(_ name: String, _ when: Condition, stop: Bool = false) -> Rule {
        Rule(name: name, when: when, stop: stop, notify: [Rule.NotificationTarget(sink: "k")])
    }

    @Test("every matching rule is evaluated until one with `stop` matches")
    func stop() {
        let rules = RuleSet([
            rule("a", .changes(["state"])), rule("b", .appears), rule("c", .changes(["state"]), stop: true),
            rule("d", .changes(["state"])),
        ])
        let event = changed([FieldChange(field: "state", from: "a", to: "b")])
        #expect(
            rules.evaluateAll(event).map(\.result) == [
                .matched, .unmatched("it is 'changed', not 'appeared'"), .matched, .stopped(by: "c"),
            ])
    }

    @Test("a pattern that hits its limit is a failure with its reason, not a mismatch")
    func failedPattern() {
        let rules = RuleSet([rule("a", .item("key", .regex(BrokenPattern(), text: "x")))])
        #expect(rules.evaluate(changed()).map(\.result) == [.failed("match limit")])
    }

    private func condition(_ dice: inout SplitMix64, depth: Int) -> Condition {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &dice) {
        case 0, 1:
            let names = (0..<4).filter { _ in Bool.random(using: &dice) }.map { "s\($0)" }
            return .source(Set(names), text: "names")
        case 2: return Bool.random(using: &dice) ? .appears : .disappears
        case 3: return .all((0..<Int.random(in: 0...3, using: &dice)).map { _ in condition(&dice, depth: depth - 1) })
        case 4: return .any((0..<Int.random(in: 0...3, using: &dice)).map { _ in condition(&dice, depth: depth - 1) })
        default: return .not(condition(&dice, depth: depth - 1))
        }
    }

    @Test("the index by source finds exactly what a full scan finds, in order", arguments: 1...30)
    func index(seed: UInt64) {
        var dice = SplitMix64(seed)
        let rules = (0..<20).map { rule("r\($0)", condition(&dice, depth: 3)) }
        let set = RuleSet(rules)
        for source in (0..<5).map({ "s\($0)" }) {
            let event = changed(kind: .appeared, source: source)
            let found = set.evaluate(event).filter { $0.result == .matched }.map(\.rule.name)
            #expect(found == rules.filter { isMet($0.when, event) }.map(\.name))
        }
    }
}

@Suite("Message formatter")
struct MessageTitleTests {
    private let item = Item(
        key: "59", title: "prod-1", state: "Ready", url: "https://x/59", time: at(0), fields: ["owner": "ann"])

    @Test("the title has the state, else the main change")
    func titles() {
        let state = FieldChange(field: "state", from: "Starting", to: "Ready", lasted: 252.4)
        let owner = FieldChange(field: "owner", from: nil, to: "ann")
        let renamed = FieldChange(field: "title", from: "old", to: "prod-1")
        #expect(MessageTitle.of(changed([owner, state], item: item)) == "prod-1: Starting → Ready")
        #expect(MessageTitle.of(changed([owner], item: item)) == "prod-1: owner none → ann")
        #expect(MessageTitle.of(changed([renamed], item: item)) == "old is now prod-1")
        #expect(MessageTitle.of(changed(item: item, kind: .appeared)) == "prod-1: Ready")
        #expect(MessageTitle.of(changed(item: Item(key: "9"), kind: .appeared)) == "9")
        #expect(MessageTitle.of(changed(item: item, kind: .disappeared)) == "prod-1 is gone")
        #expect(MessageTitle.of(changed(kind: .failing)) == "lab is failing")
        #expect(MessageText.of(changed([state], item: item)) == "lab · after 4 min 12 s")
    }

    @Test("the text of a recovery differs from the text of the failure")
    func recovered() {
        var event = changed(kind: .recovered)
        event.error = Event.Problem(failure: "timeout", detail: "no answer")
        #expect(MessageText.of(event) == "before: no answer")
        event.error?.lasted = 720
        #expect(MessageText.of(event) == "down for 12 min · before: no answer")
    }

    @Test(
        "a duration is its two largest units",
        arguments: [
            (0.0, "0 s"), (0.2, "under 1 s"), (1.0, "1 s"), (252.4, "4 min 12 s"), (3600, "1 h"), (183_600, "2 d 3 h"),
            (-5, "0 s"),
        ])
    func durations(seconds: Double, text: String) { #expect(DurationText.long(seconds: seconds) == text) }

    @Test("no number ends the program", arguments: [Double.infinity, .nan, 1e300, -.infinity])
    func wildNumbers(number: Double) {
        #expect(!DurationText.long(seconds: number).isEmpty)
        #expect(!JSON.number(rounded: number).text.isEmpty)
    }

    @Test("a template's names find the event, its item and the change of the rule's field")
    func context() {
        let changes = [
            FieldChange(field: "state", from: "Starting", to: "Ready", lasted: 61),
            FieldChange(field: "owner", from: "bob", to: "ann"),
        ]
        let event = changed(changes, item: item)
        let context = event.templateContext(rule: "r", field: nil)
        var untitled = event
        untitled.item = Item(key: "59")
        let names = ["item.title", "item.name"].map { untitled.templateContext(rule: "r", field: nil)[$0] }
        #expect(names == ["59", "59"], "an item without a title is called by its key, as in a default title")
        #expect(context["item.name"] == "prod-1" && context["item.owner"] == "ann" && context["item.key"] == "59")
        #expect(context["change.from"] == "Starting" && context["change.lasted"] == "1 min 1 s")
        #expect(context["event.kind"] == "changed" && context["rule.name"] == "r" && context["link"] == "https://x/59")
        #expect(context["item.nothing"] == nil && context["error.class"] == nil && context["nonsense"] == nil)
        #expect(context["resolved"] == nil)
        #expect(event.templateContext(rule: "r", field: "owner")["change.to"] == "ann")
        let absent = ["suppressed", "resolved", "group", "acknowledged", "error.class", "error.detail"]
        for name in TemplateNames.fixed.filter({ !absent.contains($0) }) + TemplateNames.item {
            #expect(context[name] != nil, "\(name) has no value")
        }
    }
}
