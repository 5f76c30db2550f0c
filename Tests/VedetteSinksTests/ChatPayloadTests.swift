// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Payloads of chats")
struct ChatPayloadTests {
    static let golden = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/chats.ndjson")

    /// One message for each type of event, as the rules word it.
    static func message(_ kind: Event.Kind) -> Message {
        var event = Event.changed(url: "https://wca.example.com/systems?id=59&tab=\"x\"")
        event.kind = kind
        event.changes.append(FieldChange(field: "owner", from: "ann", to: .list(["bob", "eve"])))
        switch kind {
        case .changed: break
        case .elapsed, .reminder: (event.changes, event.summary) = ([], Event.Summary(events: ["0199a"], stood: 1834))
        case .resolved:
            // As the engine makes it of the change that ended the match.
            event.summary = Event.Summary(events: ["0199a"], stood: 1834)
            event.summary?.title = "prod-1: Starting → Ready for use"
        case .appeared, .disappeared: event.changes = []
        default:
            (event.item, event.changes) = (nil, [])
            event.error = Event.Problem(failure: "tls", detail: "the certificate has expired", server: "lab")
        }
        if kind == .digest || kind == .burst {
            let lines = ["prod-1: Starting → Ready for use", "prod-2 is gone", "<b>prod-3</b> & @all: new"]
            (event.error, event.summary) = (nil, Event.Summary(events: ["0199a", "0199b"], count: 12, lines: lines))
        }
        if kind.isAboutWatcher { (event.source, event.sourceKind) = (Event.watcher, Event.watcher) }
        if kind.isAboutSink { (event.source, event.sourceKind) = ("team", Event.sink) }
        if [.online, .equal, .test].contains(kind) { event.error = nil }
        var message = Message.of(
            event, title: MessageTitle.of(event), text: MessageText.of(event))
        message.tags = ["prod"]
        message.priority = kind == .failing ? .high : kind == .test ? .low : .normal
        return message
    }

    static func posted(_ sample: ChatSample, _ message: Message) async throws -> Request {
        let fetcher = ScriptedFetcher(status: 200)
        _ = try await sample.sink(fetcher).deliver(message)
        return try #require(fetcher.requests.first)
    }

    /// No message has an event of an unknown type.
    static let kinds = Event.Kind.allCases.filter { $0 != .unknown }

    static func line(_ sample: ChatSample, _ kind: Event.Kind) async throws -> String {
        let request = try await posted(sample, message(kind))
        let body = try JSON(parsing: request.body ?? [])
        let headers = request.headers.filter { $0.name != "User-Agent" && $0.name != "Content-Type" }
        return JSON.members([
            "sink": .string(sample.kind), "event": .string(kind.rawValue), "method": .string(request.method),
            "url": .string(request.url),
            "headers": .object(headers.map { JSON.Member(name: $0.name, value: .string($0.value)) }), "body": body,
        ]).text
    }

    @Test("each chat gets its golden payload for each type of event", arguments: ChatSample.all)
    func golden(_ sample: ChatSample) async throws {
        let expected = try String(contentsOf: Self.golden, encoding: .utf8).split(separator: "\n").map(String.init)
        for kind in Self.kinds {
            let line = try await Self.line(sample, kind)
            #expect(expected.contains(line), "\(line)")
        }
    }

    @Test("Python reads the golden payloads alike, and none is unused")
    func python() throws {
        let script = """
            import json, sys
            rows = [json.loads(line) for line in sys.stdin.buffer.read().decode().split("\\n")[:-1]]
            print(len(rows), len({(row["sink"], row["event"]) for row in rows}), len({row["sink"] for row in rows}))
            """
        let (output, status) = try Python.run(script, input: Array(Data(contentsOf: Self.golden)))
        let count = ChatSample.all.count * Self.kinds.count
        #expect(status == 0)
        #expect(output == "\(count) \(count) \(ChatSample.all.count)\n")
    }

    @Test("an item without a link, text or change gives a complete message", arguments: ChatSample.all)
    func bare(_ sample: ChatSample) async throws {
        let event = Event.about(.test)
        let request = try await Self.posted(sample, .of(event, title: " \n", text: "\t"))
        let text = String(decoding: request.body ?? [], as: UTF8.self)
        #expect(text.contains(MessageTitle.of(event)))
        #expect(!text.contains("null") || sample.kind == "teams")
        #expect(!text.contains("\"\"") && !text.contains("[]]"))
    }

    @Test(
        "a link that is not http or https is left out",
        arguments: [
            "javascript:alert(1)", "file:///etc/passwd", "https://", "ftp://x/", "https://a:b@x/", "not a url",
            "https://x/" + String(repeating: "a", count: 3000),
        ])
    func links(_ url: String) {
        #expect(ChatContent(.of(.changed(url: url))).link == nil)
    }

    @Test("characters that could end a link are encoded")
    func encodedLink() {
        let content = ChatContent(.of(.changed(url: "https://x/ä<b>|\"'`{}\\?a=1&b=%20#c")))
        #expect(content.link == "https://x/%C3%A4%3Cb%3E%7C%22'%60%7B%7D%5C?a=1&b=%20#c")
    }

    @Test("a message that is cut names its event's address on the page, escaped for the chat")
    func page() throws {
        var message = Message.of(.changed(key: "a"))
        message.text = String(repeating: "line\n", count: 2000)
        let content = ChatContent(message, publicURL: "https://v.example.com/a&b")
        let end = "more lines: https://v.example.com/a&amp;b/events/\(message.event.id.description)"
        #expect(Slack.text.lines(of: content, 3000).hasSuffix(end))
        #expect(ChatContent(message).page == nil)
    }

    @Test(
        "the colour follows the state",
        arguments: [
            ("Ready for use", ChatColor.good), ("completed/failure", .bad), ("completed/success", .good),
            ("completed/cancelled", .warning), ("DOWN", .bad), ("up", .good), ("Stopped", .neutral),
            ("update", .neutral),
            ("inactive", .neutral), ("", .neutral), ("Error: not ready", .bad), ("timed out", .bad),
            ("in_progress", .warning),
        ])
    func colors(_ state: String, _ color: ChatColor) {
        #expect(ChatColor(StateMeaning(of: state)) == color)
        #expect(color.hex.utf8.count == 7 && color.hex.hasPrefix("#"))
    }

    @Test("the colour of several follows the worst of their latest states")
    func colorsOfSeveral() {
        func color(_ parts: (key: String?, kind: String, state: String)...) -> ChatColor {
            var event = Event.changed(key: "a")
            (event.kind, event.item, event.summary) = (.digest, nil, Event.Summary())
            event.summary?.parts = parts.map {
                .init(event: "e", kind: $0.kind, source: "s", key: $0.key, state: $0.state)
            }
            return ChatColor(of: event)
        }
        #expect(color(("a", "changed", "up"), ("b", "changed", "down")) == .bad)
        #expect(color(("a", "changed", "down"), ("b", "changed", "up"), ("a", "changed", "up")) == .good)
        #expect(color(("a", "disappeared", "down"), ("b", "changed", "up")) == .neutral)
        #expect(color((nil, "failing", "status 500"), ("b", "changed", "up")) == .bad)
        #expect(color((nil, "resolved", "timeout")) == .good)
    }
}
