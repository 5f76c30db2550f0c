// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteEngine

@Suite("Watcher: reload, stop, once", .timeLimit(.minutes(10)))
struct ReloadTests {
    @Test("a removed source's poll is cancelled and changes nothing; an unchanged one goes on undisturbed")
    func removed() async throws {
        let world = World([source("gone"), source("stays")])
        for name in ["gone", "stays"] {
            world.fetcher.serve(url(name), "1=Ready")
            world.fetcher.hang(url(name))
        }
        try await world.run {
            try await until { world.fetcher.waiting == 2 }
            try await world.watcher.reload(WatchConfiguration(sources: [source("stays")], rules: everything(to: "k")))
            try await until { world.fetcher.waiting == 1 }
            world.fetcher.release(url("stays"))
            try await until { await world.journal.records["stays"] != nil }
            try await world.advance(.seconds(200)) { world.fetcher.count(url("stays")) >= 3 }
        }
        #expect(world.fetcher.count(url("gone")) == 1)
        #expect(await world.journal.records["gone"] == nil)
    }

    @Test("a new source is polled at once, also in the place of one that went away")
    func added() async throws {
        let world = World([source("a")])
        for name in ["a", "b", "c"] { world.fetcher.serve(url(name), "1=Ready") }
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            for name in ["b", "c"] {
                try await world.watcher.reload(WatchConfiguration(sources: [source(name)], rules: everything(to: "k")))
                try await world.advance(.seconds(1)) { await world.journal.records[name] != nil }
            }
        }
        #expect(world.fetcher.count(url("a")) == 1)
    }

    @Test("the Retry-After of an old URL does not delay the poll of the new one")
    func retryAfter() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "slow down", status: 429, [("Retry-After", "1000")])
        world.fetcher.serve(url("a", host: "b"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records["a"]?.notBefore != nil }
            let moved = source("a", host: "b")
            try await world.watcher.reload(WatchConfiguration(sources: [moved], rules: everything(to: "k")))
            try await until { await world.journal.records["a"]?.snapshot != nil }
        }
        #expect(await world.journal.records["a"]?.notBefore == nil)
        #expect(world.clock.now().boot < BootTime(milliseconds: 1_900_000))
    }

    @Test("the poll after a reload sends the headers of the new configuration")
    func headers() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            let server = Server(name: "a", headers: [Header("X-Team", "ops")])
            let changed = WatchConfiguration(sources: [source("a", server: server)], rules: everything(to: "k"))
            try await world.watcher.reload(changed)
            try await until { world.fetcher.requests.count == 2 }
        }
        #expect(world.fetcher.requests.map { $0.headers.contains { $0.name == "X-Team" } } == [false, true])
    }

    @Test("what a reload removed is no suspect any more")
    func slowHosts() async throws {
        let world = World([source("dead"), source("slow")])
        for name in ["dead", "slow"] {
            world.fetcher.fail(url(name), FetchError(.timeout, "no answer", timedOut: true))
        }
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.watcher.slowOrigins.count == 2)
        try await world.watcher.reload(WatchConfiguration(sources: [source("slow")], rules: everything(to: "k")))
        #expect(await world.watcher.slowOrigins == ["https://slow.example:443"])
    }

    @Test("a quicker pace counts from now")
    func interval() async throws {
        let world = World([source("a", every: .seconds(3600))])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            let quick = WatchConfiguration(sources: [source("a", every: .seconds(10))], rules: everything(to: "k"))
            try await world.watcher.reload(quick)
            try await world.advance(.seconds(12)) { world.fetcher.requests.count == 2 }
        }
    }

    @Test("an interval that was edited during a poll brings no older record over one that waits for its commit")
    func intervalDuringCommit() async throws {
        let world = World([source("a", every: .seconds(3600))])
        let slow = WatchConfiguration(sources: [source("a", every: .seconds(7200))], rules: everything(to: "k"))
        func poll(_ lines: String, after seconds: Int) async throws {
            world.fetcher.serve(url("a"), lines)
            await world.journal.hold()
            try await world.advance(.seconds(seconds)) { await world.journal.held == 1 }
            try await world.watcher.reload(slow)
            // Longer than an edited due time waits for others before it is written.
            world.clock.advance(.seconds(60))
            for _ in 0..<200 { await Task.yield() }
            _ = await world.watcher.isIdle
            await world.journal.release()
            try await until { await world.watcher.pollsUnderWay == 0 }
        }
        world.fetcher.serve(url("a"), "1=Starting")
        var edited: Timestamp?
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            try await poll("1=Ready", after: 3_601)
            edited = await world.journal.records["a"]?.health.lastPollAt
            try await poll("1=Stopped", after: 7_201)
        }
        #expect(try #require(await world.journal.records["a"]?.health.lastPollAt) > #require(edited))
    }

    @Test("a source with another request is polled again at once, and the poll in flight is dropped")
    func asksForSomethingElse() async throws {
        let world = World([source("a", every: .seconds(3600))])
        world.fetcher.serve(url("a"), "1=Ready")
        world.fetcher.hang(url("a"))
        try await world.run {
            try await until { world.fetcher.waiting == 1 }
            let other = WatchConfiguration(
                sources: [source("a", every: .seconds(3600), host: "other")], rules: everything(to: "k"))
            world.fetcher.serve(url("a", host: "other"), "2=Ready")
            try await world.watcher.reload(other)
            try await world.advance(.seconds(2)) { await world.journal.items(of: "a").keys.sorted() == ["2"] }
        }
    }

    @Test("a Retry-After that was being committed when the URL changed does not hold for the new one")
    func movedDuringCommit() async throws {
        let world = World([source("a", every: .seconds(3600))])
        world.fetcher.serve(url("a"), "", status: 429, [("Retry-After", "86400")])
        world.fetcher.serve(url("a", host: "other"), "1=Ready")
        await world.journal.hold()
        try await world.run {
            try await until { await world.journal.held == 1 }
            let moved = [source("a", every: .seconds(3600), host: "other")]
            try await world.watcher.reload(WatchConfiguration(sources: moved, rules: everything(to: "k")))
            await world.journal.release()
            // Even a busy machine lets less time pass here than the interval or the Retry-After.
            try await world.advance(.seconds(60)) { world.fetcher.count(url("a", host: "other")) > 0 }
            #expect(world.fetcher.count(url("a", host: "other")) == 1)
        }
    }

    @Test("stop ends a hanging poll, and what was committed stays")
    func stop() async throws {
        let world = World([source("a"), source("hangs")])
        world.fetcher.serve(url("a"), "1=Ready")
        world.fetcher.hang(url("hangs"))
        try await world.run {
            try await until { await world.journal.records["a"] != nil && world.fetcher.waiting == 1 }
        }
        #expect(world.fetcher.waiting == 0)
        #expect(await world.journal.records["hangs"] == nil)
    }

    @Test("once: a baseline, a failure and what is held are told apart, and force polls what is held")
    func once() async throws {
        let sources = [source("bad"), source("good"), source("held")]
        let world = World(sources)
        world.fetcher.serve(url("good"), "1=Ready\n2=Ready")
        world.fetcher.serve(url("bad"), "", status: 500)
        world.fetcher.serve(url("held"), "", status: 429, [("Retry-After", "500")])
        try await world.watcher.restore()
        let first = await world.watcher.runOnce(force: false)
        #expect(first.count == 3 && first[1] == .good(items: 2, isBaseline: true, events: 0))
        let again = World(sources, journal: world.journal, clock: world.clock)
        again.fetcher.serve(url("good"), "1=Ready\n2=Stopped")
        again.fetcher.serve(url("bad"), "1=Ready")
        again.fetcher.serve(url("held"), "1=Ready")
        try await again.watcher.restore()
        let second = await again.watcher.runOnce(force: false)
        let failures = second.compactMap { result in
            if case .held(let source, let failure) = result { "\(source): \(failure ?? "none")" } else { nil }
        }
        #expect(second.count == 3 && second[1] == .good(items: 2, isBaseline: false, events: 1))
        #expect(failures.count == 2 && failures.allSatisfy { $0.contains("answered") }, "\(failures)")
        let third = await again.watcher.runOnce(force: true)
        #expect(third[2] == .good(items: 1, isBaseline: true, events: 0))
        // Nothing was running: what changed nothing is written before it returns.
        #expect(await again.journal.deferred.joined().contains("good"))
    }
}
