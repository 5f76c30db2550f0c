// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteEngine

@testable import VedetteSources

@Suite("The calendar kind")
struct CalendarTests {
    /// 2026-11-22T07:00:00Z, a Sunday.
    private static let now = Timestamp(milliseconds: 1_795_330_800_000)

    private static func at(_ minutes: Int) -> Timestamp { now.advanced(by: .seconds(60 * minutes)) }

    static func body(_ lines: String) -> [UInt8] {
        Array("BEGIN:VCALENDAR\nVERSION:2.0\nX-WR-TIMEZONE:Europe/Vienna\n\(lines)END:VCALENDAR\n".utf8)
    }

    private func page(_ lines: String) -> PageBody {
        PageBody(bytes: Self.body(lines), url: "https://dav.example.org/team.ics")
    }

    private func read(_ lines: String, _ options: [String: OptionValue] = [:]) throws -> Page {
        var page = page(lines)
        page.receivedAt = Self.now
        return try Fixture.kind("calendar", options).read(&page)
    }

    static let standup = """
        BEGIN:VEVENT
        UID:standup@example.org
        DTSTART;TZID=Europe/Vienna:20261102T091500
        DTEND;TZID=Europe/Vienna:20261102T093000
        RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
        SUMMARY:Standup
        LOCATION:Room 3
        ORGANIZER;CN=Ann:mailto:ann@example.org
        ATTENDEE;CN=Bob:mailto:bob@example.org
        ATTENDEE:mailto:eve@example.org
        CATEGORIES:team,short
        LAST-MODIFIED:20261101T100000Z
        URL:https://meet.example.org/standup
        BEGIN:VALARM
        TRIGGER:-PT10M
        END:VALARM
        END:VEVENT

        """

    @Test("a CalDAV collection is read from the calendar-data of its multi-status; an empty one has no items")
    func collection() throws {
        let kind = try Fixture.kind("calendar", ["method": .text("REPORT")])
        let request = kind.request(base: "https://dav.example.org/team/", context: PollContext(now: Self.now))
        #expect(request.method == "REPORT" && request.headers.contains { $0.name == "Depth" && $0.value == "1" })
        #expect(String(decoding: request.body ?? [], as: UTF8.self).contains("<c:calendar-data/>"))
        func read(_ text: String) throws -> [String?] {
            var page = PageBody(bytes: Array(text.utf8), url: "https://dav.example.org/team/")
            page.receivedAt = Self.now
            return try kind.read(&page).items.map(\.title)
        }
        let lunch = Self.standup.replacing("standup@", with: "lunch@").replacing(
            "SUMMARY:Standup", with: "SUMMARY:Fish &amp; chips")
        let responses = [Self.standup, lunch].enumerated().map { number, event in
            let text = String(decoding: Self.body(event), as: UTF8.self).replacing("\n", with: "&#13;\n")
            return """
                <response><href>/team/\(number).ics</href><propstat><prop><getetag>"1"</getetag>\
                <C:calendar-data>\(text)</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>
                """
        }
        let missing = "<response><href>/team/2.ics</href><status>HTTP/1.1 404 Not Found</status></response>"
        func multistatus(_ inside: String) -> String {
            """
            <?xml version="1.0"?>
            <multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">\(inside)</multistatus>
            """
        }
        let titles = try read(multistatus(responses.joined() + missing))
        #expect(Set(titles) == ["Standup", "Fish & chips"])
        #expect(try read(multistatus("")).isEmpty)
        #expect(throws: ReadError.self) { try read("<html><body>Log in</body></html>") }
        #expect(throws: ReadError.self) { try read(multistatus(responses[0].replacing("END:VEVENT", with: ""))) }
        #expect(throws: OptionProblem.self) { try Fixture.kind("calendar", ["body": .text("<x/>")]) }
    }

    @Test("an event has its times, people and state; a date of a recurring one is keyed by UID and day")
    func event() throws {
        let item = try #require(try read(Self.standup).items.first)
        #expect(item.key == "standup@example.org/20261123" && item.title == "Standup" && item.state == "confirmed")
        #expect(
            item.url == "https://meet.example.org/standup" && item.time == Timestamp(rfc3339: "2026-11-01T10:00:00Z"))
        #expect(
            item.fields == [
                "type": "event", "start": "2026-11-23T09:15:00+01:00", "end": "2026-11-23T09:30:00+01:00",
                "location": "Room 3", "organizer": "Ann", "categories": .list(["team", "short"]),
                "remind_at": "2026-11-23T08:05:00.000Z",
            ])
        #expect(item.notes["attendees"] == .list(["Bob", "eve@example.org"]) && item.notes["date"] == "20261123")
    }

    @Test("a to-do has its due time, its state and its progress, and stays until it is done")
    func toDo() throws {
        func toDo(_ lines: String) throws -> Item? {
            try read("BEGIN:VTODO\nUID:t\nSUMMARY:Renew\n\(lines)END:VTODO\n").items.first
        }
        let late = try #require(try toDo("DUE;TZID=Europe/Vienna:20261101T120000\nPERCENT-COMPLETE:40\n"))
        #expect(late.state == "needs-action" && late.fields["due"] == "2026-11-01T12:00:00+01:00")
        #expect(late.fields["type"] == "to-do" && late.measures["percent"] == "40" && late.key == "t")
        #expect(try toDo("")?.state == "needs-action")
        #expect(try toDo("STATUS:IN-PROCESS\n")?.state == "in-process")
        #expect(try toDo("COMPLETED:20261101T100000Z\n")?.state == "completed")
        #expect(try toDo("STATUS:CANCELLED\n")?.state == "cancelled")
    }

    @Test("'remind' sets when the field remind_at is, before the start of an event and before a to-do is due")
    func remind() throws {
        let options: [String: OptionValue] = ["remind": .duration(.seconds(900))]
        let toDo = "BEGIN:VTODO\nUID:t\nDTSTART:20261120\nDUE:20261124T120000Z\nEND:VTODO\n"
        let times = try read(Self.standup + toDo, options).items.map { $0.fields["remind_at"]?.description }
        #expect(times.prefix(2) == ["2026-11-24T11:45:00.000Z", "2026-11-23T08:00:00.000Z"])
    }

    @Test("a wrong option is refused with its remedy")
    func options() {
        for (name, value) in [
            ("ahead", OptionValue.duration(.seconds(3600))), ("remind", .duration(.seconds(3_000_000))),
            ("timezone", .text("Europe/Atlantis")),
        ] {
            #expect(throws: OptionProblem.self, "\(name)") { try Fixture.kind("calendar", [name: value]) }
        }
    }

    @Test("what time takes out of a calendar or brings into it makes no event; what people change does")
    func overTime() async throws {
        let replay = Fixture.replay(try Fixture.source("calendar"))
        let once =
            "BEGIN:VEVENT\nUID:a/b\nSUMMARY:Dentist\nDTSTART:20261122T080000Z\nDTEND:20261122T083000Z\nEND:VEVENT\n"
        #expect(await replay.poll([page(Self.standup + once)], at: Self.now).events.isEmpty)
        // Ten days later the dentist is over, and a whole week of the standup is another one.
        let later = await replay.poll([page(Self.standup + once)], at: Self.at(10 * 1440))
        #expect(later.events.isEmpty && later.failure == nil)
        // Nothing but that is left of a calendar whose only event is over.
        let moved = Self.standup.replacing("T091500", with: "T101500").replacing("T093000", with: "T103000")
        let events = await replay.poll([page(moved)], at: Self.at(10 * 1440 + 30)).events
        #expect(
            events.count == 5 && events.allSatisfy { $0.kind == .changed && $0.changes.map(\.field).contains("start") })
        let new = moved + "BEGIN:VEVENT\nUID:n\nSUMMARY:Party\nDTSTART:20271231T200000Z\nEND:VEVENT\n"
        #expect(await replay.poll([page(new)], at: Self.at(10 * 1440 + 60)).events.map(\.item?.title) == ["Party"])
        let excluded = new.replacing(
            "RRULE:FREQ=WEEKLY", with: "EXDATE;TZID=Europe/Vienna:20261203T101500\nRRULE:FREQ=WEEKLY")
        _ = await replay.poll([page(excluded)], at: Self.at(10 * 1440 + 90))
        let gone = await replay.poll([page(excluded)], at: Self.at(10 * 1440 + 120)).events
        #expect(gone.map(\.kind) == [.disappeared] && gone.first?.item?.key == "standup@example.org/20261203")
    }

    @Test("a new recurring event is told; its later dates are not")
    func newSeries() async throws {
        let replay = Fixture.replay(try Fixture.source("calendar"))
        let other = "BEGIN:VEVENT\nUID:x\nDTSTART:20271231T200000Z\nEND:VEVENT\n"
        _ = await replay.poll([page(other)], at: Self.now)
        let events = await replay.poll([page(other + Self.standup)], at: Self.at(60)).events
        #expect(events.count == 5 && events.allSatisfy { $0.kind == .appeared })
        for day in 1...8 {
            #expect(await replay.poll([page(other + Self.standup)], at: Self.at(60 + day * 1440)).events.isEmpty)
        }
    }

    @Test("a calendar whose last event is over is empty, not suspect")
    func empty() async throws {
        let replay = Fixture.replay(try Fixture.source("calendar"))
        let once = "BEGIN:VEVENT\nUID:a\nDTSTART:20261122T080000Z\nEND:VEVENT\n"
        _ = await replay.poll([page(once)], at: Self.now)
        #expect(await replay.poll([page(once)], at: Self.at(120)).events.isEmpty)
        _ = await replay.poll([page(once + Self.standup)], at: Self.at(180))
        #expect(await replay.poll([page(once)], at: Self.at(240)).events.map(\.kind) == [.suspect])
    }

    @Test(
        "an unchanged calendar is read anew each hour, and a rule with 'older' tells its user once before an event begins"
    )
    func reminder() async throws {
        var rule = Rule(
            name: "soon", when: .older("remind_at", .seconds(1)), notify: [Rule.NotificationTarget(sink: "desk")],
            matchesExisting: true)
        rule.priority = .high
        let source = try Fixture.source(
            "calendar", ["remind": .duration(.seconds(900)), "ahead": .duration(.seconds(86_400))])
        let replay = Fixture.replay(source, rules: RuleSet([rule]))
        // Tuesday's date comes into view while the body stays the same.
        var told: [(Int, String)] = []
        for quarter in 0..<240 {
            let minutes = quarter * 15 + 1
            let poll = await replay.poll([page(Self.standup)], at: Self.at(minutes))
            #expect(poll.failure == nil && poll.events.isEmpty)
            for delivery in poll.earlier + poll.deliveries {
                told.append((minutes, delivery.message.event.item?.key ?? ""))
            }
        }
        #expect(told.map(\.1) == ["standup@example.org/20261123", "standup@example.org/20261124"])
        // 08:00 UTC, when the reminder is due, is 25 hours after the first poll.
        #expect(told.first?.0 == 25 * 60 + 1)
    }
}
