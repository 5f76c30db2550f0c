// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteText

@testable import VedetteCore

@Suite("When a source is polled by the calendar")
struct PollCalendarTests {
    private func at(_ texts: [String], zone: String = "UTC", days: Set<Int> = []) -> PollCalendar {
        let times = texts.compactMap { text in
            CivilTimeOfDay(text, zone: zone).map { PollTime($0, days: days, text: text) }
        }
        return PollCalendar(.at(times), ZoneTime())
    }

    private func office(_ zone: String = "UTC") -> PollCalendar {
        let window = CivilWindow(
            name: "office", start: CivilTimeOfDay(minutes: 9 * 60), end: CivilTimeOfDay(minutes: 17 * 60),
            days: [1, 2, 3, 4, 5], zone: zone)
        return PollCalendar(.during([window]), ZoneTime())
    }

    private func time(_ text: String) -> Timestamp { RuleHarness.time(text) }

    /// The due times of so many polls, each made when it is due, from a poll at that time.
    private func polls(_ calendar: PollCalendar, after first: String, count: Int) -> [String] {
        var now = time(first)
        return (0..<count).map { _ in
            now = calendar.due(now.advanced(by: .seconds(60)), after: now, isOpen: false, spread: .zero)
            return now.rfc3339
        }
    }

    @Test("after a good poll the next one comes at the next of the times, not at the interval")
    func times() {
        #expect(
            polls(at(["08:00", "17:30"]), after: "2026-11-21T07:00:00Z", count: 3) == [
                "2026-11-21T08:00:00.000Z", "2026-11-21T17:30:00.000Z", "2026-11-22T08:00:00.000Z",
            ])
        // A Saturday.
        #expect(
            polls(at(["08:00"], days: [1, 2, 3, 4, 5]), after: "2026-11-21T07:00:00Z", count: 2) == [
                "2026-11-23T08:00:00.000Z", "2026-11-24T08:00:00.000Z",
            ])
    }

    @Test("a time that the clocks skip is polled once, as much later as they jump; a time that they show twice, once")
    func clockChanges() {
        // Vienna: 02:30 does not exist on 2026-03-29, and comes twice on 2026-10-25.
        let night = at(["02:30"], zone: "Europe/Vienna")
        #expect(
            polls(night, after: "2026-03-28T12:00:00Z", count: 2) == [
                "2026-03-29T01:30:00.000Z", "2026-03-30T00:30:00.000Z",
            ])
        #expect(
            polls(night, after: "2026-10-24T12:00:00Z", count: 2) == [
                "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z",
            ])
    }

    @Test("what a poll left open is polled again at the interval, but never later than the next time")
    func open() {
        let calendar = at(["08:00"])
        let now = time("2026-11-21T08:00:01Z")
        let soon = now.advanced(by: .seconds(90))
        #expect(calendar.due(soon, after: now, isOpen: true, spread: .zero) == soon)
        #expect(calendar.due(soon, after: now, isOpen: false, spread: .zero) == time("2026-11-22T08:00:00Z"))
        let late = time("2026-11-22T07:59:30Z")
        #expect(
            calendar.due(late.advanced(by: .seconds(3600)), after: late, isOpen: true, spread: .zero)
                == time("2026-11-22T08:00:00Z"))
    }

    @Test("a time that passed while no watcher ran is due still, once; a stored time never hides an earlier one")
    func missed() {
        let calendar = at(["08:00"])
        let (last, now) = (time("2026-11-20T08:00:00Z"), time("2026-11-23T10:00:00Z"))
        let limit = now.advanced(by: .seconds(66))
        #expect(
            calendar.due(stored: time("2026-11-21T08:00:00Z"), after: last, limit: limit)
                == time("2026-11-21T08:00:00Z"))
        #expect(
            calendar.due(now.advanced(by: .seconds(60)), after: now, isOpen: false, spread: .zero)
                == time("2026-11-24T08:00:00Z"))
        // A retry of what the last poll left open.
        #expect(
            calendar.due(stored: time("2026-11-23T20:00:00Z"), after: now, limit: limit)
                == time("2026-11-23T20:00:00Z"))
        #expect(
            calendar.due(stored: time("2026-11-25T20:00:00Z"), after: now, limit: limit)
                == time("2026-11-24T08:00:00Z"))
    }

    @Test("a poll just before a time, by a clock that is being corrected, is the poll of that time")
    func early() {
        let now = time("2026-11-21T07:59:59Z").advanced(by: .milliseconds(400))
        #expect(
            at(["08:00"]).due(now, after: now, isOpen: false, spread: .zero) == time("2026-11-22T08:00:00Z"))
    }

    @Test("in a window the interval counts; a poll that would come after its end comes as the next one begins, spread")
    func during() {
        let calendar = office()
        let friday = time("2026-11-20T16:58:00Z")
        let inside = friday.advanced(by: .seconds(60))
        #expect(calendar.due(inside, after: friday, isOpen: false, spread: .seconds(5)) == inside)
        let after = friday.advanced(by: .seconds(120))
        #expect(
            calendar.due(after, after: friday, isOpen: true, spread: .seconds(5)) == time("2026-11-23T09:00:05Z"))
        #expect(
            calendar.due(after, after: friday, isOpen: true, spread: .seconds(500)) == time("2026-11-23T09:00:30Z"))
        #expect(calendar.allowsPoll(at: inside) && !calendar.allowsPoll(at: after))
    }

    @Test("a stored time is believed up to the first window after what the interval explains")
    func storedDuring() {
        let calendar = office()
        let now = time("2026-11-20T20:00:00Z")
        let limit = now.advanced(by: .seconds(66))
        let stored = time("2026-11-23T09:00:05Z")
        #expect(calendar.due(stored: stored, after: now, limit: limit) == stored)
        #expect(
            calendar.due(stored: time("2026-12-24T12:00:00Z"), after: now, limit: limit)
                == time("2026-11-23T09:00:30Z"))
    }

    @Test("after an edit the stored time is moved to what the new interval or calendar has; a backoff stays one")
    func edited() {
        var record = SourceRecord(name: "a")
        record.due = time("2026-11-21T20:00:00Z")
        record.health.lastPollAt = time("2026-11-21T08:00:00Z")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: time("2026-11-21T08:00:00Z"))
        var interval = PollInterval(every: .seconds(60))
        #expect(interval.due(edited: record) == time("2026-11-21T08:01:06Z"))
        interval.every = .seconds(86_400)
        #expect(interval.due(edited: record) == time("2026-11-22T05:36:00Z"))
        interval.every = .seconds(60)
        interval.calendar = at(["21:30"])
        #expect(interval.due(edited: record) == time("2026-11-21T21:30:00Z"))
        interval.calendar = office()
        #expect(interval.due(edited: record) == time("2026-11-23T09:00:00Z"))
        _ = record.health.pollFailed(.timeout, detail: "a", fails: 3, at: time("2026-11-21T08:00:00Z"))
        record.due = time("2026-11-21T08:02:30Z")
        interval.calendar = at(["21:30"])
        #expect(interval.due(edited: record) == time("2026-11-21T08:02:30Z"))
    }

    @Test("outside of the windows the clock of `stale` stands still")
    func resting() {
        let calendar = office()
        let friday = time("2026-11-20T16:30:00Z")
        #expect(calendar.deadline(.seconds(1800), since: friday) == time("2026-11-20T17:00:00Z"))
        #expect(calendar.deadline(.seconds(3600), since: friday) == time("2026-11-23T09:30:00Z"))
        #expect(calendar.deadline(.seconds(12 * 3600), since: friday) == time("2026-11-24T12:30:00Z"))
        var interval = PollInterval(every: .seconds(60))
        interval.calendar = calendar
        var health = Health()
        _ = health.pollFailed(.timeout, detail: "a", fails: 3, at: friday)
        #expect(health.becameStale(interval, at: time("2026-11-23T09:29:59Z")) == nil)
        #expect(health.becameStale(interval, at: time("2026-11-23T09:30:00Z"))?.kind == .stale)
    }

    @Test("windows that have all ended make no poll, and no endless search")
    func over() {
        var window = CivilWindow(
            name: "fair", start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440), zone: "UTC")
        window.until = CivilMoment("2026-11-20")
        let calendar = PollCalendar(.during([window]), ZoneTime())
        let now = time("2026-11-21T00:00:00Z")
        #expect(calendar.opening(now) > now.advanced(by: .seconds(3000 * 86_400)))
        #expect(calendar.deadline(.seconds(3600), since: now) >= now.advanced(by: .seconds(3000 * 86_400)))
    }

    @Test("two watchers describe one calendar alike, whatever the order of its days")
    func description() {
        #expect(office().description == "during office 540-1020 [1, 2, 3, 4, 5] [\"\", \"\"] [] UTC")
        #expect(office().text == "during office")
        #expect(PollCalendar.text(at(["08:00", "17:30"]), every: "1m") == "at 08:00, 17:30")
        #expect(PollCalendar.text(office(), every: "1m") == "every 1m during office")
        #expect(PollCalendar.text(nil, every: "1m") == "every 1m")
    }
}
