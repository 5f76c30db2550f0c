// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("Sources with a calendar, in the watcher", .timeLimit(.minutes(10)))
struct PollCalendarTests {
    /// The clock of the tests starts at 02:16:40.
    private let clock = ManualClock()

    private func polled(_ plan: PollCalendar.Plan) -> Source {
        var polled = source("a")
        polled.interval.calendar = PollCalendar(plan, Greenwich())
        return polled
    }

    private func daily(_ text: String) -> Source {
        let time = CivilTimeOfDay(text) ?? CivilTimeOfDay(minutes: 0)
        return polled(.at([PollTime(time, text: text)]))
    }

    private func between(_ start: Int, _ end: Int) -> Source {
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: start), end: CivilTimeOfDay(minutes: end), zone: "UTC")
        return polled(.during([window]))
    }

    private func pass(_ minutes: Int, _ world: World) async {
        for _ in 0..<minutes {
            world.clock.advance(.seconds(60))
            for _ in 0..<40 { await Task.yield() }
            _ = await world.watcher.isIdle
        }
    }

    private func due(_ source: Source, _ change: (inout SourceRecord) -> Void) -> Duration {
        let watched = WatchedSource(source, number: 0)
        var record = SourceRecord(name: "a")
        change(&record)
        watched.restore(record, at: clock.now())
        return watched.due(now: clock.now()).duration(since: clock.now().boot)
    }

    @Test("a source that was never polled has its baseline at once, and then waits for its time")
    func baseline() async throws {
        let world = World([daily("02:30")], clock: clock)
        world.fetcher.serve(url("a"), "x=up")
        try await world.run {
            try await until { await world.journal.records["a"]?.due != nil }
            #expect(await world.journal.records["a"]?.due?.rfc3339 == "2026-11-21T02:30:00.000Z")
            await pass(10, world)
            #expect(world.fetcher.requests.count == 1)
            try await world.advance(.seconds(600)) { world.fetcher.requests.count == 2 }
            #expect(world.clock.now().wall >= Timestamp(rfc3339: "2026-11-21T02:30:00Z") ?? world.clock.now().wall)
        }
    }

    @Test("a time that passed while no watcher ran is made up for at once")
    func missed() {
        #expect(
            due(daily("02:00")) { record in
                record.due = Timestamp(rfc3339: "2026-11-20T02:00:00Z")
                record.health.lastPollAt = Timestamp(rfc3339: "2026-11-19T02:00:01Z")
            } == .zero)
        // The next one is not later for the time of the last.
        #expect(
            due(daily("02:30")) { record in
                record.due = Timestamp(rfc3339: "2026-11-22T02:30:00Z")
                record.health.lastPollAt = Timestamp(rfc3339: "2026-11-21T02:10:00Z")
            } == .seconds(800))
    }

    @Test("the time of a calendar that was edited is not used, and `status` has the new one; a poll put off is")
    func edited() async throws {
        let watched = WatchedSource(daily("02:30"), number: 0)
        var record = SourceRecord(name: "a")
        record.due = Timestamp(rfc3339: "2026-11-21T02:20:00Z")
        record.intervalDigest = daily("02:20").interval.digest
        record.health.lastPollAt = Timestamp(rfc3339: "2026-11-21T02:10:00Z")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: clock.now().wall)
        watched.restore(record, at: clock.now())
        #expect(watched.due(now: clock.now()).duration(since: clock.now().boot) == .seconds(800))
        #expect(watched.record.due?.rfc3339 == "2026-11-21T02:30:00.000Z")
        #expect(watched.takeEditedDue() && !watched.takeEditedDue())
        // Its last poll was yesterday: the journal refused the one of today.
        record.health.lastPollAt = Timestamp(rfc3339: "2026-11-20T02:10:00Z")
        record.due = clock.now().wall.advanced(by: .seconds(60))
        record.intervalDigest = daily("02:10").interval.digest
        let put = WatchedSource(daily("02:10"), number: 0)
        put.restore(record, at: clock.now())
        #expect(put.due(now: clock.now()).duration(since: clock.now().boot) == .seconds(60))
    }

    @Test("Retry-After puts off a time of the calendar, and the end of it waits for the window")
    func retryAfter() {
        #expect(
            due(daily("02:20")) { record in
                record.due = Timestamp(rfc3339: "2026-11-21T02:20:00Z")
                record.notBefore = Timestamp(rfc3339: "2026-11-21T02:46:40Z")
                record.health.lastPollAt = Timestamp(rfc3339: "2026-11-21T02:10:00Z")
            } == .seconds(1800))
        #expect(
            due(between(3 * 60, 4 * 60)) { record in
                record.due = Timestamp(rfc3339: "2026-11-21T02:20:00Z")
                record.notBefore = Timestamp(rfc3339: "2026-11-21T02:46:40Z")
            } == .seconds(2600))
    }

    @Test("outside of its window a source is polled only when somebody asks for it")
    func outside() async throws {
        let world = World([between(3 * 60, 4 * 60)], clock: clock)
        world.fetcher.serve(url("a"), "x=up")
        try await world.run {
            await pass(20, world)
            #expect(world.fetcher.requests.isEmpty)
            await world.watcher.poll("a")
            try await until { world.fetcher.requests.count == 1 }
            try await until { await world.journal.records["a"]?.due != nil }
            await pass(10, world)
            #expect(world.fetcher.requests.count == 1)
            try await world.advance(.seconds(1200)) { world.fetcher.requests.count == 2 }
            #expect(world.clock.now().wall >= Timestamp(rfc3339: "2026-11-21T03:00:00Z") ?? world.clock.now().wall)
        }
    }

    @Test("a source that waits for its first window has a next poll, and a line; one whose windows have ended has none")
    func waiting() {
        let now = clock.now().wall
        let source = between(3 * 60, 4 * 60)
        let times = PollTimes(SourceStatus(source, nil), isWatching: true, now: now)
        #expect(times.next?.rfc3339 == "2026-11-21T03:00:00.000Z")
        #expect(PollTimes(SourceStatus(source, nil), isWatching: false, now: now).next == nil)
        var ended = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440), zone: "UTC")
        ended.until = CivilMoment("2026-11-20")
        let over = SourceStatus(polled(.during([ended])), nil)
        #expect(PollTimes(over, isWatching: true, now: now).next == nil)
        #expect(over.remarks(now: now).count == 1)
        let lines = PollLog.waiting([("a", now), ("b", now)])
        #expect(lines.first?.text == "a: outside its windows; the first poll is at \(now.rfc3339)")
        #expect(PollLog.waiting(Array(repeating: ("a", now), count: 11)).count == 1)
    }

    @Test("a poll that a rule waits for comes when the window begins")
    func confirmation() {
        let watched = WatchedSource(between(3 * 60, 4 * 60), number: 0)
        var record = SourceRecord(name: "a")
        record.due = Timestamp(rfc3339: "2026-11-21T03:10:00Z")
        watched.restore(record, at: clock.now())
        let now = clock.now()
        #expect(
            watched.due(now: now, confirmation: now.boot.advanced(by: .seconds(60))).duration(since: now.boot)
                == .seconds(2600))
    }
}
