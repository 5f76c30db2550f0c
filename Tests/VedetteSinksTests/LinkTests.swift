// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Links in messages")
struct LinkTests {
    private struct FakeStore: ActionLinkStore {
        func sign(_ text: String, day: Int64, makesKey: Bool) async -> [UInt8]? {
            makesKey ? [UInt8](repeating: 7, count: 32) : nil
        }
        func use(_ token: ActionLink.Token) async -> ActionLink.Use { .failed }
        func release(_ token: ActionLink.Token) async {}
    }

    private struct FakeSilencer: Silencer {
        func silence(_ silence: Silence) {}
        func canAcknowledge(rule: String) -> Bool { rule == "ready" }
        func acknowledge(rule: String, _ subject: Subject, match: String) {}
    }

    private func message(_ kind: Event.Kind = .changed, rule: String = "ready") -> Message {
        let event = Event(
            id: Identifier("match"), kind: kind, time: Timestamp(milliseconds: 1_800_000_000_000), source: "lab",
            sourceKind: "json", poll: "p", item: Item(key: "a/b", title: "A", state: "down"))
        return Message(id: "msg_1", rule: rule, sink: "team", event: event, title: "A is down", text: "")
    }

    private func services(_ fetcher: ScriptedFetcher = ScriptedFetcher(status: 200)) -> SinkServices {
        var services = SinkServices(
            fetcher: fetcher, clock: StillClock(), userAgent: "v", silencer: FakeSilencer(), links: FakeStore())
        services.publicURL = "https://v.example.com"
        return services
    }

    @Test("a match has both links, a rule without follow-ups the snooze alone, an end and a page without address none")
    func actions() async throws {
        let made = await services().actions(of: message())
        #expect(made.map(\.label) == ["Acknowledge", "Snooze 1 h"])
        let token = try #require(made.first?.url.split(separator: "/").last.flatMap { ActionLink.Token(String($0)) })
        #expect(token.link.match == "match" && token.link.subject == Subject(source: "lab", key: "a/b"))
        #expect(await services().actions(of: message(rule: "other")).map(\.label) == ["Snooze 1 h"])
        #expect(await services().actions(of: message(.resolved)).isEmpty)
        var hidden = services()
        hidden.publicURL = nil
        #expect(await hidden.actions(of: message()).isEmpty)
    }

    @Test("a chat has links with 'links: true' alone", arguments: ["ntfy", "telegram", "matrix"])
    func chats(kind: String) async throws {
        let sample = ChatSample.of(kind)
        for hasLinks in [true, false] {
            let body = #"{"ok": true, "room_id": "!abc:example.org", "event_id": "$1"}"#
            let fetcher = ScriptedFetcher(status: 200, body: body)
            let options = Options(sample.options.merging(["links": .flag(hasLinks)]) { $1 })
            let sink = try #require(sample.entry).make(options)("team", services(fetcher))
            _ = await sink.deliver(message())
            let sent = try #require(fetcher.requests.last?.body.map { String(decoding: $0, as: UTF8.self) })
            #expect(sent.contains("v.example.com") == hasLinks, "\(sent)")
        }
    }

    @Test("a long text with links is cut so that ntfy takes the whole document", arguments: ["\"", "a\"b\n", "é"])
    func long(piece: String) async throws {
        let fetcher = ScriptedFetcher(status: 200, body: "{}")
        let sample = ChatSample.of("ntfy")
        let options = Options(sample.options.merging(["links": .flag(true)]) { $1 })
        let sink = try #require(sample.entry).make(options)("team", services(fetcher))
        var message = message()
        message.title = String(repeating: "\"", count: 1000)
        message.text = String(repeating: piece, count: 5000)
        _ = await sink.deliver(message)
        let sent = try #require(fetcher.requests.last?.body)
        #expect(sent.count <= 8192)
        #expect(try JSON(parsing: sent)["actions"]?.array?.count == 2)
    }

    @Test("a message whose links Telegram refuses is sent without them")
    func refused() async throws {
        let fetcher = ScriptedFetcher { request in
            let hasLinks = String(decoding: request.body ?? [], as: UTF8.self).contains("inline_keyboard")
            let refusal =
                #"{"ok": false, "description": "Bad Request: inline keyboard button URL 'http://v/' is invalid: Wrong HTTP URL"}"#
            let body = hasLinks ? refusal : #"{"ok": true, "result": {"message_id": 7}}"#
            return .success(Response(status: hasLinks ? 400 : 200, body: Array(body.utf8)))
        }
        let sample = ChatSample.of("telegram")
        let options = Options(sample.options.merging(["links": .flag(true)]) { $1 })
        let sink = try #require(sample.entry).make(options)("team", services(fetcher))
        #expect(await sink.deliver(message()) == .delivered(as: nil))
        #expect(fetcher.requests.count == 2)
    }

    @Test("a mail has the links in both parts")
    func mail() async throws {
        let sink = MailSink(
            name: "post", settings: try MailSample.settings(["links": .flag(true)]), services: services())
        let sent = String(decoding: await sink.mail(for: message()).content, as: UTF8.self)
        let text = sent.replacing("=\r\n", with: "")
        #expect(text.ranges(of: "Snooze 1 h").count == 2)
    }
}
