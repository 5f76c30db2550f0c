// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("Linked resources", .timeLimit(.minutes(10)))
struct LinkTests {
    private let ann = "https://a.example/users/6"
    private let bob = "https://a.example/users/7"

    private func note(_ key: String, _ world: World) async -> Value? {
        await world.journal.items(of: "a")[key]?.item?.notes["owner"]
    }

    @Test(
        "each address is requested once, cached for its time, and requested again after it; an unchanged body requests nothing"
    )
    func cached() async throws {
        let world = World([source("a", every: .seconds(1))])
        world.fetcher.serve(ann, "Ann")
        world.fetcher.serve(bob, "Bob")
        world.fetcher.serve(url("a"), "1=@\(ann)\n2=@\(bob)\n3=@\(ann)")
        try await world.watcher.restore()
        for _ in 0..<3 { _ = await world.watcher.runOnce(force: true) }
        #expect(world.fetcher.count(ann) == 1 && world.fetcher.count(bob) == 1)
        let notes = [await note("1", world), await note("2", world), await note("3", world)]
        #expect(notes == ["Ann", "Bob", "Ann"])
        world.fetcher.serve(url("a"), "1=@\(ann)")
        _ = await world.watcher.runOnce(force: true)
        #expect(world.fetcher.count(ann) == 1)
        world.clock.advance(.seconds(301))
        _ = await world.watcher.runOnce(force: true)
        #expect(world.fetcher.count(ann) == 1)
        world.fetcher.serve(ann, "Anne")
        world.fetcher.serve(url("a"), "1=@\(ann)\n4=x")
        _ = await world.watcher.runOnce(force: true)
        #expect(world.fetcher.count(ann) == 2)
        #expect(await note("1", world) == "Anne")
        #expect(await world.journal.events.map(\.kind.word).sorted() == ["appeared", "disappeared", "disappeared"])
    }

    @Test("a link that cannot be read is a warning; the poll is good, and what was known of it stays")
    func failed() async throws {
        let world = World([source("a")])
        world.fetcher.serve(ann, "Ann")
        world.fetcher.serve(url("a"), "1=@\(ann)\n2=@\(bob)")
        try await world.watcher.restore()
        #expect(await world.watcher.runOnce(force: true) == [.good(items: 2, isBaseline: true, events: 0)])
        #expect(world.log.all.contains { $0.contains("a: failed to read owner: nothing is served at \(bob)") })
        world.clock.advance(.seconds(400))
        world.fetcher.serve(ann, "", status: 500)
        world.fetcher.serve(url("a"), "1=@\(ann)")
        _ = await world.watcher.runOnce(force: true)
        #expect(world.log.all.contains { $0.contains("failed to read owner: the server answered 500") })
        #expect(await note("1", world) == "Ann")
    }

    @Test("a link to another origin gets no credential, no session and no pin, and none from https to http")
    func otherOrigin() async throws {
        let secret = Secret("hunter2")
        let server = Server(
            name: "a", credentials: Credentials(user: "u", password: secret),
            tls: TLSPolicy(pin: "sha256//x", minimum: .v1_3),
            headers: [Header("X-Key", secret), Header("X-Plain", "p")])
        let world = World([source("a", server: server)])
        let (far, plain) = ("https://evil.example/u", "http://a.example/u")
        world.fetcher.serve(url("a"), "1=@\(far)\n2=@\(ann)\n3=@\(plain)", isPublic: true)
        for place in [far, ann, plain] { world.fetcher.serve(place, "x") }
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        let there = try #require(world.fetcher.requests.first { $0.url == far })
        #expect(there.credentials == nil && there.session == nil && there.tls == TLSPolicy(minimum: .v1_3))
        #expect(!there.headers.contains { $0.name.hasPrefix("X-") } && there.reach == .publicOnly)
        let own = try #require(world.fetcher.requests.first { $0.url == ann })
        #expect(own.credentials?.user == "u" && own.tls.pin != nil && own.reach == .publicOnly)
        #expect(world.fetcher.count(plain) == 0)
        #expect(await note("3", world) == nil)
    }

    @Test("at most 200 are requested in one poll; the others wait for the next")
    func bounded() async throws {
        let world = World([source("a")])
        let places = (0..<250).map { "https://a.example/users/\($0)" }
        for place in places { world.fetcher.serve(place, "x") }
        let body = places.enumerated().map { "\($0.offset)=@\($0.element)" }.joined(separator: "\n")
        world.fetcher.serve(url("a"), body)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        #expect(world.fetcher.requests.count == 201)
        #expect(world.log.all.contains { $0.contains("50 linked resources wait for the next poll") })
        world.fetcher.serve(url("a"), body + "\n")
        _ = await world.watcher.runOnce(force: true)
        #expect(world.fetcher.requests.count == 252)
        #expect(await note("249", world) == "x")
    }

    @Test("of more links than are asked for in one poll those come first that have waited longest")
    func inTurn() async throws {
        let world = World([source("a")])
        let places = (0..<250).map { "https://a.example/now/\($0)" }
        for place in places { world.fetcher.serve(place, "x") }
        let body = places.enumerated().map { "\($0.offset)=@\($0.element)" }.joined(separator: "\n")
        try await world.watcher.restore()
        for poll in 0..<5 {
            world.fetcher.serve(url("a"), body + String(repeating: "\n", count: poll))
            _ = await world.watcher.runOnce(force: true)
            world.clock.advance(.seconds(60))
        }
        #expect(Set(places.map(world.fetcher.count)) == [4])
    }

    @Test("a link that failed is not requested again for five minutes")
    func failedLink() async throws {
        let world = World([source("a")])
        world.fetcher.serve(ann, "", status: 500)
        try await world.watcher.restore()
        for poll in 0..<7 {
            world.fetcher.serve(url("a"), "1=@\(ann)" + String(repeating: "\n", count: poll))
            _ = await world.watcher.runOnce(force: true)
            world.clock.advance(.seconds(60))
        }
        #expect(world.fetcher.count(ann) == 2)
    }

    @Test("Retry-After of a link is obeyed, and for every other link of its origin, also in the poll under way")
    func retryAfter() async throws {
        let world = World([source("a")])
        let places = (0..<50).map { "https://users.example/\($0)" }
        for place in places { world.fetcher.serve(place, "", status: 429, [("Retry-After", "1200")]) }
        let body = places.enumerated().map { "\($0.offset)=@\($0.element)" }.joined(separator: "\n")
        try await world.watcher.restore()
        func asked() -> Int { world.fetcher.requests.count { $0.url.hasPrefix("https://users.example/") } }
        world.fetcher.serve(url("a"), body)
        _ = await world.watcher.runOnce(force: true)
        let first = asked()
        #expect(first < 10)
        world.clock.advance(.seconds(1100))
        world.fetcher.serve(url("a"), body + "\n")
        _ = await world.watcher.runOnce(force: true)
        #expect(asked() == first)
        world.clock.advance(.seconds(101))
        for place in places { world.fetcher.serve(place, "x") }
        world.fetcher.serve(url("a"), body + "\n\n")
        _ = await world.watcher.runOnce(force: true)
        #expect(await note("49", world) == "x")
    }

    @Test("for a person who looks at an item every link is read, and failures are reported")
    func live() async {
        let fetcher = FakeFetcher()
        fetcher.serve(ann, "Ann")
        let reading = OneShotPoll(fetcher: fetcher, clock: ManualClock(), userAgent: "test/1")
        let (notes, warnings) = await reading.links(of: Item(key: "1", state: "@" + ann), in: source("a"))
        #expect(notes == ["owner": "Ann"])
        #expect(warnings == ["failed to read more: nothing is served at https://a.example/more"])
    }
}

@Suite("Observing kinds", .timeLimit(.minutes(10)))
struct ObservingTests {
    private func states(_ world: World) async -> [String] {
        await world.journal.events.flatMap(\.changes).filter { $0.field == "state" }.compactMap { $0.to?.description }
    }

    @Test("refusal and 500 are states: down after so many polls in a row, up at once, without failing or backoff")
    func down() async throws {
        let world = World([source("h", StatusKind(), fails: 3)])
        world.fetcher.serve(url("h"), "")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: false)
        world.fetcher.fail(url("h"), FetchError(.refused, "refused"))
        for _ in 0..<2 { _ = await world.watcher.runOnce(force: false) }
        #expect(await states(world) == [])
        #expect(await world.journal.records["h"]?.health.failures == 2)
        world.fetcher.serve(url("h"), "", status: 503, [("Retry-After", "1")])
        _ = await world.watcher.runOnce(force: true)
        #expect(await states(world) == ["down"])
        let record = try #require(await world.journal.records["h"])
        #expect(record.health.failures == 0 && record.health.problem == nil && record.notBefore != nil)
        // Known to be down: good polls, and nothing more to say.
        for _ in 0..<4 { _ = await world.watcher.runOnce(force: true) }
        world.fetcher.serve(url("h"), "")
        _ = await world.watcher.runOnce(force: true)
        #expect(await states(world) == ["down", "up"])
        #expect(await world.journal.events.allSatisfy { $0.kind == .changed })
    }

    @Test("what this program lacks is no state of the host, but a failed poll")
    func ownFailure() async throws {
        let world = World([source("h", StatusKind(), fails: 1)])
        world.fetcher.serve(url("h"), "")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        world.fetcher.fail(url("h"), FetchError(.memory, "the memory for responses is used up"))
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.items(of: "h")[url("h")]?.item?.state == "up")
        #expect(await world.journal.records["h"]?.health.problem?.failure == "memory")
        #expect(await states(world) == [])
    }

    @Test("where Retry-After puts off the polls that would confirm it, down is believed before they would be late")
    func putOff() async throws {
        for (retryAfter, polls) in [(3600, 1), (300, 2), (100, 3)] {
            let world = World([source("h", StatusKind(), fails: 3)])
            world.fetcher.serve(url("h"), "")
            try await world.watcher.restore()
            _ = await world.watcher.runOnce(force: true)
            world.fetcher.serve(url("h"), "", status: 503, [("Retry-After", "\(retryAfter)")])
            for poll in 1...polls {
                _ = await world.watcher.runOnce(force: true)
                #expect(await states(world) == (poll < polls ? [] : ["down"]), "\(retryAfter)")
                world.clock.advance(.seconds(retryAfter))
            }
        }
    }

    @Test("Retry-After of a status that gives it no meaning delays nothing")
    func meaninglessRetryAfter() async throws {
        let world = World([source("h", StatusKind())])
        try await world.watcher.restore()
        for (status, isObeyed) in [(200, false), (404, false), (301, true), (429, true)] {
            world.fetcher.serve(url("h"), "", status: status, [("Retry-After", "3600")])
            _ = await world.watcher.runOnce(force: true)
            #expect((await world.watcher.record(of: "h")?.notBefore != nil) == isObeyed, "\(status)")
        }
    }

    @Test("texts of an observed response are changed before they are compared; where that fails, the poll does")
    func filter() async throws {
        struct Wildcard: Pattern {
            func matches(_ text: String) -> Bool { true }
            func replacing(
                in text: String, with replacement: String, _ budget: inout MatchBudget
            ) throws(PatternError) -> String {
                if text == "404" { throw PatternError("it takes too long") }
                return replacement
            }
        }
        var observed = source("h", StatusKind(), fails: 3)
        observed.filter = TextFilter([.init(Wildcard(), with: "any")])
        let world = World([observed])
        world.fetcher.serve(url("h"), "")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: false)
        world.fetcher.serve(url("h"), "", status: 204)
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.records["h"]?.health.failures == 0)
        world.fetcher.serve(url("h"), "", status: 404)
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.records["h"]?.health.failures == 1)
        #expect(await world.journal.events.isEmpty)
    }

    @Test("one poll that finds it up again ends the doubt, also over a restart")
    func doubt() async throws {
        let world = World([source("h", StatusKind(), fails: 3)])
        world.fetcher.serve(url("h"), "")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        for _ in 0..<3 {
            world.fetcher.fail(url("h"), FetchError(.timeout, "no answer", timedOut: true))
            for _ in 0..<2 { _ = await world.watcher.runOnce(force: true) }
            world.fetcher.serve(url("h"), "")
            _ = await world.watcher.runOnce(force: true)
        }
        #expect(await states(world) == [])
        world.fetcher.fail(url("h"), FetchError(.timeout, "no answer", timedOut: true))
        for _ in 0..<2 { _ = await world.watcher.runOnce(force: true) }
        let again = World([source("h", StatusKind(), fails: 3)], journal: world.journal, clock: world.clock)
        again.fetcher.fail(url("h"), FetchError(.timeout, "no answer", timedOut: true))
        try await again.watcher.restore()
        _ = await again.watcher.runOnce(force: true)
        #expect(await states(again) == ["down"])
    }

    @Test("at the first poll what is down is down; the same body and validators are asked for in full every time")
    func first() async throws {
        let world = World([source("h", StatusKind())])
        world.fetcher.serve(url("h"), "", status: 500, [("ETag", "\"v\"")])
        try await world.watcher.restore()
        for _ in 0..<2 { _ = await world.watcher.runOnce(force: true) }
        #expect(await world.journal.items(of: "h")[url("h")]?.item?.state == "down")
        #expect(world.fetcher.requests.allSatisfy { $0.validators.isEmpty && $0.knownDigest == nil })
    }

    @Test("a measure is an event where a rule names a bound and it is crossed")
    func measures() async throws {
        let rules = RuleSet([
            Rule(
                name: "slow", when: .field("latency", from: nil, to: .above(500)),
                notify: [Rule.NotificationTarget(sink: "k")])
        ])
        let world = World([source("h", StatusKind(), fails: 1)], rules: rules)
        try await world.watcher.restore()
        for latency in ["100", "400", "600", "700", "down", "800", "100", "501"] {
            world.fetcher.serve(url("h"), "", status: latency == "down" ? 500 : 200, [("Latency", latency)])
            if latency == "down" { world.fetcher.fail(url("h"), FetchError(.refused, "refused")) }
            _ = await world.watcher.runOnce(force: true)
        }
        let crossings = await world.journal.deliveries.values.map(\.delivery.message.title).sorted()
        #expect(crossings == ["\(url("h")): latency 100 → 501", "\(url("h")): latency 400 → 600"])
    }
}
