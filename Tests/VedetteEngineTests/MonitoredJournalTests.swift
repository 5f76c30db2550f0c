// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("A monitored journal", .timeLimit(.minutes(10)))
struct MonitoredJournalTests {
    @Test("a full disk is announced once and when it is over, and no poll is lost")
    func full() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        let monitored = MonitoredJournal(journal, clock: clock)
        let (fetcher, sink, executor, log) = (FakeFetcher(), FakeSink(), QueueExecutor(), LogLines())
        fetcher.callBack(on: executor)
        let dependencies = Dependencies(
            fetcher: fetcher, journal: monitored, clock: clock, random: SeededRandom(), log: log, userAgent: "",
            civil: Greenwich())
        let dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": sink])
        let watcher = Watcher(
            WatchConfiguration(sources: [source("a")], rules: everything(to: "k")), dependencies, on: executor,
            dispatcher: dispatcher)
        var told = monitored.announcements.makeAsyncIterator()
        let full = JournalError(.full, "the disk is full")
        fetcher.serve(url("a"), "1=up")
        try await watcher.restore()
        _ = await watcher.runOnce(force: true)
        await journal.fail(commits: true)
        fetcher.serve(url("a"), "1=down")
        for _ in 0..<5 {
            _ = await watcher.runOnce(force: true)
            clock.advance(.seconds(60))
        }
        #expect(await told.next() == .failing(full))
        clock.advance(.seconds(3600))
        monitored.remind()
        #expect(await told.next() == .failing(full))
        await journal.fail()
        _ = await watcher.runOnce(force: true)
        #expect(await told.next() == .recovered(full))
        #expect(await journal.events.map(\.kind) == [.changed], "the change is found by the poll that can be stored")
        try await until { sink.seen == ["1: up → down"] }
    }
}
