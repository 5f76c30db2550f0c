// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteEngine
import VedetteJournal
import VedetteTestSupport

/// The real journal and the real watcher, cut off without a word: what a kill -9 leaves are the journal's files as they
/// are at that instant, its log not yet written back. The clock is the test's, so that a night passes at once.
@Suite("kill -9 in the middle of a night", .timeLimit(.minutes(10)))
struct CrashNightTests {
    /// A state directory that goes with its owner.
    private final class Scratch: Sendable {
        let path = NSTemporaryDirectory() + "night-" + UUID().uuidString
        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// The same bytes elsewhere.
        func image() throws -> Scratch {
            let copy = Scratch()
            try FileManager.default.copyItem(atPath: path, toPath: copy.path)
            return copy
        }
    }

    private struct Night {
        let scratch: Scratch
        let journal: SQLiteJournal
        let clock: ManualClock
        let fetcher = FakeFetcher()
        let watcher: Watcher
        let dispatcher: Dispatcher

        init(_ scratch: Scratch, _ clock: ManualClock) throws {
            (self.scratch, self.clock) = (scratch, clock)
            journal = try SQLiteJournal.open(directory: scratch.path)
            let executor = QueueExecutor()
            fetcher.callBack(on: executor)
            let dependencies = Dependencies(
                fetcher: fetcher, journal: journal, clock: clock, random: SeededRandom(),
                log: LogLines(), userAgent: "test/1", transformer: FakeShaper(), civil: Greenwich())
            dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()])
            let watch = WatchConfiguration(sources: [source("a", every: .seconds(900))], rules: CrashNightTests.rules)
            watcher = Watcher(watch, dependencies, on: executor, dispatcher: dispatcher)
        }

        func poll(_ body: String) async {
            fetcher.serve(url("a"), body)
            _ = await watcher.runOnce(force: true)
            // A reminder is left out while the sink has not taken the message before it.
            await dispatcher.drainOnce()
        }
    }

    private static let rules: RuleSet = {
        func rule(_ name: String, _ when: Condition, _ change: (inout Gates) -> Void) -> Rule {
            var gates = Gates()
            change(&gates)
            return Rule(name: name, when: when, notify: [Rule.NotificationTarget(sink: "k")], gates: gates, identity: 1)
        }
        let down = Condition.field("state", from: nil, to: .oneOf(["down"]))
        // The test's clock begins at 02:16:40 UTC.
        let window = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 150), end: CivilTimeOfDay(minutes: 420))
        return RuleSet([
            rule("held", down) { $0.pendingFor = .seconds(2700) },
            rule("limited", down) { $0.limit = Limit(count: 1, per: .seconds(7200)) },
            rule("deferred", down) { $0.quiet = Quiet(windows: [window], action: .defer) },
            rule("gathered", down) { $0.quiet = Quiet(windows: [window], action: .digest) },
            rule("again", down) { $0.remind = Reminder(every: .seconds(5400)) },
        ])
    }()

    /// What each quarter of an hour shows.
    private static let bodies: [String] = (0..<26).map { quarter in
        let one = (2..<9).contains(quarter) || quarter >= 14 ? "down" : "up"
        let two = [3, 4, 7, 8, 12, 13].contains(quarter) ? "down" : "up"
        return "1=\(one)\n2=\(two)"
    }

    /// `rule: title (+held) at minute`, as the journal has it.
    private func said(_ scratch: Scratch) async throws -> [String] {
        let reader = try SQLiteJournalAccess(directory: scratch.path).reader()
        let all = try await reader.deliveries(DeliveryFilter(), after: 0, limit: 1000)
        return all.filter { $0.state != .suppressed }.map { status in
            let (message, time) = (status.delivery.message, status.delivery.created.rfc3339.prefix(16).suffix(5))
            return "\(message.rule): \(message.title) (+\(message.suppressed)) at \(time)"
        }.sorted()
    }

    /// Plays the rest of the night on what an instant left behind.
    private func rest(of night: Scratch, from quarter: Int) async throws -> [String] {
        let clock = ManualClock()
        clock.advance(.seconds(quarter * 900))
        let world = try Night(night, clock)
        try await world.watcher.restore()
        for body in Self.bodies[quarter...] {
            await world.poll(body)
            clock.advance(.seconds(900))
        }
        return try await said(night)
    }

    @Test("at whatever poll the crash comes, the next run sends what the first would have sent, at the same times")
    func anywhere() async throws {
        let (scratch, clock) = (Scratch(), ManualClock())
        let world = try Night(scratch, clock)
        try await world.watcher.restore()
        var images: [Scratch] = []
        for body in Self.bodies {
            images.append(try scratch.image())
            await world.poll(body)
            clock.advance(.seconds(900))
        }
        let expected = try await said(scratch)
        for rule in ["held", "limited", "deferred", "gathered", "again"] {
            #expect(expected.contains { $0.hasPrefix(rule) }, "\(rule) has nothing to say: the night is too quiet")
        }
        #expect(expected.contains("deferred: 1: up → down (+1) at 07:01"), "\(expected)")
        for (quarter, image) in images.enumerated().dropFirst() {
            #expect(try await rest(of: image, from: quarter) == expected, "killed before quarter \(quarter)")
        }
    }

    @Test("a night that it was down in ends with the first good poll, which tells what is still so")
    func overslept() async throws {
        let (scratch, clock) = (Scratch(), ManualClock())
        let world = try Night(scratch, clock)
        try await world.watcher.restore()
        for body in Self.bodies.prefix(4) {
            await world.poll(body)
            clock.advance(.seconds(900))
        }
        let image = try scratch.image()
        let morning = ManualClock()
        morning.advance(.seconds(8 * 3600))
        let next = try Night(image, morning)
        try await next.watcher.restore()
        next.fetcher.fail(url("a"), FetchError(.timeout, "no answer"))
        _ = await next.watcher.runOnce(force: true)
        let early = try await said(image).filter { $0.hasSuffix("10:16") }
        #expect(early == ["gathered: 2 events in a (+0) at 10:16"], "only what is no claim about now")
        await next.poll("1=down\n2=up")
        let told = try await said(image).filter { $0.hasSuffix("10:16") }
        #expect(
            told == [
                "again: 1: still down (+0) at 10:16", "deferred: 1: up → down (+0) at 10:16",
                "gathered: 2 events in a (+0) at 10:16", "held: 1: up → down (+0) at 10:16",
            ])
    }
}
