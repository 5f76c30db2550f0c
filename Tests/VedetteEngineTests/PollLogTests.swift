// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("The log of polls")
struct PollLogTests {
    private let start = Timestamp(milliseconds: 1_795_000_000_000)

    private func end(
        _ source: String, before: Health = Health(), after: Health = Health(), items: Int? = 6, events: Int = 0,
        isBaseline: Bool = false
    ) -> PollLog.End {
        PollLog.End(
            source: source, id: "p-1", before: before, after: after, items: items, events: events,
            isBaseline: isBaseline)
    }

    private func failing(_ count: Int, _ failure: Failure = .timeout) -> Health {
        var health = Health()
        for number in 0..<count {
            _ = health.pollFailed(
                failure, detail: "no answer in \(number) s", fails: 3, at: start.advanced(by: .seconds(60 * number)))
        }
        return health
    }

    @Test("a failure is told once, another class of failure again, and the recovery once with how long it took")
    func failures() {
        var log = PollLog()
        func shown(_ end: PollLog.End) -> [String] {
            log.lines(of: end).filter { $0.level > .debug }.map { "\($0.level) \($0.text)" }
        }
        #expect(shown(end("a", after: failing(1))) == ["warning a: timeout: no answer in 0 s (p-1)"])
        #expect(shown(end("a", before: failing(1), after: failing(2))) == [])
        #expect(
            shown(end("a", before: failing(2), after: failing(3, .refused))) == [
                "warning a: refused: no answer in 2 s (p-1)"
            ])
        var well = failing(3)
        _ = well.pollSucceeded(at: start.advanced(by: .seconds(720)))
        #expect(
            shown(end("a", before: failing(3), after: well)) == [
                "notice a: answers again after 12 min, 3 failed polls; 6 items"
            ])
        #expect(shown(end("a", before: well, after: well)) == [])
    }

    @Test("a connection that was opened while its source fails says nothing in the log, except in a run's first poll")
    func opened() {
        var log = PollLog()
        log.start(["a"])
        let opened = end("a", before: failing(2), after: failing(2))
        #expect(log.lines(of: opened) == [.init(level: .warning, text: "a: timeout: no answer in 1 s (p-1)")])
        #expect(log.lines(of: opened) == [.init(level: .debug, text: "a: still failing: timeout (p-1)")])
    }

    @Test("the first polls of a run are told one by one, baselines as such; a later one only when verbose")
    func first() {
        var log = PollLog()
        log.start(["a", "b"])
        #expect(log.lines(of: end("a", isBaseline: true)) == [.init(level: .notice, text: "a: baseline of 6 items")])
        #expect(
            log.lines(of: end("b", events: 2)) == [.init(level: .notice, text: "b: 6 items, 2 events (p-1)")])
        #expect(log.lines(of: end("b")) == [.init(level: .debug, text: "b: 6 items, unchanged (p-1)")])
        #expect(
            log.lines(of: end("new", isBaseline: true)) == [
                .init(level: .notice, text: "new: baseline of 6 items")
            ], "a source that a reload added")
    }

    @Test("a source that failed before a restart is told once by the new run")
    func restart() {
        var log = PollLog()
        log.start(["a"])
        let again = end("a", before: failing(2), after: failing(3))
        #expect(log.lines(of: again).map(\.level) == [.warning])
        #expect(log.lines(of: again).map(\.level) == [.debug])
    }

    @Test("of 1,000 sources ten have a line, and one line at the end counts them and names some that fail")
    func many() {
        var log = PollLog()
        let names = (0..<1000).map { "s\($0)" }
        log.start(names)
        var shown: [PollLog.Line] = []
        for (number, name) in names.enumerated() {
            shown += log.lines(
                of: end(name, after: number % 50 == 7 ? failing(1) : Health(), isBaseline: true)
            ).filter { $0.level == .notice }
        }
        #expect(shown.count == 11)
        #expect(
            shown.last?.text == "first poll: 980 of 1000 sources read, 20 failing: s107, s157, s207 and 17 more")
    }
}

/// Warns of what the body has, in lines.
private struct WarnedKind: SourceKind {
    var mode: ReadingMode { .list }
    var identity: UInt64 { 1 }
    var fingerprints: [String: UInt64] { [:] }
    var fieldNames: [String]? { nil }

    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let lines = String(decoding: page.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return Page(items: [Item(key: "1")], warnings: lines)
    }
}

/// Keeps what is shown with `-p warning`, without the polls' names.
private final class Warnings: Log {
    private let lines = Mutex<[String]>([])

    func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level >= .warning else { return }
        let line = message().replacing(/\s\(p-[0-9a-f]+\)$/, with: "")
        lines.withLock { $0.append(line) }
    }

    /// Returns the lines since the last call.
    func new() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

@Suite("Warnings of what is read")
struct ReadingWarningTests {
    @Test("what a poll is read with is a warning once, also with another number, and not each of a hundred")
    func once() async throws {
        let (fetcher, executor, log) = (FakeFetcher(), QueueExecutor(), Warnings())
        fetcher.callBack(on: executor)
        let dependencies = Dependencies(
            fetcher: fetcher, journal: FakeJournal(), clock: ManualClock(), random: SeededRandom(), log: log,
            userAgent: "test/1", transformer: FakeShaper(), civil: Greenwich())
        let watcher = Watcher(
            WatchConfiguration(sources: [source("a", WarnedKind())], rules: everything(to: "k")), dependencies,
            on: executor,
            dispatcher: Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()]))
        func poll(_ lines: String...) async -> [String] {
            fetcher.serve(url("a"), lines.joined(separator: "\n"))
            _ = await watcher.runOnce(force: true)
            return log.new()
        }
        try await watcher.restore()
        #expect(await poll("2 items repeat") == ["a: 2 items repeat"])
        #expect(await poll("2 items repeat").isEmpty)
        #expect(await poll("3 items repeat", "no time") == ["a: no time"])
        #expect(await poll("no time").isEmpty)
        #expect(await poll("b", "c", "d", "e", "f") == ["a: b", "a: c", "a: d"])
    }
}
