// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

/// Keeps every number by metric and labels.
final class FakeMeter: Meter {
    final class Handle: MetricCounter, MetricGauge, MetricHistogram {
        private let state = Mutex((sum: 0, values: [Double]()))

        var sum: Int { state.withLock { $0.sum } }
        var values: [Double] { state.withLock { $0.values } }

        func add(_ change: Int) { state.withLock { $0.sum += change } }
        func record(_ value: Double) { state.withLock { $0.values.append(value) } }
    }

    private let handles = Mutex([String: Handle]())

    private func handle(_ metric: Metric, _ labels: [String]) -> Handle {
        precondition(labels.count == metric.labels.count, "each label of \(metric.name) has a value")
        let name = ([metric.name] + labels).joined(separator: " ")
        return handles.withLock { handles in
            let handle = handles[name] ?? Handle()
            handles[name] = handle
            return handle
        }
    }

    func counter(_ metric: Metric, _ labels: [String]) -> any MetricCounter { handle(metric, labels) }
    func gauge(_ metric: Metric, _ labels: [String]) -> any MetricGauge { handle(metric, labels) }
    func histogram(_ metric: Metric, _ labels: [String]) -> any MetricHistogram { handle(metric, labels) }

    func sum(_ metric: Metric, _ labels: String...) -> Int { handle(metric, labels).sum }
    func values(_ metric: Metric, _ labels: String...) -> [Double] { handle(metric, labels).values }
}

@Suite("What the engine measures", .timeLimit(.minutes(10)))
struct MeterTests {
    private let meter = FakeMeter()

    @Test("polls are counted by source and outcome, with events, deliveries, durations, and none left in flight")
    func polls() async throws {
        let world = World([source("a"), source("b")], meter: meter)
        world.fetcher.serve(url("a"), "1=Starting")
        world.fetcher.serve(url("b"), "<html>")
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            try await until { meter.sum(.polls, "b", "failed") > 0 }
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { world.sink.seen.contains("1: Starting → Ready") }
            try await until { meter.sum(.deliveryAttempts, "k", "sent") >= 1 }
            try await world.advance(.seconds(70)) { meter.sum(.polls, "a", "unchanged") > 0 }
        }
        #expect(meter.sum(.polls, "a", "read") == 2)
        #expect(meter.sum(.polls, "a", "failed") == 0)
        #expect(meter.sum(.events, Event.Kind.changed.rawValue) == 1)
        #expect(meter.sum(.deliveriesInFlight) == 0)
        #expect(meter.sum(.ruleMessages, "all", "sent") == meter.sum(.deliveryAttempts, "k", "sent"))
        #expect(meter.sum(.pollsInFlight, "polls") == 0 && meter.sum(.pollsInFlight, "slow_hosts") == 0)
        let ended = ["unchanged", "read", "failed"].reduce(0) {
            $0 + meter.sum(.polls, "a", $1) + meter.sum(.polls, "b", $1)
        }
        #expect(meter.values(.pollDuration, "polls").count + meter.values(.pollDuration, "slow_hosts").count >= ended)
    }

    @Test("a message of a silenced rule counts as suppressed, and not as sent")
    func suppressed() async throws {
        let world = World([source("a", every: .seconds(30))], meter: meter)
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            await world.journal.add(Silence(id: 1, rule: "all", created: world.clock.now().wall))
            await world.watcher.silencesChanged()
            world.fetcher.serve(url("a"), "1=down")
            try await world.advance(.seconds(40)) { meter.sum(.ruleMessages, "all", "suppressed") == 1 }
        }
        #expect(meter.sum(.ruleMessages, "all", "sent") == 0)
        #expect(meter.sum(.deliveryAttempts, "k", "sent") == 0)
    }

    @Test("lateness is the time from when a poll was due to its start")
    func lateness() {
        let meter = PollMeter(meter)
        let source = WatchedSource(source("a"), number: 0)
        source.startedDue = BootTime(milliseconds: 5000)
        meter.started(source, in: .polls, at: BootTime(milliseconds: 5040))
        // One that a person asked for was never due.
        meter.started(source, in: .polls, at: BootTime(milliseconds: 9000))
        // Polls of slow hosts wait for a slot by design.
        source.startedDue = BootTime(milliseconds: 5000)
        meter.started(source, in: .slowHosts, at: BootTime(milliseconds: 65_000))
        #expect(self.meter.values(.pollLateness, "polls") == [0.04])
        #expect(self.meter.values(.pollLateness, "slow_hosts") == [60])
        let now = Moment(wall: Timestamp(milliseconds: 1), boot: BootTime(milliseconds: 66_000))
        #expect(meter.report(at: now) == PollLateness.Report(p99: 0.05, polls: 1, at: now.wall))
    }

    @Test("every source that the schedule starts has the time at which it was due")
    func due() throws {
        let now = Moment(wall: Timestamp(milliseconds: 0), boot: BootTime(milliseconds: 0))
        let interests = RuleInterests(everything(to: "k"), SteadyClock(now))
        var schedule = PollSchedule([source("a")], interests, NetworkMonitor(), SeededRandom())
        let watched = try #require(schedule["a"])
        schedule.schedule(watched, at: BootTime(milliseconds: 700))
        let later = Moment(wall: Timestamp(milliseconds: 900), boot: BootTime(milliseconds: 900))
        #expect(schedule.startNext(at: later)?.source.startedDue == BootTime(milliseconds: 700))
    }
}
