// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

@Suite("The page")
struct PageTests {
    private struct FixedClock: Clock {
        func now() -> Moment {
            Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), boot: BootTime(milliseconds: 1000))
        }

        func sleep(until deadline: BootTime) async throws(CancellationError) {}
    }

    private let journal = MemoryJournal()

    private var render: Render {
        Render(
            now: FixedClock().now().wall,
            text: PageText(
                clock: { time, _ in time.rfc3339 }, localized: { text, _ in text }, happening: { _ in [] },
                meaning: { _, _ in nil }, outcome: { status, _ in (status.state.rawValue, "") }),
            formToken: "f", back: "/")
    }

    private func page(
        _ configuration: ConfigurationFacts? = nil, access: PageAccess = PageAccess(),
        durations: [Double] = [0.25, 0.5, 0.125]
    ) -> StatusPage {
        let hub = ChangeHub(
            { () throws(JournalError) in AsyncStream { $0.finish() } }, clock: FixedClock(),
            log: LogLines())
        return page(configuration, durations: durations, hub: hub) { access }
    }

    private func page(
        _ configuration: ConfigurationFacts? = nil, durations: [Double] = [], hub: ChangeHub,
        access: @escaping @Sendable () -> PageAccess
    ) -> StatusPage {
        let facts =
            configuration ?? ConfigurationFacts(sources: [], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
        let clock = FixedClock()
        let sources = StatusPage.Sources(
            journal: journal, configuration: { facts },
            status: { [journal] facts async throws(JournalError) in
                try await StatusFacts.read(
                    journal, facts, now: clock.now().wall, today: clock.now().wall, age: { _ in nil })
            },
            polls: PollFigures(inFlight: { 3 }, streams: { 1 }, durations: { _ in durations }),
            text: PageText(
                clock: { time, _ in time.rfc3339 }, localized: { text, _ in text },
                happening: { [PageText.Piece($0.kind.word)] }, meaning: { state, _ in StateMeaning(of: state) },
                outcome: { status, _ in (status.state.rawValue, " for \(status.delivery.message.sink)") }),
            clock: clock)
        return StatusPage(
            sources, hub: hub, access: { access() }, sign: { Array($0.reversed()) + $1.reversed() },
            trials: TrialService(FakeTrials(), clock: clock, configuration: { facts }))
    }

    private func get(_ page: StatusPage, _ target: String, headers: [HeaderField] = []) async throws -> (
        response: PageResponse, text: String
    ) {
        let all = [HeaderField("Host", "localhost"), HeaderField("Accept", "text/html")] + headers
        let response = await page.respond(to: try #require(PageRequest(.get, target, headers: all)))
        guard case .bytes(let bytes) = response.body else { return (response, "") }
        return (response, String(decoding: bytes, as: UTF8.self))
    }

    /// Sends a form as a browser does, with the token that the page shows.
    private func post(_ page: StatusPage, _ target: String, _ fields: String) async throws -> PageResponse {
        let token = try #require(await formToken(page))
        let request = try #require(
            PageRequest(
                .post, target, headers: [HeaderField("Host", "localhost"), HeaderField("Origin", "http://localhost")],
                body: Array("form=\(token)&\(fields)".utf8)))
        return await page.respond(to: request)
    }

    private func formToken(_ page: StatusPage) async throws -> String? {
        _ = journal.add(Silence(rule: "any", created: FixedClock().now().wall))
        let text = try await get(page, "/silences").text
        let mark = "name=\"form\" value=\""
        return text.firstRange(of: mark).map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }

    @Test("every page is an HTML document with the headers that keep it safe")
    func pages() async throws {
        for target in ["/", "/events", "/rules", "/silences", "/outbox"] {
            let (response, text) = try await get(page(), target)
            #expect(response.status == 200, "\(target): \(text)")
            #expect(text.hasPrefix("<!DOCTYPE html>") && text.hasSuffix("</html>\n"), "\(target)")
            for name in [
                "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cache-Control",
            ] {
                #expect(response.headers.count { $0.name == name } == 1, "\(target): \(name)")
            }
        }
        #expect(try await get(page(), "/sources/none").response.status == 404)
        #expect(try await get(page(), "/events/none").response.status == 404)
        #expect(try await get(page(), "/none").response.status == 404)
    }

    @Test(
        "a method that an address does not take is answered with those that it takes, also without the token of a form")
    func methods() async throws {
        for (method, target, allowed) in [
            (PageRequest.Method.post, "/", "GET, HEAD"), (.other, "/sources/lab", "GET, HEAD"),
            (.get, "/do/mute", "POST"), (.other, "/login", "POST"),
        ] {
            let request = try #require(PageRequest(method, target, headers: [HeaderField("Host", "localhost")]))
            let response = await page().respond(to: request)
            #expect(response.status == 405, "\(target)")
            #expect(response.header("Allow") == allowed, "\(target)")
        }
        let secret = page(access: PageAccess(token: Secret("0123456789abcdef")))
        let request = try #require(PageRequest(.other, "/", headers: [HeaderField("Host", "localhost")]))
        #expect(await secret.respond(to: request).status == 401)
    }

    @Test("the style sheet and the script may be kept, and their address changes with them")
    func assets() async throws {
        let (response, text) = try await get(page(), "/style.css")
        #expect(response.contentType == "text/css; charset=utf-8" && text.contains(":root"))
        #expect(
            response.headers.filter { $0.name == "Cache-Control" }.map(\.value) == [
                "public, max-age=31536000, immutable"
            ])
        #expect(try await get(page(), "/").text.contains("/script.js?v=\(Assets.version)"))
    }

    @Test("a page with a token shows a form for it and nothing else, and a program gets one sentence")
    func token() async throws {
        let page = page(access: PageAccess(token: Secret("0123456789abcdef")))
        let (response, text) = try await get(page, "/outbox")
        #expect(response.status == 401 && text.contains("type=\"password\"") && !text.contains("Outbox"))
        let plain = await page.respond(
            to: try #require(PageRequest(.get, "/none", headers: [HeaderField("Host", "localhost")])))
        #expect(plain.status == 401)
        let challenges = plain.headers.filter { $0.name == "WWW-Authenticate" }.map(\.value)
        #expect(
            challenges == ["Bearer realm=\"vedette\"", "Basic realm=\"vedette\", charset=\"UTF-8\""])
        // Where a browser would ask in a window of its own, the form is not seen.
        #expect(
            response.headers.filter { $0.name == "WWW-Authenticate" }.map(\.value) == [
                "Bearer realm=\"vedette\""
            ])
        func login(_ token: String) async throws -> PageResponse {
            let headers = [HeaderField("Host", "localhost"), HeaderField("Origin", "http://localhost")]
            return await page.respond(
                to: try #require(PageRequest(.post, "/login", headers: headers, body: Array("token=\(token)".utf8))))
        }
        #expect(try await login("0123456789abcdeX").status == 401)
        let opened = try await login("0123456789abcdef")
        let cookie = try #require(opened.headers.first { $0.name == "Set-Cookie" }?.value)
        #expect(opened.status == 303)
        let shown = try await get(
            page, "/outbox", headers: [HeaderField("Cookie", String(cookie.prefix { $0 != ";" }))])
        #expect(shown.response.status == 200)
    }

    @Test("the events of a page follow the events of the page before, and the last page has the rest")
    func pagesOfEvents() async throws {
        let events = (1...250).map { number in
            let id = Identifier("00000000-0000-7000-8000-\(String(1_000_000_000_000 + number).dropFirst())")
            return Event(
                id: id, kind: .changed, time: FixedClock().now().wall, source: "lab", sourceKind: "json", poll: "p")
        }
        _ = try journal.commit([PollRecord(record: nil, events: events)], within: .none)
        for (number, expected) in [(1, 151...250), (2, 51...150), (3, 1...50)] {
            let text = try await get(page(), "/events?page=\(number)").text
            let shown = (1...250).filter { text.contains("href=\"/events/\($0)\"") }
            #expect(shown == Array(expected))
        }
        #expect(try await get(page(), "/events?page=4").text.contains("href=\"/events/1\"") == false)
        // It is about no item, so that the heading is its source, and no path stands above.
        let single = try await get(page(), "/events/1").text
        #expect(single.contains("<h1>") && !single.contains("class=\"path\""))
    }

    @Test("the overview shows the watchers that share a journal, with what each holds")
    func watchers() throws {
        let now = FixedClock().now().wall
        var facts = StatusFacts(now: now)
        facts.watchers = [
            RegisteredWatcher(
                number: 1, name: "north", process: WatcherProcess(pid: 7, host: "db1"), started: now,
                configuration: "c",
                configured: 1, left: .seconds(10), sources: 120, sinks: 2),
            RegisteredWatcher(
                number: 2, name: "<south>", process: WatcherProcess(pid: 8, host: "db2"), started: now,
                configuration: "c", configured: 1, left: .seconds(2), sources: 119, sinks: 1),
        ]
        let text = PageText(
            clock: { time, _ in time.rfc3339 }, localized: { text, _ in text }, happening: { _ in [] },
            meaning: { _, _ in nil }, outcome: { status, _ in (status.state.rawValue, "") })
        let render = Render(now: now, text: text, formToken: "f", back: "/")
        facts.watcher = StatusFacts.Watcher(process: WatcherProcess(pid: 7), since: nil)
        facts.lateness = ["north": PollLateness.Report(p99: 0.025, polls: 9, at: now)]
        let html = OverviewView(
            render: render, facts: facts, polls: .init(inFlight: 3, streams: 1), events: [], page: 1
        ).content.text
        #expect(
            html.contains(
                "<td>north <span class=\"faint wide\">process 7 on db1</span></td><td>120</td><td>2</td><td>25 ms</td>")
        )
        #expect(html.contains("&lt;south&gt; "))
        #expect(
            html.contains(
                "process 8 on db2</span> <span class=\"busy\">late</span></td><td>119</td><td>1</td><td></td>"))
        #expect(html.contains("3 polls in flight, 1 stream open</li>"))
        facts.watchers = []
        #expect(
            !OverviewView(render: render, facts: facts, polls: .init(inFlight: 3, streams: 1), events: [], page: 1)
                .content.text.contains("Watchers"))
    }

    @Test("a poll that is due is shown as due now, not as one of the past, and the script keeps it so")
    func due() {
        let now = FixedClock().now().wall
        var facts = StatusFacts(now: now)
        facts.watcher = StatusFacts.Watcher(process: WatcherProcess(pid: 7), since: nil)
        facts.sources = [("late", -1), ("next", 12)].map { name, seconds in
            var record = SourceRecord(name: name)
            record.health.lastPollAt = now.advanced(by: .seconds(-2))
            record.health.failures = 1
            record.due = now.advanced(by: .seconds(seconds))
            return SourceStatus(
                name: name, kindName: "json", every: .seconds(1), isInsecure: false, record: record)
        }
        let html = OverviewView(
            render: render, facts: facts, polls: .init(inFlight: 0, streams: 0), events: [], page: 1
        ).content.text
        #expect(html.contains(">2 s ago</time></td><td><time data-age data-due "), "\(html)")
        #expect(html.contains(">now</time></td></tr>") && html.contains(">in 12 s</time></td></tr>"), "\(html)")
        #expect(!html.contains(">1 s ago<"), "\(html)")
    }

    @Test("the page of a source names the address to which its server has moved it, until it is configured")
    func moved() async throws {
        var lab = source("lab")
        var record = SourceRecord(name: "lab")
        (record.urlDigest, record.movedTo) = (lab.urlDigest, "https://b.example/new")
        _ = try journal.commit([PollRecord(record: record)], within: .none)
        func text(_ source: Source) async throws -> String {
            let facts = ConfigurationFacts(
                sources: [source], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
            return try await get(page(facts), "/sources/lab").text
        }
        #expect(try await text(lab).contains("moved for good to https://b.example/new"))
        lab.url = "https://b.example/new"
        #expect(try await !text(lab).contains("moved for good"))
    }

    @Test("the page of a window shows what came on the last day though it left since; the page of a list what is there")
    func left() async throws {
        let now = FixedClock().now().wall
        func row(_ key: String, _ hours: Int, isThere: Bool = false) -> StoredItem {
            var row = StoredItem(Item(key: key), digest: 1, stateSince: now.advanced(by: .seconds(-hours * 3600)))
            row.absentSince = isThere ? nil : now
            return row
        }
        var record = SourceRecord(name: "lab")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: now)
        let rows = [row("there", 50, isThere: true), row("announced", 2), row("old", 30)]
        _ = try journal.commit([PollRecord(record: record, writes: rows)], within: .none)
        func keys(_ mode: ReadingMode) async throws -> [String] {
            let facts = ConfigurationFacts(
                sources: [source("lab", mode: mode)], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
            let text = try await get(page(facts), "/sources/lab").text
            return ["there", "announced", "old"].filter { text.contains(">\($0)</a>") }
        }
        #expect(try await keys(.window) == ["there", "announced"])
        #expect(try await keys(.list) == ["there"])
    }

    @Test(
        "what the page says of problems and polls is right with one and with three",
        arguments: [
            (1, "1 problem that may pass by itself"), (3, "3 problems that may pass by themselves"),
        ])
    func counts(count: Int, verdict: String) async throws {
        var facts = StatusFacts(now: FixedClock().now().wall)
        facts.watcher = StatusFacts.Watcher(process: WatcherProcess(pid: 7), since: nil)
        facts.sources = (1...count).map { number in
            var record = SourceRecord(name: "s\(number)")
            record.health.failures = 1
            return SourceStatus(
                name: "s\(number)", kindName: "json", every: .seconds(1), isInsecure: false, record: record)
        }
        let html = OverviewView(
            render: render, facts: facts, polls: .init(inFlight: 0, streams: 0), events: [], page: 1
        ).content.text
        #expect(html.contains(">\(verdict)</strong>"), "\(html)")
        let configuration = ConfigurationFacts(
            sources: [source("lab")], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
        let durations = [Double](repeating: 0.5, count: count)
        let text = try await get(page(configuration, durations: durations), "/sources/lab").text
        #expect(text.contains("<li>last poll took 500 ms "), "\(text)")
        // Of one poll there is nothing to draw.
        let label = "aria-label=\"Time of the last 3 polls, at most 500 ms\""
        #expect(text.contains(label) == (count == 3) && text.contains("<polyline") == (count == 3), "\(text)")
    }

    @Test("only a sink has a button to retry; it is named right whether one message waits or three")
    func retryButtons() throws {
        var facts = StatusFacts(now: FixedClock().now().wall)
        facts.watchers = [
            RegisteredWatcher(
                number: 1, name: "north", process: WatcherProcess(pid: 7), started: facts.now, configuration: "c",
                configured: 1, left: .seconds(2), sources: 1, sinks: 1)
        ]
        let html = OverviewView(
            render: render, facts: facts, polls: .init(inFlight: 0, streams: 0), events: [], page: 1
        ).content.text
        #expect(html.contains("late") && !html.contains("Retry"), "\(html)")
    }

    /// Sends the form that asks for the token.
    private func signIn(_ page: StatusPage, _ fields: String) async throws -> PageResponse {
        let headers = [
            HeaderField("Host", "localhost"), HeaderField("Origin", "http://localhost"),
            HeaderField("Accept", "text/html"),
        ]
        return await page.respond(
            to: try #require(PageRequest(.post, "/login", headers: headers, body: Array(fields.utf8))))
    }

    @Test("the token opens the page that was asked for, also after a wrong one, and no other site")
    func afterLogin() async throws {
        let page = page(access: PageAccess(token: Secret("0123456789abcdef")))
        let target = "/sources/lab/item?key=a%2Fb"
        let field = "<input type=\"hidden\" name=\"back\" value=\"\(target)\">"
        let (asked, form) = try await get(page, target + "&notice=polled")
        #expect(asked.status == 401 && form.contains(field), "\(form)")
        let back = WebURL.encoded(target)
        let wrong = try await signIn(page, "token=wrong&back=\(back)")
        #expect(wrong.status == 401 && wrong.text.contains(field), "\(wrong.text)")
        let right = try await signIn(page, "token=0123456789abcdef&back=\(back)")
        #expect(right.status == 303 && right.header("Location") == target && right.header("Set-Cookie") != nil)
        for hostile in ["", "&back=https%3A%2F%2Fevil.example.com", "&back=%2F%2Fevil.example.com", "&back=x"] {
            #expect(try await signIn(page, "token=0123456789abcdef\(hostile)").header("Location") == "/", "\(hostile)")
        }
    }

    @Test("a link of another site, with which no cookie comes, opens the page once more as the page's own")
    func linkOfOtherSite() async throws {
        let page = page(access: PageAccess(token: Secret("0123456789abcdef")))
        func text(_ target: String, site: String = "cross-site") async throws -> String {
            let (response, text) = try await get(
                page, target,
                headers: [
                    HeaderField("Sec-Fetch-Site", site), HeaderField("Sec-Fetch-Mode", "navigate"),
                    HeaderField("Sec-Fetch-Dest", "document"),
                ])
            #expect(response.status == 401 && text.contains("name=\"token\""))
            return text
        }
        let refresh = "<meta http-equiv=\"refresh\" content=\"0;url="
        #expect(try await text("/events/1").contains("\(refresh)/events/1?notice=opened\">"))
        #expect(try await text("/sources/lab?page=2").contains("\(refresh)/sources/lab?page=2&amp;notice=opened\">"))
        #expect(try await !text("/events/1?notice=opened").contains(refresh), "once")
        #expect(try await !text("/events/1", site: "same-origin").contains(refresh))
        #expect(try await !text("/events/1", site: "none").contains(refresh))
        #expect(try await !get(page, "/events/1").text.contains(refresh))
    }

    @Test(
        "the script opens its stream again, ever more rarely, when a browser gives up; at 401 it asks for the token"
    )
    func streamIsOpenedAgain() {
        for line in [
            "let stream = null, retry = 0, pause = 5000;",
            "stream.onopen = () => { pause = 5000; show('live', true); };",
            "if (stream.readyState !== EventSource.CLOSED) return;",
            "retry = setTimeout(() => { open(); refresh(); }, pause);", "pause = Math.min(2 * pause, 60000);",
            "if (response.status === 401) { location.reload(); return; }",
        ] {
            #expect(Assets.script.contains(line))
        }
        #expect(Assets.script.contains("clearTimeout(retry);"), "a hidden page opens none")
    }

    @Test(
        "a stream ends when the page has another token than the stream, and one with the new token goes on"
    )
    func revokedToken() async throws {
        let access = Mutex(PageAccess(token: Secret("0123456789abcdef")))
        let (changes, change) = AsyncStream<Void>.makeStream()
        let hub = ChangeHub(
            { () throws(JournalError) in changes }, clock: StillClock(), log: LogLines())
        let page = page(hub: hub) { access.withLock { $0 } }
        func stream(_ token: String) async throws -> any PageStream {
            let headers = [
                HeaderField("Host", "localhost"), HeaderField("Authorization", "Bearer \(token)"),
            ]
            let response = await page.respond(
                to: try #require(PageRequest(.get, "/live", headers: headers)))
            guard case .stream(let stream) = response.body else { throw NeverHappened() }
            #expect(await stream.next() != nil)
            return stream
        }
        let old = try await stream("0123456789abcdef")
        access.withLock { $0.token = Secret("fedcba9876543210") }
        let new = try await stream("fedcba9876543210")
        await hub.check()
        #expect(await old.next() == nil)
        #expect(await new.next() == Array(":\n\n".utf8))
        change.finish()
    }

    @Test("the page of a source draws how long its last polls took")
    func durations() async throws {
        let facts = ConfigurationFacts(
            sources: [source("lab")], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
        let text = try await get(page(facts), "/sources/lab").text
        #expect(text.contains("last poll took 125 ms <svg class=\"spark\""))
        #expect(text.contains("aria-label=\"Time of the last 3 polls, at most 500 ms\""))
    }

    @Test("the outbox links a message to its event, and a digest to the page that tells its events and deliveries")
    func outboxLinks() async throws {
        let now = FixedClock().now().wall
        func delivery(_ event: Event, _ title: String) -> Delivery {
            let message = Message(id: title, rule: "r", sink: "k", event: event, title: title, text: "")
            return Delivery(message: message, created: now, due: now)
        }
        func event(_ id: String, _ kind: Event.Kind) -> Event {
            Event(id: Identifier(id), kind: kind, time: now, source: "lab", sourceKind: "json", poll: "p")
        }
        let appeared = event("00000000-0000-7000-8000-000000000001", .appeared)
        var digest = event("00000000-0000-7000-8000-000000000002", .digest)
        digest.summary = Event.Summary(events: [appeared.id.description], count: 3, lines: ["<one>"])
        let deliveries = [delivery(appeared, "one"), delivery(digest, "many")]
        _ = try journal.commit(
            [PollRecord(record: nil, events: [appeared], deliveries: deliveries)], within: .none)
        let text = try await get(page(), "/outbox").text
        #expect(text.contains("<td class=\"any\"><a href=\"/events/1\">one</a></td>"))
        #expect(text.contains("<td class=\"any\"><a href=\"/events/\(digest.id)\">many</a></td>"))
        let view = try await get(page(), "/events/\(digest.id)")
        #expect(view.response.status == 200 && view.text.contains("<h1>many</h1>"), "\(view.text)")
        #expect(view.text.contains("The rule <b>r</b> made this message, and is no longer configured."))
        #expect(view.text.contains("<h2>3 events</h2>") && view.text.contains("<a href=\"/events/1\">lab</a>"))
        #expect(
            view.text.contains(">and 2 more</p>") && view.text.contains("<span class=\"word\">pending</span> for k"))
    }

    @Test("the page of the rules counts what each matched, sent and suppressed")
    func ruleCounts() async throws {
        let event = Event(
            id: Identifier("00000000-0000-7000-8000-000000000001"), kind: .changed, time: FixedClock().now().wall,
            source: "lab", sourceKind: "json", poll: "p")
        let deliveries = ["k", "l"].map { sink in
            Delivery(
                message: Message(id: "m\(sink)", rule: "ready", sink: sink, event: event, title: "t", text: "x"),
                created: FixedClock().now().wall, due: FixedClock().now().wall)
        }
        let committed = try journal.commit(
            [PollRecord(record: nil, events: [event], deliveries: deliveries)], within: .none)
        let sent = try #require(committed.polls.first?.deliveries.first)
        try journal.record(
            [
                Attempt(
                    delivery: sent.id, state: .sent, attempts: 1, due: sent.due, at: FixedClock().now().wall,
                    reason: nil)
            ],
            within: .none)
        let rules = ["ready", "never"].map { Rule(name: $0, when: .any([.appears]), notify: [.init(sink: "k")]) }
        let facts = ConfigurationFacts(
            sources: [], sinks: [], rules: rules, editedAt: Timestamp(milliseconds: 0))
        let text = try await get(page(facts), "/rules").text
        #expect(text.contains("<td>1 matched, 1 sent</td>"))
        #expect(text.contains("<td><span class=\"faint\">none</span></td>"))
    }

    @Test("a rule with more messages than are counted says so, and a digest to two sinks is one match")
    func partialCounts() {
        let events = (0...RuleCount.limit).map { RuleCount.Row(event: Int64($0), sink: "k", state: .suppressed) }
        let others = ["k", "l"].map { RuleCount.Row(event: nil, sink: $0, state: .sent) }
        let count = RuleCount(events: events, others: others)
        #expect(count.isPartial && count.matched == 1001 && count.suppressed == 1000 && count.sent == 2)
        #expect(
            RulesView.numbers(count).text
                == "1001 matched, 2 sent, 1000 suppressed <span class=\"faint\">of the newest 1000</span>")
    }

    @Test("a button changes the journal as its command does, and tells the outcome")
    func buttons() async throws {
        let page = page()
        let silenced = try await post(page, "/do/snooze", "source=lab&item=a%2Fb&for=1h&back=%2Frules")
        #expect(silenced.headers.contains(HeaderField("Location", "/rules?notice=silenced")))
        let silence = try #require(journal.silences().last)
        #expect(silence.source == "lab" && silence.item == "a/b")
        #expect(silence.until == FixedClock().now().wall.advanced(by: .seconds(3600)))
        let ended = try await post(page, "/do/unsilence", "id=\(silence.id)")
        #expect(ended.headers.contains(HeaderField("Location", "/?notice=unsilenced")))
        #expect(journal.silences().allSatisfy { $0.id != silence.id })
        let again = try await post(page, "/do/unsilence", "id=\(silence.id)")
        #expect(again.headers.contains(HeaderField("Location", "/?notice=gone")))
        for (action, fields) in [
            ("snooze", "for=1h"), ("snooze", "source=lab&for=soon"), ("accept", "source=unknown"), ("retry", ""),
            ("drop", "id=x"), ("acknowledge", "rule=r"), ("format-disk", ""),
        ] {
            let refused = try await post(page, "/do/\(action)", fields)
            #expect(refused.headers.contains(HeaderField("Location", "/?notice=refused")), "\(action) \(fields)")
        }
        let (response, text) = try await get(page, "/?notice=silenced")
        #expect(response.status == 200 && text.contains("Silenced."))
        #expect(try await !get(page, "/?notice=%3Cscript%3E").text.contains("role=\"status\">&lt;"))
    }

    @Test("a match that was told has a button that acknowledges it, on the page of the rules and on its own")
    func acknowledge() async throws {
        let now = FixedClock().now().wall
        try journal.tellMatch(at: now)
        let rules = [Rule(name: "ready", when: .any([.appears]), notify: [.init(sink: "k")])]
        let facts = ConfigurationFacts(
            sources: [], sinks: [], rules: rules, editedAt: Timestamp(milliseconds: 0))
        let page = page(facts)
        #expect(try await get(page, "/rules").text.contains("<button>Acknowledge</button>"))
        let answer = try await post(page, "/do/acknowledge", "rule=ready&match=match&by=anna&note=disk")
        #expect(answer.headers.contains(HeaderField("Location", "/?notice=acknowledged")))
        let said = Acknowledgement(match: "match", user: "anna", host: "the page", note: "disk", time: now)
        let subject = Subject(source: "lab", key: "a/b")
        #expect(
            journal.controlRequests().last?.request == .acknowledge(rule: "ready", subject: subject, said))
        let late = try await post(page, "/do/acknowledge", "rule=ready&match=other")
        #expect(late.headers.contains(HeaderField("Location", "/?notice=gone")))
    }

    @Test("a form without the token of the page changes nothing")
    func forgery() async throws {
        let request = try #require(
            PageRequest(
                .post, "/do/mute",
                headers: [HeaderField("Host", "localhost"), HeaderField("Origin", "http://localhost")],
                body: Array("source=lab".utf8)))
        #expect(await page().respond(to: request).status == 403)
        #expect(journal.silences().isEmpty)
    }

    @Test("what a server wrote is shown as text, wherever it stands")
    func hostileTexts() async throws {
        let hostile = "<img src=x onerror=alert(1)>"
        _ = journal.add(
            Silence(rule: hostile, source: hostile, item: hostile, sink: hostile, created: FixedClock().now().wall))
        let text = try await get(page(), "/silences").text
        #expect(!text.contains("<img"))
        #expect(text.contains("&lt;img src=x onerror=alert(1)&gt;"))
    }
}

/// A clock that stands still.
private struct StillClock: Clock {
    func now() -> Moment { Moment(wall: Timestamp(milliseconds: 0), boot: BootTime(milliseconds: 0)) }

    /// Until it is cancelled.
    func sleep(until deadline: BootTime) async throws(CancellationError) {
        guard deadline > now().boot else { return }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }
}

@Suite("Changes")
struct ChangeHubTests {
    @Test("a change reaches every stream, over one watch of the journal, which ends with the last of them")
    func followers() async throws {
        let (changes, change) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        change.onTermination = { _ in end.yield() }
        let hub = ChangeHub({ () throws(JournalError) in changes }, clock: StillClock(), log: LogLines())
        var first = await hub.signals().makeAsyncIterator()
        let second = await hub.signals()
        #expect(await first.next()?.changes == 0)
        change.yield()
        #expect(await first.next()?.changes == 1)
        for await signal in second where signal.changes == 1 { break }
        await hub.stop()
        #expect(await first.next() == nil)
        for await _ in ends { break }
    }

    @Test("the script is told of a change at once, and the stream begins with a time to reconnect")
    func stream() async throws {
        let (changes, change) = AsyncStream<Void>.makeStream()
        let hub = ChangeHub({ () throws(JournalError) in changes }, clock: StillClock(), log: LogLines())
        let stream = ChangeStream(hub, clock: StillClock())
        #expect(await stream.next() == Array("retry: 2000\n\n".utf8))
        change.yield()
        #expect(await stream.next() == Array("event: changed\ndata: 1\n\n".utf8))
        await hub.stop()
        #expect(await stream.next() == nil)
    }
}
