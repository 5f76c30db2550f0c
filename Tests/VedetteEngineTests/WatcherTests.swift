// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("Watcher", .timeLimit(.minutes(10)))
struct WatcherTests {
    @Test("a poll that changed nothing is not committed; it is written in a batch at most five seconds later")
    func deferred() async throws {
        let names = ["a", "b", "c"]
        let world = World(names.map { source($0, every: .seconds(3600)) })
        for name in names { world.fetcher.serve(url(name), "1=Ready\n") }
        try await world.run {
            try await until { await world.journal.records.count == 3 }
            let commits = await world.journal.batches.count
            try await world.advance(.seconds(4000)) { world.fetcher.requests.count >= 6 }
            // The watcher sleeps for an hour at most, and now for no more than five seconds.
            try await until { await world.isAboutToWrite(3) }
            try await world.advance(.seconds(5)) { await world.journal.deferred.joined().count >= 3 }
            #expect(await world.journal.batches.count == commits)
        }
        #expect(await world.journal.events.isEmpty)
    }

    @Test("a deferred write is written at shutdown")
    func deferredAtShutdown() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready\n")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await world.advance(.seconds(70)) { world.fetcher.requests.count == 2 }
            try await until { await world.isAboutToWrite(1) }
        }
        #expect(await world.journal.deferred.joined().contains("a"))
    }

    @Test("a deferred write does not overwrite a commit that is being written")
    func deferredBehindCommit() async throws {
        let world = World([source("a", every: .seconds(2))])
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await world.advance(.seconds(3)) { world.fetcher.requests.count == 2 }
            try await until { await world.isAboutToWrite(1) }
            world.fetcher.serve(url("a"), "1=Ready")
            await world.journal.hold()
            try await world.advance(.seconds(3)) { await world.journal.held == 1 }
            world.clock.advance(.seconds(6))
            for _ in 0..<500 { await Task.yield() }
            await world.journal.release()
            try await until { await world.journal.batches.count == 2 }
            await world.watcher.commits.finish()
            #expect(await world.journal.records["a"]?.snapshot?.states == ["Ready": 1])
        }
    }

    @Test("other bytes with the same items are no commit either")
    func sameItems() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready\n2=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "2=Ready\n1=Ready")
            try await world.advance(.seconds(80)) { await world.journal.deferred.count >= 1 }
        }
        #expect(await world.journal.batches == [["a"]])
    }

    @Test("a change is one commit with event and delivery, and reaches the sink")
    func change() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { world.sink.seen == ["1: Starting → Ready"] }
            try await until { await world.journal.state(1) == .sent }
        }
        #expect(await world.journal.events.map(\.kind) == [.changed])
    }

    @Test("a failed commit advances nothing, and the next poll tries again")
    func failedCommit() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            await world.journal.fail(commits: true)
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(70)) { world.log.all.contains { $0.contains("disk is full") } }
            #expect(await world.journal.events.isEmpty)
            await world.journal.fail()
            try await world.advance(.seconds(70)) { await world.journal.events.count == 1 }
        }
        let event = await world.journal.events.first
        #expect(event?.changes.first?.from == "Starting" && event?.changes.first?.to == "Ready")
    }

    @Test("polls that finish together share a commit")
    func sharedCommit() async throws {
        let names = (1...6).map { "s\($0)" }
        let world = World(names.map { source($0) })
        for name in names { world.fetcher.serve(url(name), "1=Ready") }
        await world.journal.hold()
        try await world.run {
            try await until { await world.journal.held == 1 && world.fetcher.requests.count == 6 }
            for _ in 0..<2000 { await Task.yield() }
            await world.journal.release()
            try await until { await world.journal.records.count == 6 }
        }
        #expect(await world.journal.batches.count < 6)
    }

    @Test("three failures are failing, once; the next good poll recovers; the snapshot never changes")
    func health() async throws {
        let world = World([source("a", every: .seconds(1))])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records["a"]?.snapshot != nil }
            world.fetcher.serve(url("a"), "<html>login</html>")
            try await world.advance(.seconds(600)) { await (world.journal.records["a"]?.health.failures ?? 0) >= 4 }
            #expect(await world.journal.events.map(\.kind) == [.failing])
            #expect(await world.journal.items(of: "a").count == 1)
            world.fetcher.serve(url("a"), "1=Ready")
            try await world.advance(.seconds(600)) { await world.journal.events.count == 2 }
        }
        #expect(await world.journal.events.map(\.kind) == [.failing, .recovered])
    }

    @Test("Retry-After is obeyed, over a restart too")
    func retryAfter() async throws {
        let first = World([source("a")])
        first.fetcher.serve(url("a"), "slow down", status: 429, [("Retry-After", "1000")])
        try await first.run { try await until { await first.journal.records["a"]?.notBefore != nil } }
        let second = World([source("a")], journal: first.journal, clock: first.clock)
        second.fetcher.serve(url("a"), "1=Ready")
        try await second.run {
            try await second.advance(.seconds(990)) {
                !second.fetcher.requests.isEmpty || second.clock.now().boot.milliseconds >= 1_980_000
            }
            #expect(second.fetcher.requests.isEmpty)
            try await second.advance(.seconds(30)) { second.fetcher.requests.count == 1 }
        }
    }

    @Test("a source is polled at once when a person asks for it, but not before its Retry-After")
    func pollNow() async throws {
        let world = World([source("a"), source("b")])
        world.fetcher.serve(url("a"), "1=Ready")
        world.fetcher.serve(url("b"), "slow down", status: 429, [("Retry-After", "1000")])
        try await world.run {
            try await world.advance(.seconds(60)) {
                let records = await world.journal.records
                return records["a"]?.snapshot != nil && records["b"]?.notBefore != nil
            }
            let count = world.fetcher.count(url("a"))
            await world.watcher.poll("b")
            await world.watcher.poll("none")
            await world.watcher.poll("a")
            // Its interval is a minute.
            try await world.advance(.seconds(1)) { world.fetcher.count(url("a")) == count + 1 }
            #expect(world.fetcher.count(url("b")) == 1)
        }
    }

    @Test("backoff survives a restart")
    func backoff() async throws {
        let first = World([source("a")])
        try await first.run { try await until { await first.journal.records["a"]?.due != nil } }
        let second = World([source("a")], journal: first.journal, clock: first.clock)
        try await second.run {
            try await second.advance(.seconds(50)) { second.clock.now().boot.milliseconds >= 1_050_000 }
            #expect(second.fetcher.requests.isEmpty)
            try await second.advance(.seconds(300)) { second.fetcher.requests.count == 1 }
        }
    }

    @Test("case 27: an unexpected 304 is asked once more, past every cache, and is then a failed poll, not a hot loop")
    func unexpected304() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "", status: 304)
        try await world.run {
            try await until { await world.journal.records["a"]?.health.problem?.failure == "protocol" }
            try await world.advance(.seconds(50)) { world.clock.now().boot.milliseconds >= 1_050_000 }
            let requests = world.fetcher.requests
            #expect(requests.count == 2 && requests.allSatisfy { $0.validators.isEmpty && $0.knownDigest == nil })
            let caching = requests.map { $0.headers.filter { $0.name == "Cache-Control" }.map(\.value) }
            #expect(caching == [["max-age=0"], ["no-cache"]])
        }
    }

    @Test("a credential does not follow a next page to another origin")
    func nextPageElsewhere() async throws {
        let secret = Secret("hunter2")
        let server = Server(
            name: "a", credentials: Credentials(user: "u", password: secret), headers: [Header("X-Key", secret)])
        let world = World([source("a", server: server)])
        world.fetcher.serve(url("a"), "1=Ready", [("Next", "https://evil.example/2")])
        world.fetcher.serve("https://evil.example/2", "2=Ready", [("Next", "https://a.example/3")])
        world.fetcher.serve("https://a.example/3", "3=Ready")
        try await world.run { try await until { await world.journal.items(of: "a").count == 3 } }
        let requests = world.fetcher.requests
        #expect(requests.map { $0.credentials != nil } == [true, false, true])
        #expect(requests.map { $0.headers.contains { $0.name == "X-Key" } } == [true, false, true])
        let session = try #require(requests.first?.session)
        #expect(requests.map { $0.session } == [session, nil, session])
    }

    @Test("a list with a gap is a failed poll; a window with a gap is reported and stored")
    func gaps() async throws {
        let world = World([source("list"), source("window", mode: .window)])
        for name in ["list", "window"] { world.fetcher.serve(url(name), "old=1") }
        try await world.run {
            try await until { await world.journal.records.count == 2 }
            for name in ["list", "window"] {
                world.fetcher.serve(url(name), "new=1", [("Next", url(name) + "?2")])
                world.fetcher.serve(url(name) + "?2", "newer=1", [("Next", url(name))])
            }
            try await world.advance(.seconds(80)) { await world.journal.events.count >= 3 }
            try await world.advance(.seconds(80)) {
                await world.journal.records["list"]?.health.problem?.failure == "page-gap"
            }
        }
        #expect(await world.journal.events.map(\.kind.word).sorted() == ["appeared", "appeared", "suspect"])
    }

    @Test("polls of a hanging host take no place from a host that answers")
    func slowHosts() async throws {
        let slow = (0..<600).map { "slow\($0)" }
        let world = World(slow.map { source($0, host: "slow") } + [source("quick", every: .seconds(5))])
        for name in slow {
            world.fetcher.fail(url(name, host: "slow"), FetchError(.timeout, "no answer", timedOut: true))
        }
        world.fetcher.serve(url("quick"), "1=Ready")
        try await world.run {
            try await until { await world.journal.records.count == 601 }
            for name in slow { world.fetcher.hang(url(name, host: "slow")) }
            try await world.advance(.seconds(300)) { world.fetcher.waiting == PollSlots.maximumSlow }
            let before = world.fetcher.count(url("quick"))
            try await world.advance(.seconds(60)) { world.fetcher.count(url("quick")) >= before + 5 }
            #expect(world.fetcher.waiting == PollSlots.maximumSlow)
        }
    }

    @Test("when a hanging host answers again, everyone who waited for it is polled")
    func recoveredHost() async throws {
        let names = (0..<150).map { "slow\($0)" }
        let world = World(names.map { source($0, host: "slow") })
        for name in names {
            world.fetcher.fail(url(name, host: "slow"), FetchError(.timeout, "no answer", timedOut: true))
        }
        try await world.run {
            try await until { await world.journal.records.count == names.count }
            for name in names { world.fetcher.hang(url(name, host: "slow")) }
            try await world.advance(.seconds(300)) { world.fetcher.waiting == PollSlots.maximumSlow }
            for name in names {
                world.fetcher.serve(url(name, host: "slow"), "1=Ready")
                world.fetcher.release(url(name, host: "slow"))
            }
            try await world.advance(.seconds(300)) {
                await world.journal.records.values.allSatisfy { $0.snapshot != nil }
            }
        }
    }

    @Test("a source that is accepted while it waits for a slot is polled once at a time")
    func acceptedWhileWaiting() async throws {
        let names = (0..<80).map { "slow\($0)" }
        let world = World(names.map { source($0, host: "slow") })
        for name in names { world.fetcher.serve(url(name, host: "slow"), "1=Ready") }
        try await world.run {
            try await until { await world.journal.records.count == names.count }
            for name in names { world.fetcher.serve(url(name, host: "slow"), "\n") }
            // Each fails from its first empty list on: one that stays empty is believed, however slow this machine is.
            try await world.advance(.seconds(200)) {
                let records = await world.journal.records
                for name in names where records[name]?.snapshot?.emptiness != nil {
                    world.fetcher.fail(
                        url(name, host: "slow"), FetchError(.timeout, "no answer", timedOut: true))
                }
                return records.values.allSatisfy { $0.health.problem?.failure == Failure.timeout.rawValue }
            }
            for name in names { world.fetcher.hang(url(name, host: "slow")) }
            func everyoneIsHeldOrWaits() async throws {
                try await world.advance(.seconds(600)) {
                    guard world.fetcher.waiting == PollSlots.maximumSlow else { return false }
                    return await world.watcher.isNothingScheduled
                }
            }
            try await everyoneIsHeldOrWaits()
            let waiting = names.filter { !world.fetcher.isHeld(url($0, host: "slow")) }
            #expect(waiting.count == names.count - PollSlots.maximumSlow)
            for name in waiting { try await world.watcher.accept(name) }
            for _ in 0..<3 {
                try await everyoneIsHeldOrWaits()
                for name in names.filter({ world.fetcher.isHeld(url($0, host: "slow")) }) {
                    world.fetcher.letPass(url(name, host: "slow"))
                }
            }
            for name in names { world.fetcher.release(url(name, host: "slow")) }
        }
    }
}

@Suite("Slots of polls")
struct PollSlotsTests {
    @Test("slow hosts take turns, and one that answers again waits for no other")
    func turns() {
        var slots = PollSlots()
        let waiting = (["a", "a", "b", "b"] as [String]).enumerated().map { number, host in
            WatchedSource(source("\(host)\(number)", host: host), number: number)
        }
        for source in waiting { slots.wait(source) }
        #expect(slots.nextWaiting { _ in true } === waiting[0])
        #expect(slots.nextWaiting { _ in true } === waiting[2])
        for _ in 0..<PollSlots.maximumSlow { slots.take(.slowHosts, of: "c") }
        #expect(slots.nextWaiting { _ in true } == nil)
        #expect(slots.nextWaiting { $0.origin != "https://b.example:443" } === waiting[3])
        #expect(slots.nextWaiting { _ in false } === waiting[1])
    }
}
