// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

@Suite("Trials from the page", .timeLimit(.minutes(10)))
struct TrialTests {
    private static let token = "0123456789abcdef"
    private let clock = TestClock()

    private func service(_ trials: FakeTrials, sources: [Source] = [source("lab")]) -> TrialService {
        let facts = ConfigurationFacts(
            sources: sources, sinks: [.init(name: "team", kindName: "slack", isInsecure: false)], rules: [],
            editedAt: TestClock.start)
        return TrialService(trials, clock: clock, configuration: { facts })
    }

    private func page(_ trials: FakeTrials, token: String? = TrialTests.token) -> StatusPage {
        let (clock, journal) = (clock, MemoryJournal())
        let facts = ConfigurationFacts(
            sources: [source("lab")], sinks: [.init(name: "team", kindName: "slack", isInsecure: false)], rules: [],
            editedAt: TestClock.start)
        let status: @Sendable (ConfigurationFacts) async throws(JournalError) -> StatusFacts = {
            facts async throws(JournalError) in
            try await StatusFacts.read(
                journal, facts, now: TestClock.start, today: TestClock.start, age: { _ in nil })
        }
        let sources = StatusPage.Sources(
            journal: journal, configuration: { facts }, status: status,
            polls: PollFigures(inFlight: { 0 }, streams: { 0 }, durations: { _ in [] }),
            text: PageText(
                clock: { time, _ in time.rfc3339 }, localized: { text, _ in text }, happening: { _ in [] },
                meaning: { _, _ in nil }, outcome: { status, _ in (status.state.rawValue, "") }),
            clock: clock)
        let hub = ChangeHub({ () throws(JournalError) in journal.changes() }, clock: clock, log: LogLines())
        let service = service(trials)
        let api = APIRoutes(
            journal: journal, hub: hub, clock: clock, version: "1", configuration: { facts }, status: status,
            numbers: { WatcherNumbers(version: "1") }, registry: MetricRegistry(), trials: service,
            meaning: { _, _ in nil })
        let access = PageAccess(token: token.map { Secret($0) })
        return StatusPage(
            sources, hub: hub, access: { access }, sign: { Array($0.reversed()) + $1.reversed() }, trials: service,
            routes: api.routes)
    }

    private static let bearer = HeaderField("Authorization", "Bearer \(token)")

    private func ask(
        _ page: StatusPage, _ method: PageRequest.Method, _ target: String, _ headers: [HeaderField] = [bearer],
        _ body: String = ""
    ) async throws -> PageResponse {
        let all = [HeaderField("Host", "localhost")] + headers
        return await page.respond(
            to: try #require(PageRequest(method, target, headers: all, body: Array(body.utf8))))
    }

    /// Sends a form of the page as a browser does.
    private func send(_ page: StatusPage, _ fields: String) async throws -> PageResponse {
        let text = try await ask(page, .get, "/try").text
        let mark = "name=\"form\" value=\""
        let start = try #require(text.firstRange(of: mark)).upperBound
        let token = text[start...].prefix { $0 != "\"" }
        return try await ask(
            page, .post, "/try", [Self.bearer, HeaderField("Origin", "http://localhost")], "form=\(token)&\(fields)")
    }

    // MARK: Who may try

    @Test("without a token nothing can be tried, also on this machine, and the page says why")
    func tokenless() async throws {
        let trials = FakeTrials()
        let open = page(trials, token: nil)
        let shown = try await ask(open, .get, "/try", [])
        #expect(shown.status == 403 && shown.text.contains("Trying needs a token") && !shown.text.contains("<form"))
        let origin = [HeaderField("Origin", "http://localhost")]
        let form = "form=\(open.formToken)&what=address&address=https://h.example"
        let refused = try await ask(open, .post, "/try", origin, form)
        #expect(refused.status == 403 && refused.text.contains("settings.listen.token"))
        for target in ["/api/v1/probe", "/api/v1/test"] {
            let refused = try await ask(open, .post, target, [Self.bearer], #"{"address": "https://h.example"}"#)
            #expect(refused.status == 403 && refused.text.contains("settings.listen.token"), "\(target)")
        }
        #expect(trials.questions == [])
    }

    @Test("nothing but a form of the page, or a bearer token, tries anything; reading does not")
    func strangers() async throws {
        let trials = FakeTrials()
        let page = page(trials)
        let own = HeaderField("Origin", "http://localhost")
        let form = "form=\(page.formToken)&what=address&address=https://h.example"
        let basic = HeaderField("Authorization", "Basic \(Base64.encode("any:\(Self.token)".utf8))")
        let body = #"{"address": "https://h.example"}"#
        let other = HeaderField("Sec-Fetch-Site", "cross-site")
        let navigation = [HeaderField("Sec-Fetch-Mode", "navigate"), HeaderField("Sec-Fetch-Dest", "document")]
        let refused: [(String, [HeaderField], String, Int)] = [
            ("/try", [own], form, 401),
            ("/try", [Self.bearer], form, 403),
            ("/try", [Self.bearer, HeaderField("Origin", "http://evil.example")], form, 403),
            ("/try", [Self.bearer, own], "what=address&address=https://h.example", 403),
            ("/try", [Self.bearer, own, other], form, 403),
            ("/api/v1/probe", [], body, 401),
            // A browser sends this by itself once it knows it.
            ("/api/v1/probe", [basic], body, 403),
            ("/api/v1/probe", [basic, own], body, 403),
            ("/api/v1/probe", [Self.bearer, other], body, 403),
            ("/api/v1/probe", [Self.bearer, other] + navigation, body, 403),
            ("/api/v1/test", [basic], #"{"rule": "x"}"#, 403),
        ]
        for (target, headers, body, status) in refused {
            let response = try await ask(page, .post, target, headers, body)
            #expect(response.status == status, "\(target), \(headers): \(response.text)")
        }
        #expect(try await ask(page, .get, "/try?what=address&address=https://h.example").status == 200)
        #expect(try await ask(page, .get, "/api/v1/probe?address=https://h.example").status == 405)
        #expect(trials.questions == [])
    }

    // MARK: What is tried

    @Test("private addresses are tried where a source has the host and port")
    func places() async throws {
        var blog = source("blog")
        blog.url = "http://10.0.0.7:8080/feed"
        var file = source("file")
        file.url = "file:///etc/passwd"
        let trials = FakeTrials()
        _ = try? await service(trials, sources: [source("lab"), blog, file]).address(" https://h.example/x ")
        #expect(
            trials.questions
                == [.init(text: "https://h.example/x", places: ["lab.example:443", "10.0.0.7:8080"])])
    }

    @Test(
        "what is no address of the web is not tried",
        arguments: [
            "", "h.example", "file:///etc/passwd", "ftp://h.example/", "gopher://h.example/", "dict://h.example/",
            "https://user:password@h.example/", "https://", "http:///x", "unix:/run/x.sock", "https://h.example/a b",
            "https://h.example/\r\nX: y", "javascript:alert(1)",
        ])
    func addresses(text: String) async throws {
        let trials = FakeTrials()
        await #expect(throws: TrialProblem.self) { try await service(trials).address(text) }
        #expect(trials.questions == [])
    }

    @Test("the period of a rule's events is that of the form; what is no period is refused")
    func periods() async throws {
        let trials = FakeTrials()
        let service = service(trials)
        _ = try await service.rule("name: x", since: "24h")
        #expect(trials.questions == [.init(text: "name: x", length: 86_400)])
        for period in ["", "0s", "-1d", "soon"] {
            await #expect(throws: TrialProblem.self) { try await service.rule("name: x", since: period) }
        }
        await #expect(throws: TrialProblem.self) { try await service.rule(" \n", since: "1h") }
        #expect(trials.questions.count == 1)
    }

    // MARK: One at a time, not for long

    @Test("one trial runs at a time, and the next may begin when it is over")
    func oneAtATime() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let trials = FakeTrials { () throws(TrialProblem) in
            for await _ in gate { break }
            return hostileTrial
        }
        let service = service(trials)
        let first = Task { try await service.address("https://h.example") }
        try await until { trials.questions.count == 1 }
        await #expect(throws: TrialProblem.busy) { try await service.address("https://h.example") }
        await #expect(throws: TrialProblem.busy) { try await service.rule("name: x", since: "1h") }
        open.yield()
        #expect(try await first.value.count == 30)
        _ = try await service.rule("name: x", since: "1h")
    }

    @Test("a trial that takes too long is given up and cancelled; the next one waits for its end")
    func late() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let isCancelled = Mutex(false)
        let trials = FakeTrials { () throws(TrialProblem) in
            await withTaskCancellationHandler {
                await Task { for await _ in gate { break } }.value
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
            return hostileTrial
        }
        let service = service(trials)
        let first = Task { try await service.address("https://h.example") }
        try await until { clock.sleepers == 1 && trials.questions.count == 1 }
        clock.advance(.seconds(20))
        await #expect(throws: TrialProblem.late) { try await first.value }
        #expect(isCancelled.withLock { $0 })
        await #expect(throws: TrialProblem.busy) { try await service.address("https://h.example") }
        open.yield()
        try await until { (try? await service.rule("name: x", since: "1h")) != nil }
    }

    @Test("a trial is cancelled with the request that asked for it")
    func cancelled() async throws {
        let (ends, ended) = AsyncStream<Void>.makeStream()
        let trials = FakeTrials { () throws(TrialProblem) in
            let (never, continuation) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(continuation) {}
            ended.yield()
            return hostileTrial
        }
        let service = service(trials)
        let request = Task { try await service.address("https://h.example") }
        try await until { trials.questions.count == 1 }
        request.cancel()
        await #expect(throws: TrialProblem.cancelled) { try await request.value }
        for await _ in ends { break }
    }

    // MARK: The page

    @Test("what is found is shown escaped and cut, with YAML to copy; without a script the page is not loaded again")
    func found() async throws {
        let page = page(FakeTrials { () throws(TrialProblem) in hostileTrial })
        let response = try await send(page, "what=address&address=https%3A%2F%2Fh.example%2F%22%3E")
        #expect(response.status == 200)
        let text = response.text
        #expect(text.contains("value=\"https://h.example/&quot;&gt;\""))
        #expect(text.contains("&lt;script&gt;note&lt;/script&gt;") && !text.contains("<script>note"))
        #expect(text.contains("&lt;b&gt;20&lt;/b&gt;") && !text.contains("&lt;b&gt;21&lt;/b&gt;"))
        #expect(text.contains("and 10 more") && text.contains("\u{FFFD}Ready"))
        #expect(text.contains(String(repeating: "\u{1F600}", count: 200) + "…<"))
        #expect(text.contains("https://h.example/&lt;/pre&gt;&quot;}\n</pre>"))
        #expect(text.contains("data-copy=\"yaml\" hidden>") && !text.contains("http-equiv=\"refresh\""))
        #expect(response.headers.contains { $0.name == "Content-Security-Policy" && $0.value.contains("'none'") })
    }

    @Test("why an address cannot be tried is one sentence, and the form keeps the address")
    func failed() async throws {
        let text = try await send(page(FakeTrials()), "what=address&address=https%3A%2F%2Fh.example").text
        #expect(text.contains("<p class=\"bad\" role=\"alert\">nothing is there.</p>"))
        #expect(text.contains("value=\"https://h.example\""))
    }

    @Test("what a rule would have sent is listed, and its text stays as it was typed")
    func rule() async throws {
        var trial = RuleTrial()
        trial.events = 7
        for number in 1...120 {
            trial.add(
                .init(
                    time: TestClock.start, rule: "r", sink: "team", title: "<i>\(number)</i>",
                    reason: number.isMultiple(of: 2) ? "silenced" : nil))
        }
        (trial.waiting, trial.end) = (["r: held"], TestClock.start)
        let trials = FakeTrials(rule: trial)
        let text = try await send(
            page(trials), "what=rule&since=30d&rule=name%3A+x%0D%0Awhen%3A+%7Bappears%3A+true%7D"
        ).text
        #expect(trials.questions == [.init(text: "name: x\nwhen: {appears: true}", length: 30 * 86_400)])
        #expect(text.contains("<li><b>r</b> to team: 60 sent, 60 suppressed</li>"))
        #expect(text.contains("&lt;i&gt;100&lt;/i&gt;") && !text.contains("&lt;i&gt;101&lt;/i&gt;"))
        #expect(text.contains("and 20 more") && text.contains("suppressed: silenced") && text.contains("r: held"))
        #expect(text.contains("7 events until ") && text.contains("<option value=\"30d\" selected>"))
        #expect(text.contains(">\nname: x\nwhen: {appears: true}</textarea>"))
    }

    @Test("the form begins with a rule about what is configured")
    func example() async throws {
        let text = try await ask(page(FakeTrials()), .get, "/try").text
        #expect(text.contains("when: {source: lab, appears: true}\nnotify: [team]</textarea>"))
        #expect(text.contains("<a href=\"/try\" aria-current=\"page\">Try</a>"))
    }

    // MARK: The API

    @Test("the API answers as its document says")
    func api() async throws {
        var trial = RuleTrial()
        trial.add(.init(time: TestClock.start, rule: "r", sink: "k", title: "t", reason: nil))
        let page = page(FakeTrials(rule: trial) { () throws(TrialProblem) in hostileTrial })
        let probe = try await ask(page, .post, "/api/v1/probe", [Self.bearer], #"{"address": "https://h.example"}"#)
        let found = try JSON(parsing: Array(probe.text.utf8))
        #expect(probe.status == 200 && probe.contentType == "application/json")
        #expect(found["count"] == .number(30) && found["items"]?.array?.count == 20)
        let test = try await ask(page, .post, "/api/v1/test", [Self.bearer], #"{"rule": "name: x", "since": "1h"}"#)
        let played = try JSON(parsing: Array(test.text.utf8))
        #expect(played["counts"]?.array?.first?["sent"] == .number(1))
        for (name, json) in [("AddressTrial", found), ("RuleTrial", played)] {
            let required = (APISchemas.json[name]?["required"]?.array ?? []).compactMap(\.string)
            let known = (APISchemas.json[name]?["properties"]?.members ?? []).map(\.name)
            let names = (json.members ?? []).map(\.name)
            #expect(Set(required).isSubset(of: names) && Set(names).isSubset(of: known), "\(name): \(names)")
        }
    }

    @Test(
        "a body that is none, and a trial without a result, have their status and reason",
        arguments: [
            ("/api/v1/probe", "", 400, "a JSON object"), ("/api/v1/probe", "[]", 400, "a JSON object"),
            ("/api/v1/probe", "{}", 400, "'address' must be a text"),
            ("/api/v1/probe", #"{"address": 7}"#, 400, "'address' must be a text"),
            ("/api/v1/probe", #"{"address": "file:///etc/passwd"}"#, 422, "no address that can be tried"),
            ("/api/v1/probe", #"{"address": "https://h.example"}"#, 422, "nothing is there"),
            ("/api/v1/test", #"{"rule": "name: x", "since": 7}"#, 400, "'since' must be a text"),
            ("/api/v1/test", #"{"rule": "name: x", "since": "soon"}"#, 422, "is no period"),
        ])
    func problems(target: String, body: String, status: Int, reason: String) async throws {
        let response = try await ask(page(FakeTrials()), .post, target, [Self.bearer], body)
        let problem = try JSON(parsing: Array(response.text.utf8))
        #expect(response.status == status && response.contentType == "application/problem+json", "\(response.text)")
        #expect(problem["detail"]?.string?.contains(reason) == true, "\(response.text)")
    }
}
