// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

@Suite("Links of messages")
struct LinkTests {
    /// Signs with a digest, which is enough for what the page decides.
    private final class FakeStore: ActionLinkStore {
        private struct State {
            var keys: [Int64: UInt64] = [:]
            var used: Set<String> = []
            var isFull = false
        }
        private let state = Mutex(State())

        var used: Int { state.withLock { $0.used.count } }

        func sign(_ text: String, day: Int64, makesKey: Bool) async -> [UInt8]? {
            let key = state.withLock { state in
                if makesKey, state.keys[day] == nil { state.keys[day] = UInt64.random(in: .min ... .max) }
                return state.keys[day]
            }
            guard let key else { return nil }
            return (0..<4).flatMap { part in
                var digest = StableHash()
                digest.add("\(part) \(key) \(text)")
                return (0..<8).map { UInt8(truncatingIfNeeded: digest.value >> ($0 * 8)) }
            }
        }

        func use(_ token: ActionLink.Token) async -> ActionLink.Use {
            state.withLock { $0.isFull ? .failed : $0.used.insert(token.signature).inserted ? .first : .again }
        }

        func release(_ token: ActionLink.Token) async { state.withLock { _ = $0.used.remove(token.signature) } }

        func fill() { state.withLock { $0.isFull = true } }

        func rotate() { state.withLock { $0.keys = [:] } }
    }

    private let journal = MemoryJournal()
    private let store = FakeStore()
    private let clock = TestClock()
    private let subject = Subject(source: "lab", key: "a/b")

    /// The page has a token, which no request here shows.
    private func page(of journal: any JournalAccess) -> StatusPage {
        let facts = ConfigurationFacts(sources: [], sinks: [], rules: [], editedAt: TestClock.start)
        let sources = StatusPage.Sources(
            journal: journal, configuration: { facts },
            status: { facts async throws(JournalError) in
                try await StatusFacts.read(
                    journal, facts, now: TestClock.start, today: TestClock.start, age: { _ in nil })
            },
            polls: PollFigures(inFlight: { 0 }, streams: { 0 }, durations: { _ in [] }),
            text: PageText(
                clock: { time, _ in time.rfc3339 }, localized: { text, _ in text }, happening: { _ in [] },
                meaning: { _, _ in nil }, outcome: { status, _ in (status.state.rawValue, "") }),
            clock: clock)
        let hub = ChangeHub(
            { () throws(JournalError) in AsyncStream { $0.finish() } }, clock: clock, log: LogLines())
        let access = PageAccess(token: Secret("a token of the page"))
        return StatusPage(
            sources, hub: hub, access: { access }, sign: { Array($0.reversed()) + $1.reversed() },
            trials: TrialService(FakeTrials(), clock: clock, configuration: { facts }), links: store)
    }

    private func token(_ action: ActionLink.Action = .acknowledge, match: String = "match") async throws -> String {
        let link = ActionLink(action, rule: "ready", subject, match: match, from: clock.now().wall)
        return try #require(await ActionLink.Token(link) { await store.sign($0, day: link.day, makesKey: true) }).text
    }

    private func ask(
        _ method: PageRequest.Method, _ token: String, form: String = "", origin: String = "http://localhost",
        of journal: (any JournalAccess)? = nil
    ) async throws -> (status: Int, text: String) {
        var headers = [HeaderField("Host", "localhost"), HeaderField("Accept", "text/html")]
        if method == .post { headers.append(HeaderField("Origin", origin)) }
        let request = try #require(
            PageRequest(method, "/link/\(token)", headers: headers, body: Array("form=\(form)".utf8)))
        let response = await page(of: journal ?? self.journal).respond(to: request)
        guard case .bytes(let bytes) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the token of the form that the link opens.
    private func form(_ token: String) async throws -> String {
        let text = try await ask(.get, token).text
        let mark = try #require(text.firstRange(of: "name=\"form\" value=\""))
        return String(text[mark.upperBound...].prefix { $0 != "\"" })
    }

    private var isUnchanged: Bool {
        journal.controlRequests().isEmpty && journal.silences().isEmpty && store.used == 0
    }

    @Test("a link acknowledges its match without the token of the page")
    func acknowledges() async throws {
        try journal.tellMatch(at: clock.now().wall)
        let token = try await token()
        let answer = try await ask(.post, token, form: form(token))
        #expect(answer.status == 200)
        let said = Acknowledgement(match: "match", user: "", host: "a link", time: clock.now().wall)
        #expect(
            journal.controlRequests().map(\.request) == [.acknowledge(rule: "ready", subject: subject, said)])
    }

    @Test("a link snoozes the item of its rule for an hour")
    func snoozes() async throws {
        let token = try await token(.snooze)
        #expect(try await ask(.post, token, form: form(token)).status == 200)
        let silence = try #require(journal.silences().first)
        #expect(silence.rule == "ready" && silence.source == "lab" && silence.item == "a/b" && silence.sink == nil)
        #expect(silence.until == clock.now().wall.advanced(by: .seconds(3600)))
    }

    @Test("a link that is sent again does nothing more")
    func replayed() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        #expect(try await ask(.post, token, form: form).status == 200)
        #expect(try await ask(.post, token, form: form).status == 410)
        #expect(journal.silences().count == 1)
    }

    @Test("of many forms that are sent at once with one link, one acts")
    func concurrent() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await ask(.post, token, form: form).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 410 } == 19)
        #expect(journal.silences().count == 1)
    }

    @Test("a link does nothing when its use cannot be stored")
    func unstored() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        store.fill()
        #expect(try await ask(.post, token, form: form).status == 503)
        #expect(isUnchanged)
    }

    @Test("a link whose action could not be stored can be used again")
    func released() async throws {
        let journal = ReplaceableJournal()
        let token = try await token(.snooze)
        let form = try await form(token)
        journal.fill(true)
        #expect(try await ask(.post, token, form: form, of: journal).status == 503)
        #expect(store.used == 0)
        journal.fill(false)
        #expect(try await ask(.post, token, form: form, of: journal).status == 200)
    }

    @Test("what a server wrote is text on the page of a link")
    func hostile() async throws {
        let hostile = "<img src=x onerror=alert(1)>"
        let link = ActionLink(
            .snooze, rule: hostile, Subject(source: hostile, key: hostile), match: "m", from: clock.now().wall)
        let token = try #require(
            await ActionLink.Token(link) { await store.sign($0, day: link.day, makesKey: true) })
        let (status, text) = try await ask(.get, token.text)
        #expect(status == 200 && !text.contains("<img") && text.ranges(of: "&lt;img").count == 3)
    }

    @Test("a preview that opens the link with GET or HEAD changes nothing", arguments: [PageRequest.Method.get, .head])
    func previewed(method: PageRequest.Method) async throws {
        try journal.tellMatch(at: clock.now().wall)
        #expect(try await ask(method, token()).status == 200)
        #expect(isUnchanged)
    }

    @Test("a signature that this watcher did not make is refused")
    func forged() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        let body = try #require(token.split(separator: ".").first)
        let forged = "\(body).\(String(repeating: "A", count: 43))"
        #expect(try await ask(.get, forged).status == 410)
        #expect(try await ask(.post, forged, form: form).status == 410)
        #expect(isUnchanged)
    }

    @Test("the signature of one subject, match or action is none of another")
    func exchanged() async throws {
        let signature = try #require(await token(.snooze).split(separator: ".").last)
        let others = [
            ActionLink(.acknowledge, rule: "ready", subject, match: "match", from: clock.now().wall),
            ActionLink(.snooze, rule: "other", subject, match: "match", from: clock.now().wall),
            ActionLink(
                .snooze, rule: "ready", Subject(source: "lab", key: "c"), match: "match", from: clock.now().wall),
            ActionLink(.snooze, rule: "ready", subject, match: "later", from: clock.now().wall),
        ]
        for link in others {
            let other = try #require(await ActionLink.Token(link) { _ in [0] }).text
            let body = try #require(other.split(separator: ".").first)
            #expect(try await ask(.get, "\(body).\(signature)").status == 410)
        }
    }

    @Test("a link ends after 24 hours")
    func expired() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        clock.advance(ActionLink.lifetime)
        #expect(try await ask(.get, token).status == 410)
        #expect(try await ask(.post, token, form: form).status == 410)
        #expect(isUnchanged)
    }

    @Test("a link whose key is gone is refused")
    func rotated() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        store.rotate()
        #expect(try await ask(.post, token, form: form).status == 410)
        #expect(isUnchanged)
    }

    @Test("a form of another site is refused, also with the right token")
    func crossSite() async throws {
        let token = try await token(.snooze)
        let form = try await form(token)
        #expect(try await ask(.post, token, form: form, origin: "https://evil.example").status == 403)
        #expect(isUnchanged)
    }

    @Test("a form without its token, or with another link's token, is refused")
    func foreignForm() async throws {
        let (one, two) = (try await token(.snooze), try await token(.snooze, match: "later"))
        #expect(try await ask(.post, one).status == 410)
        #expect(try await ask(.post, one, form: form(two)).status == 410)
        #expect(isUnchanged)
    }

    @Test("what is no link, or too long for one, is refused")
    func malformed() async throws {
        for text in ["x", "a.b", String(repeating: "A", count: 1600) + "." + String(repeating: "A", count: 43)] {
            #expect(try await ask(.get, text).status == 410, "\(text.prefix(10))")
        }
    }

    @Test("a match that is over is not acknowledged, and the link is not used up")
    func ended() async throws {
        let token = try await token()
        let answer = try await ask(.post, token, form: form(token))
        #expect(answer.status == 410 && answer.text.contains("over already"))
        #expect(isUnchanged)
    }
}
