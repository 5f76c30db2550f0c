// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("the line for people")
struct EventLineTests {
    let line = EventLine { _ in "10:42:07" }

    private func happening(_ event: Event) -> String { EventLine.happening(of: event).map(\.text).joined() }

    @Test("a change of state is a readable line")
    func state() {
        #expect(line.text(.changed()) == "10:42:07  lab-systems  prod-1  Starting → Ready for use (after 4 min 12 s)")
    }

    @Test("every kind of event has its text")
    func kinds() {
        let item = Item(key: "59", state: "Stopped")
        let error = Event.Problem(failure: "timeout", detail: "no answer within 30 s")
        func words(_ event: Event) -> String { String(line.text(event).dropFirst("10:42:07  lab-systems  ".count)) }
        #expect(words(.about(.appeared, item: item)) == "59  appeared, Stopped")
        #expect(words(.about(.appeared, item: Item(key: "5", title: "New post"))) == "New post  appeared")
        #expect(words(.about(.disappeared, item: item)) == "59  disappeared, was Stopped")
        #expect(words(.about(.failing, error: error)) == "failing: no answer within 30 s [timeout]")
        #expect(words(.about(.recovered)) == "recovered")
        #expect(words(.about(.recovered, error: error)) == "recovered; before: no answer within 30 s [timeout]")
        #expect(words(.about(.test)) == "test")
        for kind in Event.Kind.allCases { #expect(!words(.about(kind)).isEmpty) }
    }

    @Test("other fields are named, unless the state changed; absent and empty values differ")
    func fields() {
        var event = Event.changed(from: nil, to: "", lasted: nil)
        event.changes.append(FieldChange(field: "owner", from: "ann", to: .list(["bob", "eve"])))
        #expect(happening(event) == "(none) → (empty)")
        event.changes.removeFirst()
        #expect(happening(event) == "owner: ann → bob, eve")
    }

    @Test("a message's line has the change of its rule first, then a few others; a long text stands alone")
    func others() {
        func line(_ changes: [FieldChange]) -> String {
            var event = Event.changed()
            event.changes = changes
            return EventLine.happening(of: event, field: "price").map(\.text).joined()
        }
        func change(_ name: String) -> FieldChange { FieldChange(field: name, from: "1", to: "2") }
        #expect(line([change("stock"), change("price")]) == "price: 1 → 2, stock: 1 → 2")
        #expect(line(["a", "b", "c", "price"].map(change)) == "price: 1 → 2, a: 1 → 2, b: 1 → 2 and 1 more")
        let long = FieldChange(field: "price", from: "1", to: .text(String(repeating: "word ", count: 200)))
        #expect(!line([long, change("stock")]).contains("stock"))
        #expect(!line([FieldChange(field: "text", from: "1", to: long.to), change("price")]).contains("text"))
    }

    @Test(
        "a message's line shows the change of its rule, the lines of a group, what is still true and what was held back"
    )
    func messages() {
        func words(_ change: (inout Message) -> Void) -> String {
            var message = Message.of()
            change(&message)
            return String(line.text(message).dropFirst("10:42:07  lab-systems  ".count))
        }
        let owner = FieldChange(field: "owner", from: "ann", to: "bob")
        #expect(
            words { ($0.event.changes, $0.field) = ($0.event.changes + [owner], "owner") } == "prod-1  owner: ann → bob"
        )
        #expect(
            words { $0.suppressed = 2 }
                == "prod-1  Starting → Ready for use (after 4 min 12 s)  (2 messages held back before)")
        let digest = Event.Summary(count: 3, lines: ["a: up", "b\n: down"])
        #expect(
            words { ($0.event.kind, $0.event.item, $0.event.summary) = (.digest, nil, digest) }
                == #"digest, 3 events: a: up; b\n: down; and 1 more"#)
        let still = Event.Summary(stood: 7200, cause: .changed)
        #expect(
            words { ($0.event.kind, $0.event.summary) = (.reminder, still) } == "prod-1  still Ready for use (for 2 h)")
        #expect(
            words { $0.event.kind = .resolved } == "prod-1  resolved: Starting → Ready for use (after 4 min 12 s)")
    }

    @Test("what a count or an absence tells is in the line, also in its reminder and its end")
    func counts() {
        func words(_ kind: Event.Kind, _ title: String) -> String {
            var event = Event.about(kind)
            event.summary = Event.Summary(count: 2, stood: 60)
            event.summary?.title = title
            return happening(event)
        }
        #expect(words(.elapsed, "2 items of lab, below 3") == "2 items of lab, below 3")
        #expect(words(.reminder, "Still so: 2 items of lab, below 3") == "Still so: 2 items of lab, below 3")
        #expect(words(.resolved, "3 items of lab, no longer below 3") == "resolved: 3 items of lab, no longer below 3")
        #expect(words(.elapsed, "No match of 'backup' for 26 h") == "No match of 'backup' for 26 h")
    }

    @Test("no colour comes from the event, and colours can be left out")
    func colours() {
        let event = Event.changed(title: "\u{1B}[31mred")
        #expect(line.text(event).contains(#"\x1b[31mred"#))
        #expect(!line.text(event).contains("\u{1B}"))
        let pieces = line.pieces(of: event)
        #expect(pieces.map(\.text).joined() == line.text(event))
        #expect(pieces.contains { $0.role == .source && $0.text == "lab-systems" })
        #expect(pieces.contains { $0.role == .state("Ready for use") && $0.text == "Ready for use" })
        #expect(pieces.allSatisfy { !$0.text.contains("\u{1B}") })
    }

    @Test(
        "untrusted text holds nothing that a terminal obeys",
        arguments: [
            ("plain Größe 日本 👩‍👩‍👧", "plain Größe 日本 👩‍👩‍👧"), ("a\r\n\tb", #"a\r\n\tb"#), ("\u{1B}[2J\u{7}", #"\x1b[2J\x07"#),
            ("\u{9B}31m\u{7F}\u{0}", #"\x9b31m\x7f\x00"#), ("\u{202E}exe\u{2066}\u{200F}", #"\u202eexe\u2066\u200f"#),
            ("\u{2028}\u{2029}", #"\u2028\u2029"#),
        ])
    func terminal(_ text: String, _ safe: String) {
        #expect(TerminalText.safe(text) == safe)
    }

    @Test("long text is cut at the limit")
    func cut() {
        #expect(TerminalText.safe("abcdef", limit: 3) == "abc…")
        #expect(TerminalText.safe("abc", limit: 3) == "abc")
    }

    @Test(
        "a duration has its two largest units",
        arguments: [
            (-1, "0 s"), (0.4, "under 1 s"), (59.4, "59 s"), (60, "1 min"), (252.4, "4 min 12 s"), (3600, "1 h"),
            (7500, "2 h 5 min"), (270_000, "3 d 3 h"), (1e300, "11574074074 d 1 h"),
        ])
    func lasted(_ seconds: Double, _ text: String) {
        #expect(DurationText.long(seconds: seconds) == text)
    }

    @Test("the times of a sentence are shown on the local clock, and nothing else changes")
    func localized() throws {
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        let until = Timestamp(rfc3339: "2026-11-22T07:00:00Z")!
        let local = LocalTime.text(until, now: now)
        #expect(
            LocalTime.localized("silenced: rule 'a-b', until \(until.rfc3339); 2026-11-2 - x", now: now)
                == "silenced: rule 'a-b', until \(local); 2026-11-2 - x")
        for text in ["", "-", "2026-", "é-2026-11-22T07:00:00", "quiet during 'night'"] {
            #expect(LocalTime.localized(text, now: now) == text)
        }
        #expect(LocalTime.localized("2026-11-22T07:00:00Z", now: now) == local)
    }

    @Test("a local time of another day carries its date")
    func localTime() {
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        #expect(LocalTime.text(now, now: now).utf8.count == 8)
        #expect(LocalTime.text(now.advanced(by: .seconds(-172_800)), now: now).hasPrefix("2026-11-19 "))
    }
}
