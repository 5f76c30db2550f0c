// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteEngine

@Suite("The path of a poll", .timeLimit(.minutes(10)))
struct PollPathTests {
    @Test("a body that follows an unchanged response is read, evaluated and committed")
    func changes() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await world.advance(.seconds(70)) { world.fetcher.count(url("a")) >= 2 }
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { world.sink.seen.contains("1: Starting → Ready") }
        }
    }

    @Test("a source that is removed while its request is under way is forgotten, and polled again when it comes back")
    func removed() async throws {
        let world = World([source("a"), source("b")])
        for name in ["a", "b"] { world.fetcher.serve(url(name), "1=Ready") }
        try await world.run {
            try await until { await world.journal.records.count == 2 }
            world.fetcher.hang(url("a"))
            try await world.advance(.seconds(70)) { world.fetcher.isHeld(url("a")) }
            let without = WatchConfiguration(sources: [source("b")], rules: everything(to: "k"))
            try await world.watcher.reload(without)
            try await until { await world.watcher.isIdle }
            world.fetcher.release(url("a"))
            let count = world.fetcher.count(url("a"))
            let with = WatchConfiguration(sources: [source("a"), source("b")], rules: everything(to: "k"))
            try await world.watcher.reload(with)
            try await world.advance(.seconds(70)) { world.fetcher.count(url("a")) > count }
        }
    }

    @Test("a source that is removed between its answer and its read is read no further, and nothing of it is stored")
    func removedBeforeRead() async throws {
        let world = World([source("a"), source("b")])
        for name in ["a", "b"] { world.fetcher.serve(url(name), "1=Starting") }
        try await world.run {
            try await until { await world.journal.records.count == 2 }
            await world.journal.holdReader(of: "a")
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { await world.journal.isReaderHeld }
            let without = WatchConfiguration(sources: [source("b")], rules: everything(to: "k"))
            try await world.watcher.reload(without)
            await world.journal.releaseReader()
            try await until { await world.watcher.isIdle }
        }
        #expect(await world.journal.events.isEmpty)
    }

    @Test("a source whose request is replaced while it is under way is polled again with the new one")
    func replaced() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.hang(url("a"))
            try await world.advance(.seconds(70)) { world.fetcher.isHeld(url("a")) }
            var moved = source("a")
            moved.url = url("moved")
            world.fetcher.serve(url("moved"), "1=Ready")
            try await world.watcher.reload(WatchConfiguration(sources: [moved], rules: everything(to: "k")))
            try await world.advance(.seconds(5)) { world.fetcher.count(url("moved")) > 0 }
        }
    }

    @Test("a source that comes back while the commit of its poll is under way announces nothing twice")
    func returnedDuringCommit() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            await world.journal.hold()
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { await world.journal.held == 1 }
            let rules = everything(to: "k")
            try await world.watcher.reload(WatchConfiguration(sources: [], rules: rules))
            let returning = Task {
                try await world.watcher.reload(WatchConfiguration(sources: [source("a")], rules: rules))
            }
            // Time for a poll of the new source, if there is one already.
            for _ in 0..<20 {
                for _ in 0..<100 { await Task.yield() }
                world.clock.advance(.seconds(5))
            }
            await world.journal.release()
            try await returning.value
            let count = world.fetcher.count(url("a"))
            try await world.advance(.seconds(70)) { world.fetcher.count(url("a")) > count + 1 }
        }
        #expect(await world.journal.events.count == 1)
    }

    @Test("a watcher that stops cancels the requests under way")
    func stops() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.hang(url("a"))
            try await world.advance(.seconds(70)) { world.fetcher.isHeld(url("a")) }
        }
        #expect(await world.watcher.pollsUnderWay == 0)
    }

    @Test("an empty list is accepted only when the request under way has ended")
    func accepts() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "\n")
            try await world.advance(.seconds(70)) { await world.emptiness != nil }
            world.fetcher.hang(url("a"))
            try await world.advance(.seconds(70)) { world.fetcher.isHeld(url("a")) }
            let accepting = Task { try await world.watcher.accept("a") }
            for _ in 0..<500 { await Task.yield() }
            #expect(await world.emptiness != .accepted)
            world.fetcher.release(url("a"))
            try await accepting.value
            try await world.advance(.seconds(70)) { await world.journal.events.contains { $0.kind == .disappeared } }
        }
    }

    @Test("a list is not accepted as empty when the journal refuses that")
    func refusedAcceptance() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "\n")
            try await world.advance(.seconds(70)) { await world.emptiness != nil }
            await world.journal.fail(commits: true)
            await #expect(throws: JournalError.self) { try await world.watcher.accept("a") }
            await world.journal.fail()
            let count = world.fetcher.count(url("a"))
            try await world.advance(.seconds(140)) { world.fetcher.count(url("a")) >= count + 2 }
            #expect(await world.emptiness != .accepted)
            #expect(await world.journal.events.allSatisfy { $0.kind != .disappeared })
        }
    }

    @Test(
        "a list's page that is as before but leads to another one now is not taken as unchanged", arguments: [200, 304])
    func grown(status: Int) async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            let headers = [("ETag", "\"v1\""), ("Next", url("a") + "?2"), ("Link", "<?2>; rel=\"next\"")]
            world.fetcher.answer(url("a")) { request in
                let isKnown = status == 304 && !request.validators.isEmpty
                return .success(FakeFetcher.response(url("a"), "1=Ready", status: isKnown ? 304 : 200, headers))
            }
            world.fetcher.serve(url("a") + "?2", "2=Ready")
            try await world.advance(.seconds(70)) { await world.journal.events.contains { $0.item?.key == "2" } }
        }
    }

    @Test("an unchanged response confirms that an item is gone")
    func absence() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=a\n2=b\n3=c")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "1=a\n2=b")
            try await world.advance(.seconds(200)) { await world.journal.events.contains { $0.kind == .disappeared } }
        }
        #expect(await world.journal.events.map { "\($0.kind) \($0.item?.key ?? "")" } == ["disappeared 3"])
    }

    @Test("a 304 to a request without validators is not believed")
    func unexpected() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.answer(url("a")) { request in
                let isPast = request.headers.contains { $0.name == "Cache-Control" && $0.value == "no-cache" }
                return .success(FakeFetcher.response(url("a"), isPast ? "1=Gone" : "", status: isPast ? 200 : 304))
            }
            try await world.advance(.seconds(70)) { world.sink.seen.contains("1: Ready → Gone") }
        }
    }
}

extension World {
    fileprivate var emptiness: SnapshotHead.Emptiness? {
        get async { await journal.records["a"]?.snapshot?.emptiness }
    }
}
