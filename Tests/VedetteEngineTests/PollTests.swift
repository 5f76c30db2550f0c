// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("One poll", .timeLimit(.minutes(10)))
struct PollTests {
    /// Polls once more: the world stands between two polls, so nothing runs beside it.
    private func poll(_ world: World) async -> OnceResult? { await world.watcher.runOnce(force: true).first }

    private func events(_ world: World) async -> [String] {
        await world.journal.events.map { "\($0.kind.word) \($0.item?.key ?? $0.error?.failure ?? "")" }
    }

    @Test("case 27: validators live and die with the snapshot; without it none are sent")
    func validators() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        try await world.watcher.restore()
        _ = await poll(world)
        _ = await poll(world)
        #expect(world.fetcher.requests.map(\.validators.etag) == [nil, "\"v1\""])
        // The snapshot is lost: the same server is asked as if for the first time.
        let lost = World([source("a")])
        lost.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        try await lost.watcher.restore()
        _ = await poll(lost)
        #expect(lost.fetcher.requests.allSatisfy { $0.validators.isEmpty && $0.knownDigest == nil })
    }

    @Test("validators of another language or user are not sent: their representation is another one")
    func variants() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        func poll(_ language: String, _ user: String, _ password: String) async throws -> String? {
            var server = Server(name: "s", credentials: Credentials(user: user, password: Secret(password)))
            server.headers = [Header("Accept-Language", language), Header("X-Key", Secret(password))]
            let world = World([source("a", server: server)], journal: journal, clock: clock)
            world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
            try await world.watcher.restore()
            _ = await self.poll(world)
            return world.fetcher.requests.last?.validators.etag
        }
        #expect(try await poll("en", "ann", "1") == nil)
        #expect(try await poll("en", "ann", "2") == "\"v1\"")
        #expect(try await poll("de", "ann", "2") == nil)
        #expect(try await poll("de", "bob", "2") == nil)
        #expect(try await poll("de", "bob", "2") == "\"v1\"")
    }

    @Test("case 27: an unexpected 304 is believed no more than once: the second request brings the items")
    func refetched() async throws {
        let world = World([source("a")])
        world.fetcher.answer(url("a")) { request in
            let isPast = request.headers.contains { $0.name == "Cache-Control" && $0.value == "no-cache" }
            return .success(FakeFetcher.response(url("a"), isPast ? "1=Ready" : "", status: isPast ? 200 : 304))
        }
        try await world.watcher.restore()
        #expect(await poll(world) == .good(items: 1, isBaseline: true, events: 0))
        #expect(world.fetcher.requests.count == 2)
    }

    @Test("a success that is no complete representation is a failed poll by its name, and nothing disappears")
    func incomplete() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready\n2=Ready")
        try await world.watcher.restore()
        _ = await poll(world)
        for status in [201, 202, 204, 205, 206, 207, 226, 250] {
            world.fetcher.serve(url("a"), status == 204 ? "" : "1=Ready", status: status)
            _ = await poll(world)
            let problem = await world.journal.records["a"]?.health.problem
            #expect(problem?.failure == "incomplete" && problem?.detail.contains("\(status)") == true, "\(status)")
        }
        world.fetcher.serve(url("a"), "1=Ready\n2=Ready", status: 203)
        #expect(await poll(world) == .good(items: 2, isBaseline: false, events: 1))
        #expect(await events(world).filter { $0.contains("appeared") }.isEmpty)
    }

    @Test("a poll asks caches to revalidate, unless its server has a Cache-Control of its own")
    func revalidates() async throws {
        let own = Server(name: "own", headers: [Header("cache-control", "max-stale")])
        let world = World([source("a"), source("b", server: own)])
        for name in ["a", "b"] { world.fetcher.serve(url(name), "1=Ready") }
        try await world.watcher.restore()
        _ = await poll(world)
        let sent = world.fetcher.requests.map { request in
            request.headers.filter { $0.name.lowercased() == "cache-control" }.map(\.value)
        }
        #expect(sent.sorted { $0[0] < $1[0] } == [["max-age=0"], ["max-stale"]])
    }

    @Test("case 28: a 304 with a new ETag stores it; what it does not repeat still stands")
    func newETag() async throws {
        let world = World([source("a")])
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\""), ("Last-Modified", date)])
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("a"), "", status: 304, [("ETag", "\"v2\"")])
        _ = await poll(world)
        _ = await poll(world)
        let sent = world.fetcher.requests.map(\.validators)
        #expect(sent.map(\.etag) == [nil, "\"v1\"", "\"v2\""] && sent.map(\.lastModified) == [nil, date, date])
        #expect(await world.journal.events.isEmpty)
    }

    @Test("a list that is written twice within the second of its Last-Modified is asked for without a condition")
    func sameSecond() async throws {
        let world = World([source("a")])
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let later = "Sun, 06 Nov 1994 08:49:38 GMT"
        try await world.watcher.restore()
        world.fetcher.serve(url("a"), "1=Starting", [("Last-Modified", modified), ("Date", modified)])
        _ = await poll(world)
        world.fetcher.serve(url("a"), "1=Ready", [("Last-Modified", modified), ("Date", later)])
        _ = await poll(world)
        #expect(await events(world) == ["changed 1"])
        _ = await poll(world)
        #expect(world.fetcher.requests.map(\.validators.lastModified) == [nil, nil, modified])
    }

    @Test("case 28: the same ETag with another body: the body is believed")
    func sameETag() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Starting", [("ETag", "\"v1\"")])
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        _ = await poll(world)
        #expect(await events(world) == ["changed 1"])
    }

    @Test("case 29: the same body under a new ETag each time is no event and no commit")
    func sameBody() async throws {
        let world = World([source("a")])
        try await world.watcher.restore()
        for number in 0..<4 {
            world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v\(number)\"")])
            _ = await poll(world)
        }
        #expect(world.fetcher.requests.map(\.validators.etag) == [nil, "\"v0\"", "\"v1\"", "\"v2\""])
        #expect(await world.journal.batches.count == 1)
        #expect(await world.journal.events.isEmpty)
    }

    @Test("case 30: of duplicate ids in one document the first is the item, one event, and a warning counts the others")
    func duplicates() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("a"), "1=Ready\n2=first\n2=second\n2=third")
        _ = await poll(world)
        #expect(await events(world) == ["appeared 2"])
        #expect(await world.journal.events.first?.item?.state == "first")
        #expect(world.log.all.contains { $0.contains("2 items with a key that was there already") })
    }

    @Test("an object without a key in the place of a list is suspect, and a failure in the place of a further page")
    func keyless() async throws {
        let world = World([source("list")])
        world.fetcher.serve(url("list"), "1=a\n2=b")
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("list"), "@=error")
        _ = await poll(world)
        _ = await poll(world)
        #expect(await events(world) == ["suspect shape"])
        #expect(await Set(world.journal.items(of: "list").keys) == ["1", "2"])
        world.fetcher.serve(url("list"), "1=a", [("Next", url("list") + "/2")])
        world.fetcher.serve(url("list") + "/2", "@=error")
        _ = await poll(world)
        #expect(await world.journal.records["list"]?.health.problem?.failure == "shape")
        #expect(await Set(world.journal.items(of: "list").keys) == ["1", "2"])
    }

    @Test("an accepted empty list is committed when accept returns, and the next poll believes it")
    func accepted() async throws {
        let world = World([source("list")])
        world.fetcher.serve(url("list"), "1=a\n2=b")
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("list"), "\n")
        _ = await poll(world)
        #expect(await events(world) == ["suspect empty"])
        await world.journal.fail(commits: true)
        await #expect(throws: JournalError.self) { try await world.watcher.accept("list") }
        await world.journal.fail()
        try await world.watcher.accept("list")
        #expect(await world.journal.records["list"]?.snapshot?.emptiness == .accepted)
        _ = await poll(world)
        #expect(await events(world).sorted() == ["disappeared 1", "disappeared 2", "suspect empty"])
    }

    @Test(
        "case 33: absence is no deletion: a window that shrinks or empties says nothing; a list waits for a second poll"
    )
    func shrinks() async throws {
        let world = World([source("list"), source("window", mode: .window)])
        for name in ["list", "window"] { world.fetcher.serve(url(name), "1=a\n2=b\n3=c") }
        try await world.watcher.restore()
        _ = await poll(world)
        for body in ["1=a\n2=b", "1=a\n2=b\n"] {
            for name in ["list", "window"] { world.fetcher.serve(url(name), body) }
            _ = await poll(world)
        }
        #expect(await events(world) == ["disappeared 3"])
        for name in ["list", "window"] { world.fetcher.serve(url(name), "\n") }
        _ = await poll(world)
        #expect(await events(world) == ["disappeared 3", "suspect empty"])
        #expect(await world.journal.items(of: "list").count == 2)
        #expect(await world.journal.items(of: "window").count == 3)
    }

    @Test("case 34: page 3 of 5 fails: the whole poll is failed, and the next one reads back to what was seen")
    func thirdPage() async throws {
        let world = World([source("w", mode: .window)])
        world.fetcher.serve(url("w"), "e0=")
        try await world.watcher.restore()
        _ = await poll(world)
        for page in 1...5 {
            let place = page == 1 ? url("w") : url("w") + "?\(page)"
            let next = page < 5 ? [("Next", url("w") + "?\(page + 1)")] : []
            world.fetcher.serve(place, page < 5 ? "e\(10 - page)=" : "e5=\ne0=", next)
        }
        world.fetcher.serve(url("w") + "?3", "", status: 500)
        #expect(await poll(world) == .failed(source: "w", detail: "the server answered 500"))
        #expect(await world.journal.events.isEmpty)
        #expect(await world.journal.items(of: "w").count == 1)
        world.fetcher.serve(url("w") + "?3", "e7=", [("Next", url("w") + "?4")])
        _ = await poll(world)
        #expect(await events(world) == (5...9).map { "appeared e\($0)" })
    }

    @Test("what a server says when it refuses is told with the failure, without secrets")
    func refusal() async throws {
        let server = Server(name: "s", credentials: .bearer(Secret("correct-horse")))
        let world = World([source("a", server: server)])
        world.fetcher.serve(url("a"), "!no\n correct-horse", status: 403)
        try await world.watcher.restore()
        let detail = "the server answered 403: \"no [secret]\"; these credentials may not read it"
        #expect(await poll(world) == .failed(source: "a", detail: detail))
        world.fetcher.serve(url("a"), "<html>", status: 404)
        #expect(await poll(world) == .failed(source: "a", detail: "the server answered 404; check the path"))
    }

    @Test("case 35: an entry that leaves a window and comes back is no news")
    func comesBack() async throws {
        let world = World([source("w", mode: .window)])
        try await world.watcher.restore()
        for body in ["b=\na=", "c=\nb=", "b=\na=", "c=\nb=\na="] {
            world.fetcher.serve(url("w"), body)
            _ = await poll(world)
        }
        #expect(await events(world) == ["appeared c"])
    }

    @Test("what was learned of one address is not sent to another: a kind that asks for news since a time")
    func otherAddress() async throws {
        let world = World([source("a", LineKind(mode: .window, asksSince: true))])
        try await world.watcher.restore()
        for _ in 0..<3 {
            let place = url("a") + "?since=\(world.clock.now().wall.milliseconds)"
            world.fetcher.serve(place, "1=Ready", [("ETag", "\"v1\"")])
            _ = await poll(world)
            _ = await poll(world)
            world.clock.advance(.seconds(60))
        }
        // The second poll of each minute asks the very same address again.
        let requests = world.fetcher.requests
        #expect(requests.map { $0.validators.isEmpty } == [true, false, true, false, true, false])
        #expect(requests.map { $0.knownDigest == nil } == [true, false, true, false, true, false])
    }

    @Test(
        "a list's page that is as before but leads to another one now is not taken as unchanged", arguments: [200, 304])
    func grown(status: Int) async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        try await world.watcher.restore()
        _ = await poll(world)
        let headers = [("ETag", "\"v1\""), ("Next", url("a") + "?2"), ("Link", "<?2>; rel=\"next\"")]
        world.fetcher.answer(url("a")) { request in
            let isKnown = status == 304 && !request.validators.isEmpty
            return .success(FakeFetcher.response(url("a"), "1=Ready", status: isKnown ? 304 : 200, headers))
        }
        world.fetcher.serve(url("a") + "?2", "2=Ready")
        _ = await poll(world)
        #expect(await events(world) == ["appeared 2"])
    }

    @Test("where a list's kind does not follow the link, its page is read in full and asked for once")
    func linkIsNotFollowed() async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\""), ("Link", "<?2>; rel=next")])
        try await world.watcher.restore()
        for _ in 0..<3 { _ = await poll(world) }
        #expect(world.fetcher.requests.count == 3)
        #expect(world.fetcher.requests.allSatisfy { $0.validators.isEmpty && $0.knownDigest == nil })
    }

    @Test("validators go with GET and HEAD alone: no other method has a condition to be met")
    func otherMethods() async throws {
        let world = World([source("a", LineKind(body: Array("query".utf8)))])
        world.fetcher.serve(url("a"), "1=Ready", [("ETag", "\"v1\"")])
        try await world.watcher.restore()
        for _ in 0..<2 { _ = await poll(world) }
        #expect(world.fetcher.requests.map(\.method) == ["POST", "POST"])
        #expect(world.fetcher.requests.allSatisfy { $0.validators.isEmpty })
        // The same answer is the same answer, whatever the method.
        #expect(world.fetcher.requests.last?.knownDigest != nil)
    }

    @Test("a body goes to no other origin, where a next page leads there")
    func bodyElsewhere() async throws {
        let world = World([source("a", LineKind(body: Array("first".utf8)))])
        world.fetcher.serve(url("a"), "1=", [("Next", "https://b.example/2")])
        world.fetcher.serve("https://b.example/2", "2=")
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(world.fetcher.count("https://b.example/2") == 0)
        #expect(await world.journal.records["a"]?.health.problem?.failure == "redirect")
    }

    @Test("the bodies of all pages together are bounded: a list's poll fails, a window's has a gap that is reported")
    func bytes() async throws {
        for mode in [ReadingMode.list, .window] {
            let fetcher = FakeFetcher()
            for page in 1...4 {
                let place = page == 1 ? url("a") : url("a") + "?\(page)"
                fetcher.serve(place, "key\(page)=", [("Next", url("a") + "?\(page + 1)")])
            }
            let source = source("a", mode: mode)
            let known = SnapshotHead(
                identity: source.identity, fingerprints: [:], goodAt: Timestamp(milliseconds: 0))
            let requests = RequestBuilder(source: source, lane: .polls, userAgent: "test/1")
            let prepared = requests.prepared(after: known, now: Timestamp(milliseconds: 0), reusing: nil)
            var poll = PollReader(
                source: source, snapshot: known, prepared: prepared, fetcher: fetcher, clock: ManualClock(),
                userAgent: "test/1", storedItems: { [:] })
            poll.limits.bytes = 15
            let outcome = try await poll.result().outcome
            #expect(fetcher.requests.count == 3)
            let detail = "the reading has a gap: after page 3 there are 15 bytes and no more are read"
            switch outcome {
            case .failed(.pageGap, detail: detail) where mode == .list: break
            case .read(let difference) where mode == .window:
                #expect(difference.events.map(\.error?.detail).contains(detail))
            default: Issue.record("\(mode): \(outcome)")
            }
        }
    }

    @Test("a measure alone is no commit: it is written with the due times; what else is shown is written at once")
    func measureAlone() async throws {
        let world = World([source("a", StatusKind())])
        try await world.watcher.restore()
        for latency in ["10", "20", "10", "30"] {
            world.fetcher.serve(url("a"), "", [("Latency", latency)])
            _ = await poll(world)
            #expect(await world.journal.items(of: "a")[url("a")]?.item?.measures["latency"] == .text(latency))
        }
        #expect(await world.journal.batches.count == 1)
        world.fetcher.serve(url("a"), "", status: 404, [("Latency", "40")])
        _ = await poll(world)
        #expect(await world.journal.batches.count == 2)
        #expect(await world.journal.items(of: "a")[url("a")]?.item?.measures["latency"] == "40")
    }

    @Test("a measure is written although polls follow at once that change nothing, or fail")
    func measureBeforeOthers() async throws {
        for status in [200, 500] {
            let world = World([source("a", every: .seconds(1))])
            try await world.watcher.restore()
            func serve(_ body: String, status: Int = 200) { world.fetcher.serve(url("a"), body, status: status) }
            func latency() async -> Value? { await world.journal.items(of: "a")["1"]?.item?.measures["latency"] }
            let running = Task { await world.watcher.run() }
            serve("1=up~10")
            try await world.advance(.seconds(7)) { await latency() == "10" }
            serve("1=up~20")
            func polled(_ times: Int) async throws {
                let before = world.fetcher.requests.count
                try await world.advance(.seconds(20)) { world.fetcher.requests.count >= before + times }
            }
            try await polled(1)
            serve("1=up~20", status: status)
            try await polled(8)
            #expect(await latency() == "20", "\(status)")
            await world.watcher.stop()
            await running.value
        }
    }

    @Test("a poll that takes longer than ten minutes ends with a gap, however few its pages are")
    func deadline() async throws {
        let world = World([source("a")])
        let clock = world.clock
        for page in 1...10 {
            let place = page == 1 ? url("a") : url("a") + "?\(page)"
            world.fetcher.answer(place) { _ in
                clock.advance(.seconds(130))
                return .success(FakeFetcher.response(place, "\(page)=", [("Next", url("a") + "?\(page + 1)")]))
            }
        }
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(world.fetcher.requests.count == 5)
        #expect(await world.journal.records["a"]?.health.problem?.failure == "page-gap")
    }

    @Test("a window's page that says it is whole is a list for that poll")
    func whole() async throws {
        let world = World([source("w", mode: .window)])
        try await world.watcher.restore()
        for body in ["a=\nb=\nc=", "a=\nb=", "b=\na="] {
            world.fetcher.serve(url("w"), body, [("Whole", "yes")])
            _ = await poll(world)
        }
        #expect(await events(world) == ["disappeared c"])
    }

    @Test(
        "a body passes through the kind's program before it is read; without one to run it, or with a bad one, it fails"
    )
    func transforming() async throws {
        let world = World([source("good", LineKind(jqProgram: "reverse")), source("bad", LineKind(jqProgram: "?"))])
        for name in ["good", "bad"] { world.fetcher.serve(url(name), "ydaeR=1") }
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.items(of: "good")["1"]?.item?.state == "Ready")
        #expect(await world.journal.records["bad"]?.health.problem?.detail == "jq does not know '?'")
    }

    @Test("a request carries its server's proxy, cookies and manners, and what its kind asks")
    func settings() async throws {
        var server = Server(name: "lab", proxy: .url("http://proxy:3128", user: nil, password: nil), cookies: .journal)
        (server.originLimits, server.allowsPrivate) = (OriginLimits(concurrency: 2, interval: .seconds(1)), true)
        let world = World([source("a", StatusKind(), server: server)])
        world.fetcher.serve(url("a"), "")
        try await world.watcher.restore()
        _ = await poll(world)
        let request = try #require(world.fetcher.requests.first)
        #expect(
            request.cookies == .journal && request.originLimits == server.originLimits && request.reach == .anywhere)
        #expect(request.redirects == 0 && request.inspectsConnection && request.session == "lab")
        guard case .url("http://proxy:3128", nil, nil) = request.proxy else {
            Issue.record("the proxy is another")
            return
        }
    }

    @Test("case 20: what a public server names on another origin is not to be private, unless the user allows it")
    func reach() async throws {
        func reaches(isPublic: Bool, allowed: Bool = false) async throws -> [Request.Reach] {
            let world = World([source("a", server: Server(name: "a", allowsPrivate: allowed))])
            world.fetcher.serve(url("a"), "1=", [("Next", "https://b.example/2")], isPublic: isPublic)
            world.fetcher.serve("https://b.example/2", "2=", [("Next", url("a") + "?3")], isPublic: isPublic)
            world.fetcher.serve(url("a") + "?3", "3=", isPublic: isPublic)
            try await world.watcher.restore()
            _ = await poll(world)
            return world.fetcher.requests.map(\.reach)
        }
        #expect(try await reaches(isPublic: true) == [.likeTheFirst, .publicOnly, .publicOnly])
        #expect(try await reaches(isPublic: false) == [.likeTheFirst, .likeTheFirst, .likeTheFirst])
        #expect(try await reaches(isPublic: true, allowed: true) == [.anywhere, .anywhere, .anywhere])
    }

    @Test("a secret that a server repeats is cut from items, links, warnings and errors, in each of its spellings")
    func secrets() async throws {
        let password = Secret("pass w0rd&1")
        let server = Server(
            name: "a", credentials: Credentials(user: "ann", password: password),
            headers: [Header("X-Key", Secret("k3yk3yk3y")), Header("X-Short", Secret("short"))])
        let world = World([source("a", server: server)])
        let basic = "YW5uOnBhc3MgdzByZCYx"
        world.fetcher.serve(
            url("a"),
            "1=pass w0rd&1 twice pass w0rd&1\n2=https://a.example/?p=pass%20w0rd%261&q\n3=?p=pass+w0rd%261\n"
                + "4=Basic \(basic)\n5-k3yk3yk3y=short\n6=@https://a.example/u")
        world.fetcher.serve("https://a.example/u", "k3yk3yk3y of ann")
        try await world.watcher.restore()
        #expect(await poll(world) == .good(items: 6, isBaseline: true, events: 0))
        let items = await world.journal.items(of: "a").mapValues { $0.item }
        #expect(items["1"]??.state == "[secret] twice [secret]")
        #expect(items["2"]??.state == "https://a.example/?p=[secret]&q" && items["3"]??.state == "?p=[secret]")
        #expect(items["4"]??.state == "Basic [secret]" && items["5-[secret]"]??.state == "short")
        #expect(items["6"]??.notes["owner"] == .text("[secret] of ann"))
        world.fetcher.fail(url("a"), FetchError(.protocol, "the answer repeats k3yk3yk3y"))
        _ = await poll(world)
        #expect(await world.journal.records["a"]?.health.problem?.detail == "the answer repeats [secret]")
    }

    @Test("a granted token that a server repeats is cut like a secret of the configuration, also on the next page")
    func grantedToken() async throws {
        let grant = ClientGrant(url: "https://id.example/token", client: "c", secret: Secret("cl13ntS3cret"))
        let world = World([source("a", server: Server(name: "a", credentials: .grant(grant)))])
        func response(_ url: String, _ body: String, _ headers: [(String, String)] = []) -> Response {
            var response = FakeFetcher.response(url, body, headers)
            response.token = Secret("gr4ntedT0ken")
            return response
        }
        let far = "https://b.example/?t=gr4ntedT0ken"
        let (first, second) = (
            response(url("a"), "1=Bearer gr4ntedT0ken", [("Next", url("a") + "?2")]),
            response(url("a") + "?2", "2=gr4ntedT0ken", [("Next", far)])
        )
        world.fetcher.answer(url("a")) { _ in .success(first) }
        world.fetcher.answer(url("a") + "?2") { _ in .success(second) }
        world.fetcher.serve("https://b.example/?t=[secret]", "3=")
        try await world.watcher.restore()
        #expect(await poll(world) == .good(items: 3, isBaseline: true, events: 0))
        let items = await world.journal.items(of: "a").mapValues { $0.item?.state }
        #expect(items["1"] == "Bearer [secret]" && items["2"] == "[secret]")
        #expect(!world.fetcher.requests.contains { $0.url == far })
    }

    @Test("a validator that holds a secret is not stored; any other is")
    func secretValidator() async throws {
        let server = Server(name: "a", headers: [Header("X-Key", Secret("k3yk3yk3y"))])
        let world = World([source("a", server: server)])
        let modified = "Sun, 22 Nov 2026 05:00:00 GMT"
        world.fetcher.serve(url("a"), "1=", [("ETag", "\"v1-k3yk3yk3y\""), ("Last-Modified", modified)])
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(
            await world.journal.records["a"]?.snapshot?.validators == Validators(etag: nil, lastModified: modified))
        world.fetcher.serve(url("a"), "1=\n2=", [("ETag", "\"v2\"")])
        _ = await poll(world)
        #expect(await world.journal.records["a"]?.snapshot?.validators == Validators(etag: "\"v2\"", lastModified: nil))
    }

    @Test("a secret that a server repeats in the address of a next page goes to no other origin")
    func nextPageSecret() async throws {
        let server = Server(name: "a", headers: [Header("X-Key", Secret("k3yk3yk3y"))])
        let world = World([source("a", server: server)])
        let own = url("a") + "?key=k3yk3yk3y"
        world.fetcher.serve(url("a"), "1=", [("Next", own)])
        world.fetcher.serve(own, "2=", [("Next", "https://b.example/?key=k3yk3yk3y")])
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(world.fetcher.requests.map(\.url) == [url("a"), own, "https://b.example/?key=[secret]"])
    }

    @Test("a next page may have a body of its own; else the first one is sent again")
    func bodies() async throws {
        let world = World([source("a", LineKind(body: Array("first".utf8)))])
        world.fetcher.serve(url("a"), "1=", [("Next", url("a") + "?2"), ("Next-Body", "second")])
        world.fetcher.serve(url("a") + "?2", "2=", [("Next", url("a") + "?3")])
        world.fetcher.serve(url("a") + "?3", "3=")
        try await world.watcher.restore()
        _ = await poll(world)
        let bodies = world.fetcher.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(bodies == ["first", "second", "first"])
    }

    /// Keeps whether the body could grow where it is, which is so when nobody else holds it.
    private final class BodyKind: SourceKind {
        let isOwned = Mutex<[Bool]>([])
        let (mode, identity) = (ReadingMode.list, UInt64(1))
        let fingerprints: [String: UInt64] = [:]
        let fieldNames: [String]? = nil

        func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }

        func read(_ page: inout PageBody) throws(ReadError) -> Page {
            let before = page.bytes.withUnsafeBufferPointer { $0.baseAddress }
            page.bytes.append(0)
            let after = page.bytes.withUnsafeBufferPointer { $0.baseAddress }
            isOwned.withLock { $0.append(before == after) }
            return Page(items: [Item(key: "1")], next: page.number == 1 ? "https://a.example/2" : nil)
        }
    }

    @Test("a kind gets each body as its only holder, so that a reader can pad it without a copy")
    func ownedBody() async throws {
        let kind = BodyKind()
        let world = World([source("a", kind)])
        for address in [url("a"), "https://a.example/2"] {
            world.fetcher.answer(address) { request in
                var body: [UInt8] = []
                body.reserveCapacity(64)
                body += Array("1=Ready".utf8)
                return .success(Response(status: 200, body: body, digest: 7, url: request.url))
            }
        }
        try await world.watcher.restore()
        _ = await poll(world)
        #expect(kind.isOwned.withLock { $0 } == [true, true])
    }

    @Test("what changed of an item that is only shown is written, and is no event")
    func shown() async throws {
        let world = World([source("a", StatusKind())])
        world.fetcher.serve(url("a"), "", [("Latency", "10")])
        try await world.watcher.restore()
        _ = await poll(world)
        world.fetcher.serve(url("a"), "", [("Latency", "20")])
        _ = await poll(world)
        #expect(await world.journal.items(of: "a")[url("a")]?.item?.measures["latency"] == "20")
        #expect(await world.journal.events.isEmpty)
    }
}
