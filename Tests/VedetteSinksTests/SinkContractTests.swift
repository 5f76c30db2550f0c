// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteDesktop

@testable import VedetteSinks

/// Checks that each row of the table of sink kinds has a page and an example with all its options.
@Suite("The contract of sink kinds")
struct SinkContractTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let all = SinkKinds.all + [DesktopKind.entry]

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test(
        "every kind has a page that names each of its options, and the overview leads to it", arguments: all.map(\.name)
    )
    func pages(_ name: String) throws {
        let page = try Self.text("Sources/vedette/Documentation.docc/\(name).md")
        #expect(page.hasPrefix("# The \(name) sink\n"))
        for option in Self.all.first(where: { $0.name == name })?.options ?? [] {
            #expect(page.contains("| `\(option.name)` |"), "\(name): \(option.name)")
            if let standard = option.documentedDefault, !standard.contains(" ") {
                #expect(page.contains("`\(standard)`"), "\(name): \(option.name)")
            }
        }
        #expect(try Self.text("Sources/vedette/Documentation.docc/Sinks.md").contains("[\(name)](\(name).md)"))
    }

    @Test("no page documents an option that is none", arguments: all.map(\.name))
    func strangers(_ name: String) throws {
        let options = Set(Self.all.first { $0.name == name }?.options.map(\.name) ?? [])
        let page = try Self.text("Sources/vedette/Documentation.docc/\(name).md").split(separator: "\n")
        guard let start = page.firstIndex(where: { $0.hasPrefix("| option |") }) else {
            #expect(options.isEmpty)
            return
        }
        for row in page[(start + 2)...].prefix(while: { $0.hasPrefix("| ") }) {
            let name = row.split(separator: "`").dropFirst().first.map(String.init) ?? ""
            #expect(options.contains(name), "\(row)")
        }
    }

    @Test("every kind is used in an example under rules/", arguments: all.map(\.name))
    func examples(_ name: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "rules").path())
        let found = try files.filter { $0.hasSuffix(".yaml") }.contains { file in
            let text = try Self.text("rules/\(file)")
            return text.contains("kind: \(name),") || text.contains("kind: \(name)}")
                || text.contains("kind: \(name)\n")
        }
        #expect(found)
    }

    @Test("every chat of the table is among those that the tests of chats go through")
    func samples() {
        let others: Set = ["stdout", "webhook", "desktop", "file", "command", "mail"]
        let chats = Set(SinkKinds.all.map(\.name)).subtracting(others)
        #expect(Set(ChatSample.all.map(\.kind)) == chats)
    }

    @Test("an option that holds a secret can be given as one", arguments: ChatSample.all)
    func secrets(_ sample: ChatSample) throws {
        let entry = try #require(sample.entry)
        for (name, value) in sample.options {
            guard case .secret = value else { continue }
            let type = entry.options.first { $0.name == name }?.type
            #expect(type == .secret || type == .textOrSecret, "\(name)")
        }
    }
}

@Suite("Options of chats")
struct ChatOptionTests {
    static let wrong: [(kind: String, option: String, value: OptionValue)] = [
        ("slack", "url", .text("ftp://x")), ("slack", "url", .text("http://hooks.slack.com/services/T/B/s3cret")),
        ("slack", "url", .text("https://hooks.slack.com/triggers/T/s3cret")),
        ("slack", "url", .text("https://hooks.slack.com/workflows/T/A/1/s3cret")),
        ("discord", "username", .text("Discord alerts")), ("discord", "username", .text("clyde2")),
        ("discord", "username", .text("Here")),
        ("slack", "url", .text("https://hooks.slack.com/")), ("slack", "url", .text("https://slack.com.evil")),
        ("mattermost", "url", .text("https://chat.example.com/s3cret")), ("mattermost", "channel", .text(" ")),
        ("mattermost", "username", .text("a\nb")), ("discord", "thread", .text("abc")),
        ("discord", "url", .text("https://discord.com/api/webhooks/1/s3cret/slack")),
        ("discord", "url", .text("https://discord.com/channels/1/s3cret")),
        ("teams", "url", .text("https://x.webhook.office.com/webhookb2/s3cret")),
        ("teams", "url", .text("https://prod.westus.logic.azure.com/workflows/s3cret")),
        ("googlechat", "url", .text("https://chat.googleapis.com/v1/spaces/A/messages?key=s3cret")),
        ("matrix", "room", .text("#room")), ("matrix", "room", .text("room")),
        ("matrix", "url", .text("https://m.example.org/?x=1")), ("matrix", "token", .secret(Secret("s3cret\r\n"))),
        ("ntfy", "url", .text("https://ntfy.sh/topic")), ("ntfy", "topic", .secret(Secret("s3cret/../x"))),
        ("ntfy", "user", .text("ann")), ("gotify", "token", .secret(Secret(""))), ("gotify", "url", .text("push")),
        ("telegram", "token", .secret(Secret("s3cret"))), ("telegram", "chat", .text("name")),
        ("telegram", "chat", .text("@")), ("telegram", "url", .text("https://a:s3cret@x/")),
        ("slack", "timeout", .duration(.zero)), ("ntfy", "timeout", .duration(.seconds(31))),
    ]

    @Test("a wrong one is refused where it stands, with the remedy and without quoting a secret", arguments: wrong)
    func refused(_ row: (kind: String, option: String, value: OptionValue)) throws {
        let problem = Result {
            try ChatSample.of(row.kind).sink(ScriptedFetcher(status: 200), more: [row.option: row.value])
        }
        guard case .failure(let error as OptionProblem) = problem else {
            // A host whose name only resembles Slack's is a server like any other.
            if case .text("https://slack.com.evil") = row.value { return }
            Issue.record("\(row.kind).\(row.option) was taken")
            return
        }
        #expect(error.path.first == row.option)
        #expect(!error.detail.contains("s3cret") && error.detail.count > 15)
    }

    @Test("options that stand in for each other are not both taken")
    func both() {
        let more: [String: OptionValue] = ["user": .text("ann"), "password": .secret(Secret("p"))]
        #expect(throws: OptionProblem.self) {
            try ChatSample.of("ntfy").sink(ScriptedFetcher(status: 200), more: more)
        }
    }

    @Test("what is asked for arrives in the request")
    func used() async throws {
        func request(_ kind: String, _ more: [String: OptionValue]) async throws -> (request: Request, body: JSON) {
            let fetcher = ScriptedFetcher(status: 200)
            #expect(try await ChatSample.of(kind).sink(fetcher, more: more).deliver(.of()) == .delivered)
            let request = try #require(fetcher.requests.first)
            return (request, try JSON(parsing: request.body ?? []))
        }
        let mattermost = try await request("mattermost", ["channel": .text("ops"), "username": .text("watch")])
        #expect(mattermost.body["channel"] == .string("ops") && mattermost.body["username"] == .string("watch"))
        let discord = try await request("discord", ["thread": .text("42"), "username": .text("watch")])
        #expect(discord.request.url.hasSuffix("?wait=true&thread_id=42"))
        #expect(discord.body["username"] == .string("watch"))
        let telegram = try await request("telegram", ["chat": .text("@news"), "thread": .integer(7)])
        #expect(telegram.body["chat_id"] == .string("@news") && telegram.body["message_thread_id"] == .number("7"))
        let slow = try await request("gotify", ["timeout": .duration(.seconds(3))])
        #expect(slow.request.limits.total == .seconds(3) && slow.request.group == "team")
    }

    @Test("Google Chat keeps an item's or a source's messages together")
    func threads() async throws {
        func thread(_ name: String, _ key: String) async throws -> (key: String?, url: String) {
            let fetcher = ScriptedFetcher(status: 200)
            let sink = try ChatSample.of("googlechat").sink(fetcher, more: ["thread": .text(name)])
            _ = await sink.deliver(.of(.changed(key: key)))
            let request = try #require(fetcher.requests.first)
            return (try JSON(parsing: request.body ?? [])["thread"]?["threadKey"]?.string, request.url)
        }
        #expect(try await thread("none", "1").key == nil)
        #expect(try await thread("none", "1").url == thread("none", "2").url)
        #expect(try await thread("item", "1").key == thread("item", "1").key)
        #expect(try await thread("item", "1").key != thread("item", "2").key)
        #expect(try await thread("source", "1").key == thread("source", "2").key)
        #expect(try await thread("item", "1").url.contains("messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD"))
    }
}
