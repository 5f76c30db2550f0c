// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteText

@testable import VedetteCore

@Suite("Texts of a rule's messages")
struct MessageTextTests {
    private static let both = [
        FieldChange(field: "state", from: "up", to: "slow", lasted: 60),
        FieldChange(field: "owner", from: "bob", to: "ann"), FieldChange(field: "price", from: "10", to: "12"),
    ]

    private func event(_ kind: Event.Kind = .changed, _ changes: [FieldChange] = MessageTextTests.both) -> Event {
        Event(
            id: Identifier("e"), kind: kind, time: Timestamp(milliseconds: 0), source: "lab", sourceKind: "json",
            poll: "p",
            item: Item(key: "1", title: "web", state: "slow", fields: ["owner": "ann", "price": "12"]),
            changes: changes)
    }

    private func message(_ when: Condition, _ event: Event, withheld: Int = 0) -> Message {
        let rule = Rule.when(when)
        return rule.delivery(
            of: event, to: Rule.NotificationTarget(sink: "out"), withheld: withheld, at: Timestamp(milliseconds: 0),
            Identifier("m")
        ).message
    }

    @Test("the change of a message is the change of the field that its rule is about, in title and templates")
    func change() {
        let message = message(.field("owner", from: nil, to: .oneOf(["ann"])), event())
        #expect(message.field == "owner" && message.change == Self.both[1])
        #expect(message.title == "web: owner bob → ann")
        #expect(message.templateContext["change.field"] == "owner" && message.templateContext["change.to"] == "ann")
        #expect(self.message(.appears, event()).title == "web: up → slow")
    }

    @Test("of several fields the one counts that changed, and under `any` the one whose condition holds")
    func several() {
        #expect(message(.changes(["name", "price"]), event()).change == Self.both[2])
        let any = Condition.any([
            .field("owner", from: nil, to: .oneOf(["eve"])), .field("price", from: nil, to: .above(11)),
        ])
        #expect(message(.all([.source(["lab"], text: "'lab'"), any]), event()).title == "web: price 10 → 12")
    }

    @Test("a message about several has no text that only one event can fill, and a template of a digest is kept")
    func templatesOfSeveral() throws {
        func message(_ text: String, of kind: Event.Kind) throws -> Message {
            let names = TemplateVocabulary(TemplateNames.item + TemplateNames.fixed)
            let template = try MustacheTemplate(text, names: names)
            let rule = Rule.when(.appears)
            let about = event().message(
                about: [event(), event(.appeared)], of: rule, id: Identifier("d"), at: .init(milliseconds: 0))
            return rule.delivery(
                of: kind == .digest ? about : event(),
                to: Rule.NotificationTarget(sink: "out", title: template, text: template),
                at: Timestamp(milliseconds: 0), Identifier("m")
            ).message
        }
        for text in ["{{item.name}} is up", "{{#change.to}}{{change.to}}{{/change.to}} {{rule.name}}", "{{link}}"] {
            #expect(try message(text, of: .digest).title == "web: up → slow, web: slow", "\(text)")
            #expect(try message(text, of: .digest).text == "web: up → slow\nweb: slow", "\(text)")
        }
        #expect(try message("{{digest.count}} of {{item.name}}", of: .digest).title == "2 of ")
        #expect(try message("news of {{source.name}}", of: .digest).text == "news of lab")
        #expect(try message("{{item.name}} is up", of: .changed).text == "web is up")
    }

    @Test("an item that appears shows the value of the rule's field")
    func appeared() {
        let new = event(.appeared, [])
        #expect(message(.field("owner", from: nil, to: .oneOf(["ann"])), new).title == "web: owner ann")
        #expect(message(.becomes("slow"), new).title == "web: slow")
    }

    @Test("a reminder tells what is still true, of the rule's field, of a failure and of an item that is gone")
    func reminders() {
        func reminder(_ event: Event) -> Event {
            event.reminder(id: Identifier("r"), at: Timestamp(milliseconds: 0), after: 7200)
        }
        let price = message(.field("price", from: nil, to: .above(11)), reminder(event()))
        #expect(price.title == "web: price still 12" && price.text == "lab · for 2 h")
        #expect(message(.becomes("slow"), reminder(event())).title == "web: still slow")
        #expect(message(.disappears, reminder(event(.disappeared, []))).title == "web is still gone")
        var failing = event(.failing, [])
        (failing.item, failing.error) = (nil, Event.Problem(failure: "timeout", detail: "no answer", server: "box"))
        let message = message(.sourceState([.failing]), reminder(failing))
        #expect(message.title == "lab is still failing" && message.text == "server box · no answer · for 2 h")
        #expect(Event(json: message.event.json) == message.event)
    }

    @Test("lines of a group stand under the first line of the text, whatever the event is about")
    func lines() {
        var event = event()
        event.summary = Event.Summary(events: ["a", "b"], count: 3, lines: ["web: slow", "db: down"])
        #expect(
            message(.becomes("slow"), event, withheld: 2).text
                == "lab · after 1 min · 2 messages held back before\nweb: slow\ndb: down\nand 1 more")
    }

    @Test("a template of a sink knows the group of a message about several")
    func group() throws {
        let digest = DigestPlan(release: .every(.seconds(60)), by: .field("site"))
        let rule = Rule.when(.appears, gates: { $0.digest = digest })
        var one = event()
        one.item?.fields["site"] = "lab-2"
        let about = one.message(about: [one, one], of: rule, id: Identifier("d"), at: Timestamp(milliseconds: 0))
        let message = rule.delivery(
            of: about, to: Rule.NotificationTarget(sink: "out"), at: Timestamp(milliseconds: 0), Identifier("m")
        ).message
        #expect(message.templateContext["group"] == "lab-2")
    }

    @Test("templates know whether a message is the end of what was told")
    func resolved() {
        for (kind, isEnd) in [(Event.Kind.resolved, true), (.recovered, true), (.online, true), (.changed, false)] {
            let context = event(kind).templateContext(rule: "r", field: nil)
            #expect((context["resolved"] == "true") == isEnd)
        }
    }

    @Test("digest.count and digest.lines are there for one event as for thirty")
    func digestOfOne() throws {
        func sent(_ change: (inout Gates) -> Void, _ play: (inout RuleHarness) -> Void) throws -> [String] {
            var rule = Rule.when(.becomes("down"), gates: change)
            let text = "{{digest.count}}: {{#digest.lines}}{{.}};{{/digest.lines}}"
            rule.notify = [.init(sink: "out", title: try MustacheTemplate(text, names: .message))]
            var harness = RuleHarness(rule)
            harness.item("a", "down", was: "up")
            play(&harness)
            return harness.sent
        }
        let first = "out: 1: a: up → down;"
        let digest = try sent({ $0.digest = DigestPlan(release: .every(.seconds(60))) }) { $0.pass(.seconds(60)) }
        #expect(digest == [first])
        let reminded = try sent({ $0.remind = Reminder(every: .seconds(60)) }) { $0.pass(.seconds(60)) }
        #expect(reminded == [first, "out: 1: a: still down;"])
        let over = try sent({ $0.resolved = true }) { $0.item("a", "up", was: "down") }
        #expect(over == [first, "out: 1: a: down → up;"])
        let limited = try sent({ $0.limit = Limit(count: 1, per: .seconds(60), by: .rule) }) {
            for key in ["b", "c"] { $0.item(key, "down", was: "up") }
            $0.pass(.seconds(60))
        }
        #expect(limited == [first, "out: 2: b: up → down;c: up → down;"])
    }

    @Test("the lines of a digest show the change of the rule's field")
    func digest() {
        var harness = RuleHarness(
            .when(.field("owner", from: nil, to: nil)) {
                $0.digest = DigestPlan(release: .every(.seconds(60)), by: .rule)
            })
        var changed = event()
        changed.time = RuleHarness.noon
        harness.take(harness.evaluate(changed))
        harness.take(harness.evaluate(changed))
        harness.pass(.seconds(61))
        #expect(harness.last?.summary?.lines == ["web: owner bob → ann", "web: owner bob → ann"])
    }

    @Test("the JSON of a message is its event with rule, priority, tags and suppressed, also in the data")
    func json() throws {
        var message = message(.becomes("slow"), event(), withheld: 3)
        message.tags = ["ops", "lab"]
        let json = message.json
        #expect(json["rule"] == .string("r") && json["priority"] == .string("normal"))
        #expect(json["tags"] == .string("ops,lab") && json["suppressed"]?.int64 == 3)
        #expect(json["data"]?["message"]?["tags"] == .array([.string("ops"), .string("lab")]))
        #expect(json["data"]?["message"]?["field"] == .string("state"))
        #expect(Event(json: json) == message.event)
        let plain = self.message(.becomes("slow"), event()).json
        #expect(plain["tags"] == nil && plain["suppressed"] == nil)
    }
}
