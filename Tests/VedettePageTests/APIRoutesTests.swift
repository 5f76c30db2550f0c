// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

@Suite("The API", .timeLimit(.minutes(10)))
struct APIRoutesTests {
    private let journal = MemoryJournal()
    private let clock = TestClock()
    private var isStalled: Bool? = false

    private var api: APIRoutes {
        let journal = journal
        return api(journal) { () throws(JournalError) in journal.changes() }
    }

    private func api(
        _ journal: any JournalAccess, changes: @escaping @Sendable () throws(JournalError) -> AsyncStream<Void>
    ) -> APIRoutes {
        let clock = clock
        let configuration = ConfigurationFacts(
            sources: [source("lab"), source("blog", mode: .window)],
            sinks: [.init(name: "k", kindName: "webhook", isInsecure: false)],
            rules: [Rule(name: "ready", when: .any([.appears]), notify: [.init(sink: "k")])],
            editedAt: TestClock.start)
        let hub = ChangeHub(changes, clock: clock, log: LogLines())
        return APIRoutes(
            journal: journal, hub: hub, clock: clock, version: "1.2", configuration: { configuration },
            status: { configuration async throws(JournalError) in
                let now = clock.now().wall
                return try await StatusFacts.read(journal, configuration, now: now, today: now, age: { _ in nil })
            },
            numbers: { [isStalled] in
                var numbers = WatcherNumbers(version: "1.2")
                numbers.isStalled = isStalled
                return numbers
            }, registry: MetricRegistry(),
            trials: TrialService(FakeTrials(), clock: clock, configuration: { configuration }),
            meaning: { $1 == "json" && $0 == "Started" ? .busy : StateMeaning(of: $0) })
    }

    private func ask(_ target: String, _ headers: [HeaderField] = []) async throws -> PageResponse {
        let request = try #require(PageRequest(.get, target, headers: headers))
        return await Router(api.routes).respond(to: request)
    }

    private func rows(_ target: String) async throws -> [JSON] {
        let response = try await ask(target)
        #expect(response.status == 200 && response.contentType == "application/x-ndjson")
        return try response.text.split(separator: "\n").map { try JSON(parsing: Array($0.utf8)) }
    }

    private static func event(_ number: Int, _ kind: Event.Kind = .changed, source: String = "lab") -> Event {
        var event = Event(
            id: Identifier("00000000-0000-7000-8000-00000000000\(number)"), kind: kind,
            time: TestClock.start.advanced(by: .seconds(number)), source: source, sourceKind: "json", poll: "p\(number)"
        )
        event.item = Item(
            key: "59", title: "prod <1>", state: "Ready", url: "https://lab.example/59", time: TestClock.start,
            fields: ["owner": "Ann"], notes: ["n": "1"], measures: ["m": "2"])
        event.changes = [FieldChange(field: "state", from: "Starting", to: "Ready")]
        event.error = Event.Problem(failure: "timeout", detail: "no answer", server: "lab")
        return event
    }

    private func commit(_ events: [Event], deliveries: [Delivery] = []) throws {
        _ = try journal.commit(
            [PollRecord(record: nil, events: events, deliveries: deliveries)], within: .none)
    }

    /// - Parameter left: items that are there no more, with the hours since they came.
    private func store(_ items: [Item], left: [(String, Int)] = [], of source: String = "lab") throws {
        var record = SourceRecord(name: source)
        var head = SnapshotHead(identity: 1, fingerprints: [:], goodAt: TestClock.start)
        (head.count, head.states, head.unannounced) = (
            items.count, ["Ready": items.count], .init(count: 1, last: "x", at: TestClock.start)
        )
        (record.snapshot, record.due, record.notBefore) = (head, TestClock.start, TestClock.start)
        record.health.lastPollAt = TestClock.start
        record.health.problem = Event.Problem(failure: "timeout", detail: "no answer")
        var rows = items.map { StoredItem($0, digest: 1, stateSince: TestClock.start) }
        rows += left.map { key, hours in
            var row = StoredItem(
                Item(key: key), digest: 1, stateSince: TestClock.start.advanced(by: .seconds(-hours * 3600)))
            row.absentSince = TestClock.start
            return row
        }
        _ = try journal.commit([PollRecord(record: record, writes: rows)], within: .none)
    }

    private func delivery(_ number: Int, _ event: Event) -> Delivery {
        Delivery(
            message: Message(id: "m\(number)", rule: "ready", sink: "k", event: event, title: "t", text: "x"),
            created: TestClock.start, due: TestClock.start, reason: "no answer")
    }

    // MARK: Lists

    @Test("items come in the order of their keys, a page at a time, and by state")
    func items() async throws {
        try store(["b", "a", "c"].map { Item(key: $0, state: $0 == "c" ? "Failed" : "Ready") })
        let first = try await ask("/api/v1/items?source=lab&limit=2")
        #expect(first.text == "{\"key\":\"a\",\"state\":\"Ready\"}\n{\"key\":\"b\",\"state\":\"Ready\"}\n")
        #expect(first.header("Link") == "</api/v1/items?after=b&limit=2&source=lab>; rel=\"next\"")
        let second = try await ask("/api/v1/items?after=b&limit=2&source=lab")
        #expect(second.text == "{\"key\":\"c\",\"state\":\"Failed\"}\n" && second.header("Link") == nil)
        #expect(try await rows("/api/v1/items?source=lab&state=Failed").map { $0["key"] } == [.string("c")])
        #expect(try await rows("/api/v1/items?source=blog").isEmpty)
    }

    @Test("of a window what came on the last day stays, as in list; of a list only what is there")
    func left() async throws {
        for source in ["lab", "blog"] {
            try store([Item(key: "there")], left: [("announced", 2), ("old", 30)], of: source)
        }
        #expect(try await rows("/api/v1/items?source=lab").map { $0["key"] } == [.string("there")])
        #expect(
            try await rows("/api/v1/items?source=blog").map { $0["key"] } == [.string("announced"), .string("there")])
    }

    @Test("events come as tail prints them: the newest, or those after one, a page at a time")
    func events() async throws {
        try commit((1...5).map { Self.event($0, source: $0 == 5 ? "blog" : "lab") })
        func seqs(_ target: String) async throws -> [JSON?] { try await rows(target).map { $0["data"]?["seq"] } }
        #expect(try await seqs("/api/v1/events?limit=2") == [.number("4"), .number("5")])
        let page = try await ask("/api/v1/events?after=1&limit=2")
        #expect(page.header("Link") == "</api/v1/events?after=3&limit=2>; rel=\"next\"")
        #expect(try await seqs("/api/v1/events?after=3&limit=2") == [.number("4"), .number("5")])
        #expect(try await seqs("/api/v1/events?source=blog") == [.number("5")])
        #expect(try await seqs("/api/v1/events?type=appeared").isEmpty)
        #expect(try await seqs("/api/v1/events?since=2026-11-22T08:00:04Z") == [.number("4"), .number("5")])
        let stored = journal.events(after: 0, EventFilter(), limit: 1)
        #expect(try await ask("/api/v1/events?limit=1&source=lab&after=0").text == "\(stored[0].json.text)\n")
    }

    @Test("a name that is neither configured nor in the journal is refused; one that was removed is not")
    func unknownNames() async throws {
        let event = Self.event(1, source: "former")
        var old = delivery(1, event)
        (old.message.sink, old.message.rule) = ("old", "gone")
        try commit([event], deliveries: [old])
        for target in ["/api/v1/events", "/events.atom"] {
            for query in ["source=former", "source=blog", "source=k", "source=watcher", "rule=ready", "rule=gone"] {
                #expect(try await ask("\(target)?\(query)").status == 200, "\(target)?\(query)")
            }
            for query in ["source=lav", "rule=redy", "source=lab&rule=x"] {
                #expect(try await ask("\(target)?\(query)").status == 404, "\(target)?\(query)")
            }
        }
        let stream = [HeaderField("Accept", "text/event-stream")]
        #expect(try await ask("/api/v1/events?source=lav", stream).status == 404)
        for query in ["sink=old", "sink=k", "rule=gone", "rule=ready"] {
            #expect(try await ask("/api/v1/deliveries?\(query)").status == 200, "\(query)")
        }
        for query in ["sink=kk", "rule=redy"] {
            #expect(try await ask("/api/v1/deliveries?\(query)").status == 404, "\(query)")
        }
        #expect(
            try await ask("/api/v1/events?rule=redy").text.contains("there is no rule 'redy'; did you mean 'ready'?"))
    }

    @Test("deliveries that are not sent, deliveries of one state, and a page of them")
    func deliveries() async throws {
        let event = Self.event(1)
        try commit([event], deliveries: [delivery(1, event), delivery(2, event)])
        #expect(try await rows("/api/v1/deliveries").map { $0["id"] } == [.number("1"), .number("2")])
        #expect(try await rows("/api/v1/deliveries?state=sent").isEmpty)
        let page = try await ask("/api/v1/deliveries?limit=1")
        #expect(page.header("Link") == "</api/v1/deliveries?after=1&limit=1>; rel=\"next\"")
        #expect(try await rows("/api/v1/deliveries?after=1&limit=1").map { $0["message"] } == [.string("m2")])
    }

    /// As long as the line of a request may be.
    static let long = String(repeating: "x", count: 15_000)

    @Test(
        "a wrong parameter is refused with its name and what it takes",
        arguments: [
            ("/api/v1/items", 400, "'source' is missing"),
            ("/api/v1/items?source=", 400, "'source' must not be empty"),
            ("/api/v1/items?source=lav", 404, "there is no source 'lav'; did you mean 'lab'?"),
            ("/api/v1/events?limit=0", 400, "'limit' takes a whole number from 1 to 1000"),
            ("/api/v1/events?limit=%2B5", 400, "'limit' takes a whole number from 1 to 1000"),
            ("/api/v1/events?type=exploded", 400, "'type' takes appeared, changed, disappeared"),
            ("/api/v1/events?since=yesterday", 400, "'since' takes a time such as 2026-11-22T08:23:00Z"),
            ("/api/v1/events?limit=1&limit=2", 400, "'limit' occurs more than once"),
            ("/api/v1/events?lmit=1", 400, "unknown parameter 'lmit'"),
            ("/api/v1/sources?x=1", 400, "unknown parameter 'x'; there is none"),
            (
                "/api/v1/items?source=\(APIRoutesTests.long)", 404,
                "there is no source \(quoted(APIRoutesTests.long))"
            ),
            (
                "/api/v1/items?\(APIRoutesTests.long)=1", 400,
                "unknown parameter \(quoted(APIRoutesTests.long))"
            ),
        ])
    func refused(target: String, status: Int, detail: String) async throws {
        let response = try await ask(target)
        let problem = try JSON(parsing: Array(response.text.utf8))
        #expect(response.status == status && response.contentType == "application/problem+json")
        #expect(problem["detail"]?.string?.hasPrefix(detail) == true, "\(response.text)")
        #expect(problem["status"] == .number(status))
    }

    @Test(
        "health checks: the process answers, and polls are stored or not",
        arguments: [
            (Bool?.some(false), 200, "ok\n"), (true, 503, "nothing is stored, although polls are due\n"),
            (nil, 503, "the journal cannot be read\n"),
        ])
    func checks(isStalled: Bool?, status: Int, text: String) async throws {
        var tests = self
        tests.isStalled = isStalled
        let ready = try await tests.ask("/readyz")
        #expect(ready.status == status && ready.text == text)
        #expect(try await tests.ask("/healthz").status == 200)
        let metrics = try await tests.ask("/metrics")
        #expect(metrics.contentType == "text/plain; version=0.0.4; charset=utf-8")
        #expect(metrics.text.contains("vedette_build_info{version=\"1.2\"} 1\n"))
    }

    @Test(
        "while the journal does not answer, /readyz says so after two seconds, then at once, until it answers again"
    )
    func silentJournal() async throws {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        let begun = Mutex(0)
        let readiness = Readiness(clock) {
            begun.withLock { $0 += 1 }
            for await answer in answers { return answer }
            return nil
        }
        async let first = readiness.state()
        async let second = readiness.state()
        try await until { await readiness.asked == 2 && clock.sleepers == 1 }
        clock.advance(Readiness.limit)
        #expect(await first == .silent)
        #expect(await second == .silent)
        #expect(await readiness.state() == .silent)
        #expect(begun.withLock { $0 } == 1)
        continuation.yield(false)
        try await until { await readiness.isIdle }
        continuation.yield(false)
        #expect(await readiness.state() == .ready)
        continuation.yield(true)
        #expect(await readiness.state() == .stalled)
    }

    // MARK: The stream

    private func stream(_ headers: [HeaderField], _ target: String = "/api/v1/events") async throws -> any PageStream {
        let response = try await ask(target, [HeaderField("Accept", "text/event-stream")] + headers)
        #expect(response.contentType == "text/event-stream; charset=utf-8")
        guard case .stream(let stream) = response.body else { throw NeverHappened() }
        #expect(await part(stream) == "retry: 3000\n: connected\n\n")
        return stream
    }

    private func part(_ stream: any PageStream) async -> String {
        String(decoding: await stream.next() ?? [], as: UTF8.self)
    }

    private func ids(_ part: String) -> [String] {
        part.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test("a stream goes on behind Last-Event-ID, over what is committed later, without gap or repeat")
    func resumed() async throws {
        try commit((1...3).map { Self.event($0) })
        let stream = try await stream([HeaderField("Last-Event-ID", "1")])
        let first = await part(stream)
        #expect(ids(first) == ["2", "3"])
        let stored = journal.events(after: 1, EventFilter(), limit: 1)
        #expect(first.hasPrefix("id: 2\ndata: \(stored[0].json.text)\n\nid: 3\n"))
        async let next = part(stream)
        try commit([Self.event(4)])
        #expect(ids(await next) == ["4"])
        try commit([Self.event(5), Self.event(6)])
        #expect(ids(await part(stream)) == ["5", "6"])
    }

    @Test("a stream without Last-Event-ID begins with the events to come, and holds the events of its filter alone")
    func fresh() async throws {
        try commit([Self.event(1)])
        let stream = try await stream([], "/api/v1/events?source=blog")
        try commit([Self.event(2), Self.event(3, source: "blog"), Self.event(4)])
        #expect(ids(await part(stream)) == ["3"])
    }

    @Test("a quiet stream gets a comment every 15 seconds")
    func quiet() async throws {
        let stream = try await stream([])
        async let next = part(stream)
        try await until { clock.sleepers > 0 }
        clock.advance(ChangeHub.keepAlive)
        #expect(await next == ":\n\n")
    }

    @Test("the task of a stream whose client is gone ends")
    func cancelled() async throws {
        let stream = try await stream([])
        let waiting = Task { await stream.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    // MARK: The feed

    @Test("the feed: escaped text, ids that never change, the newest first, and pages of older events")
    func feed() async throws {
        try commit([Self.event(1)])
        let response = try await ask("/events.atom")
        #expect(response.contentType == "application/atom+xml; charset=utf-8")
        #expect(
            response.text == """
                <?xml version="1.0" encoding="utf-8"?>
                <feed xmlns="http://www.w3.org/2005/Atom">
                <id>urn:vedette:events</id>
                <title>Vedette</title>
                <updated>2026-11-22T08:00:01.000Z</updated>
                <author><name>Vedette</name></author>
                <link rel="self" href="/events.atom"/>
                <entry>
                <id>urn:uuid:00000000-0000-7000-8000-000000000001</id>
                <title>prod &lt;1&gt;: Starting → Ready</title>
                <updated>2026-11-22T08:00:01.000Z</updated>
                <published>2026-11-22T08:00:01.000Z</published>
                <author><name>lab</name></author>
                <category term="changed"/>
                <link href="https://lab.example/59"/>
                <content type="text">server lab · no answer</content>
                </entry>
                </feed>

                """)
        let tag = try #require(response.header("ETag"))
        // A proxy that compresses the feed makes its tag weak.
        for known in [tag, "W/\(tag)", "\"other\", \(tag)", "\"a\",W/\(tag) ", "*"] {
            let response = try await ask("/events.atom", [HeaderField("If-None-Match", known)])
            #expect(response.status == 304, "\(known)")
        }
        let several = [HeaderField("If-None-Match", "\"other\""), HeaderField("if-none-match", tag)]
        #expect(try await ask("/events.atom", several).status == 304)
        for unknown in ["\"other\"", String(tag.dropLast()), "W/\"other\"", ""] {
            let response = try await ask("/events.atom", [HeaderField("If-None-Match", unknown)])
            #expect(response.status == 200, "\(unknown)")
        }
    }

    @Test("every event is on one page of the feed")
    func pages() async throws {
        try commit(
            (0..<120).map { number in
                var event = Self.event(1)
                event.id = Identifier("e\(number)")
                return event
            })
        var (address, ids) = (String?.some("/events.atom"), [String]())
        while let target = address {
            let text = try await ask(target).text
            ids += text.split(separator: "\n").filter { $0.hasPrefix("<id>urn:uuid:") }.map(String.init)
            address = text.split(separator: "\n").first { $0.contains("rel=\"next\"") }.map {
                String($0.split(separator: "\"")[3])
            }
        }
        #expect(ids == (0..<120).reversed().map { "<id>urn:uuid:e\($0)</id>" })
    }

    // MARK: Badges

    @Test("a badge shows the state of an item, escaped, in the colour of its meaning")
    func badge() async throws {
        try store([Item(key: "a/59", title: "<prod>", state: "Ready")])
        let response = try await ask("/badge/lab/a%2F59.svg")
        #expect(response.status == 200 && response.contentType == "image/svg+xml; charset=utf-8")
        #expect(
            response.text == """
                <svg xmlns="http://www.w3.org/2000/svg" width="97" height="20" role="img" aria-label="&lt;prod&gt;: Ready">
                <title>&lt;prod&gt;: Ready</title>
                <rect width="97" height="20" rx="3" fill="#444"/>
                <path d="M50 0h44a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H50z" fill="#1a7f37"/>
                <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
                <text x="6" y="14" textLength="38">&lt;prod&gt;</text>
                <text x="56" y="14" textLength="35">Ready</text>
                </g>
                </svg>

                """)
    }

    @Test("a badge reads the row of its item alone")
    func badgeReading() async throws {
        let journal = ReplaceableJournal()
        let request = try #require(PageRequest(.get, "/badge/lab/59.svg"))
        let routes = api(journal) { () throws(JournalError) in journal.changes() }.routes
        #expect(await Router(routes).respond(to: request).status == 404)
        #expect(journal.use.opened == 1 && journal.use.wholeReads == 0)
    }

    @Test("the kind of a source decides what the colour of a badge means")
    func badgeOfKind() async throws {
        try store([Item(key: "59", title: "web", state: "Started")])
        #expect(try await ask("/badge/lab/59.svg").text == Badge(label: "web", state: "Started", meaning: .busy).svg)
    }

    @Test(
        "a badge of an item that does not exist says so, with 404",
        arguments: ["/badge/lab/none.svg", "/badge/none/59.svg"])
    func noBadge(target: String) async throws {
        let response = try await ask(target)
        #expect(response.status == 404 && response.text.contains(">unknown</text>"))
    }

    // MARK: The document

    @Test("the OpenAPI document has each route with its parameters, and no other")
    func document() async throws {
        let response = try await ask("/api/v1/openapi.json")
        let document = try JSON(parsing: Array(response.text.utf8))
        #expect(document["openapi"] == .string("3.1.0"))
        let paths = document["paths"]?.members ?? []
        #expect(paths.map(\.name) == api.routes.map(\.pattern))
        func operation(_ path: JSON.Member) -> JSON? { path.value["get"] ?? path.value["post"] }
        #expect(Set(paths.compactMap { operation($0)?["operationId"]?.string }).count == paths.count)
        #expect(paths.filter { $0.value["post"] != nil }.map(\.name) == ["/api/v1/probe", "/api/v1/test"])
        for (route, path) in zip(api.table, paths) {
            let parameters = operation(path)?["parameters"]?.array ?? []
            #expect(parameters.compactMap { $0["name"]?.string } == route.parameters.map(\.name))
            let inPath = parameters.filter { $0["in"] == .string("path") }.compactMap { $0["name"]?.string }
            #expect(
                inPath
                    == route.pattern.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                        String($0.dropFirst().dropLast())
                    })
        }
    }

    @Test("what the API returns is as the document has it")
    func schemas() async throws {
        let event = Self.event(1)
        try store([try #require(event.item)])
        try commit([event], deliveries: [delivery(1, event)])
        _ = journal.add(
            Silence(
                rule: "ready", source: "lab", item: "59", until: TestClock.start.advanced(by: .seconds(60)),
                untilState: "Ready", sink: "k", drops: true, created: TestClock.start))
        let targets = [
            "Source": "/api/v1/sources", "Item": "/api/v1/items?source=lab", "Rule": "/api/v1/rules",
            "Delivery": "/api/v1/deliveries", "Silence": "/api/v1/silences", "Event": "/api/v1/events",
        ]
        for (name, target) in targets {
            let rows = try await rows(target)
            #expect(!rows.isEmpty, "\(target)")
            for row in rows { check(row, APISchemas.json[name], name) }
        }
        let data = try await rows("/api/v1/events").first?["data"]
        check(try #require(data), APISchemas.json["EventData"], "EventData")
    }

    private func check(_ row: JSON, _ schema: JSON?, _ name: String) {
        let known = Set((schema?["properties"]?.members ?? []).map(\.name))
        let names = Set((row.members ?? []).map(\.name))
        #expect(names.subtracting(known).isEmpty, "\(name): \(names.subtracting(known))")
        let required = Set((schema?["required"]?.array ?? []).compactMap(\.string))
        #expect(required.isSubset(of: names), "\(name): \(required.subtracting(names))")
        for member in row.members ?? [] {
            let type = schema?["properties"]?[member.name]?["type"]?.string
            switch member.value {
            case .string: #expect(type == "string", "\(name).\(member.name)")
            case .number: #expect(type == "integer" || type == "number", "\(name).\(member.name)")
            case .bool: #expect(type == "boolean", "\(name).\(member.name)")
            case .array: #expect(type == "array", "\(name).\(member.name)")
            case .object: #expect(type == "object" || type == nil, "\(name).\(member.name)")
            case .null: Issue.record("\(name).\(member.name) is null")
            }
        }
    }
}
