// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Sources that their server has moved, or taken away", .timeLimit(.minutes(10)))
struct MovedSourceTests {
    private func poll(_ world: World) async -> OnceResult? { await world.watcher.runOnce(force: true).first }

    /// Answers after permanent redirects to an address; nil redirects no more.
    private func serve(_ world: World, _ body: String = "1=Ready", movedTo address: String?, status: Int = 200) {
        world.fetcher.answer(url("a")) { request in
            var response = FakeFetcher.response(request.url, body, status: status)
            response.movedTo = address
            return .success(response)
        }
    }

    private func lines(_ world: World) -> [String] { world.log.all.filter { $0.contains("has moved it for good") } }

    @Test("a permanent redirect is told once, over restarts, and remembered until the server redirects no more")
    func moved() async throws {
        let (journal, new) = (FakeJournal(), "https://b.example/new")
        let first = World([source("a")], journal: journal)
        serve(first, movedTo: new)
        try await first.watcher.restore()
        _ = await poll(first)
        _ = await poll(first)
        // A failure of the new address says nothing of it.
        serve(first, "", movedTo: nil, status: 500)
        _ = await poll(first)
        #expect(await journal.records["a"]?.movedTo == new)
        #expect(lines(first).count == 1 && lines(first)[0].contains(new))
        let world = World([source("a")], journal: journal)
        try await world.watcher.restore()
        serve(world, movedTo: new)
        _ = await poll(world)
        #expect(lines(world).isEmpty, "an earlier run told it")
        serve(world, movedTo: "https://c.example/newer")
        _ = await poll(world)
        #expect(lines(world).count == 1 && lines(world)[0].contains("https://c.example/newer"))
        serve(world, movedTo: nil)
        _ = await poll(world)
        #expect(await world.watcher.record(of: "a")?.movedTo == nil)
    }

    @Test("an address that is configured anew forgets where the old one led")
    func followed() async throws {
        let journal = FakeJournal()
        let world = World([source("a")], journal: journal)
        serve(world, movedTo: "https://b.example/new")
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(await journal.records["a"]?.movedTo != nil)
        let next = World([source("a", host: "b")], journal: journal)
        try await next.watcher.restore()
        #expect(await next.watcher.record(of: "a")?.movedTo == nil)
    }

    @Test("no credential in the new address is stored or told")
    func redacted() async throws {
        let server = Server(name: "s", credentials: .bearer(Secret("correct-horse-battery")))
        let world = World([source("a", server: server)])
        serve(world, movedTo: "https://b.example/correct-horse-battery/x?access_token=abc&page=2")
        try await world.watcher.restore()
        _ = await poll(world)
        let shown = "https://b.example/[secret]/x?access_token=[secret]&page=2"
        #expect(await world.watcher.record(of: "a")?.movedTo == shown)
        #expect(lines(world).count == 1 && lines(world)[0].contains(shown))
    }

    @Test("410 is failing at once, says so, and is asked again after a day, also by a stream and after a restart")
    func gone() async throws {
        var stream = source("b")
        stream.stream = StreamSettings()
        let (journal, clock) = (FakeJournal(), ManualClock())
        let world = World([source("a"), stream], journal: journal, clock: clock)
        for name in ["a", "b"] { world.fetcher.serve(url(name), "", status: 410) }
        try await world.run {
            try await until { await journal.records.count == 2 }
        }
        for name in ["a", "b"] {
            let record = await journal.records[name]
            #expect(record?.health.isFailing == true)
            #expect(record?.health.problem?.detail.contains("410; it is gone for good") == true)
            #expect(record?.due.map { $0 >= clock.now().wall.advanced(by: .seconds(86_000)) } == true)
        }
        let next = World([source("a"), stream], journal: journal, clock: clock)
        for name in ["a", "b"] { next.fetcher.serve(url(name), "", status: 410) }
        try await next.run {
            clock.advance(.seconds(80_000))
            for _ in 0..<2000 { await Task.yield() }
            #expect(next.fetcher.requests.isEmpty)
            try await next.advance(.seconds(7000)) { next.fetcher.requests.count == 2 }
        }
    }
}
