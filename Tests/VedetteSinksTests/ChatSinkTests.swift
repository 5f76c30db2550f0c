// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Sending to chats")
struct ChatSinkTests {
    @Test(
        "many messages are sent at the rate of the service",
        arguments: [
            ("slack", 30, 27.0), ("discord", 30, 50), ("teams", 30, 14), ("googlechat", 30, 29), ("matrix", 30, 100),
            ("ntfy", 70, 50), ("telegram", 30, 81), ("mattermost", 30, 10), ("gotify", 30, 2),
        ])
    func interval(_ kind: String, _ messages: Int, _ seconds: Double) async throws {
        let (clock, fetcher) = (SteppingClock(), ScriptedFetcher(status: 200))
        let sink = try ChatSample.of(kind).sink(fetcher, clock: clock)
        for _ in 0..<messages { #expect(await sink.deliver(.of()) == .delivered) }
        #expect(fetcher.requests.count == messages)
        #expect(clock.seconds == seconds)
    }

    @Test("Matrix: an invitation is accepted when a message is refused, once per message")
    func invitation() async throws {
        let joined = Mutex(false)
        let fetcher = ScriptedFetcher { request in
            let isJoin = request.url.hasSuffix("/join/%21abc%3Aexample.org")
            if isJoin { joined.withLock { $0 = true } }
            let isWelcome = joined.withLock { $0 }
            let body = isJoin ? #"{"room_id":"!abc:example.org"}"# : isWelcome ? "{}" : #"{"errcode":"M_FORBIDDEN"}"#
            return .success(Response(status: isWelcome ? 200 : 403, body: Array(body.utf8)))
        }
        let sink = try ChatSample.of("matrix").sink(fetcher)
        for _ in 0..<2 { #expect(await sink.deliver(.of()) == .delivered) }
        #expect(fetcher.requests.map(\.method) == ["PUT", "POST", "PUT", "PUT"])
        #expect(fetcher.requests[0].url == fetcher.requests[2].url)
        let refused = ScriptedFetcher { _ in
            .success(Response(status: 403, body: Array(#"{"errcode":"M_FORBIDDEN"}"#.utf8)))
        }
        guard case .paused(let reason) = try await ChatSample.of("matrix").sink(refused).deliver(.of()) else {
            Issue.record("not paused")
            return
        }
        #expect(reason.contains("invite the user") && refused.requests.count == 2)
    }

    @Test("Matrix: an alias is joined once, and messages go to the id behind it")
    func alias() async throws {
        let fetcher = ScriptedFetcher { request in
            let body = request.method == "POST" ? #"{"room_id":"!xyz"}"# : "{}"
            return .success(Response(status: 200, body: Array(body.utf8)))
        }
        let sink = try ChatSample.of("matrix").sink(fetcher, more: ["room": .text("#team:example.org")])
        for _ in 0..<2 { #expect(await sink.deliver(.of()) == .delivered) }
        let paths = fetcher.requests.map {
            $0.url.components(separatedBy: "/v3/").last?.components(separatedBy: "/send").first
        }
        #expect(paths == ["join/%23team%3Aexample.org", "rooms/%21xyz", "rooms/%21xyz"])
        let unknown = ScriptedFetcher { _ in
            .success(Response(status: 404, body: Array(#"{"errcode":"M_NOT_FOUND"}"#.utf8)))
        }
        let outcome = try await ChatSample.of("matrix").sink(unknown, more: ["room": .text("#team:example.org")])
            .deliver(.of())
        guard case .paused(let reason) = outcome else {
            Issue.record("not paused: \(outcome)")
            return
        }
        #expect(reason.contains("there is none of that name"))
    }

    @Test("Matrix: a room that the homeserver cannot join pauses the sink, since it refuses every message")
    func impossibleRoom() async throws {
        let fetcher = ScriptedFetcher(status: 400, body: #"{"errcode":"M_INCOMPATIBLE_ROOM_VERSION"}"#)
        let sink = try ChatSample.of("matrix").sink(fetcher, more: ["room": .text("#team:example.org")])
        guard case .paused(let reason) = await sink.deliver(.of()) else {
            Issue.record("not paused")
            return
        }
        #expect(reason.contains("M_INCOMPATIBLE_ROOM_VERSION") && reason.contains("correct the room"))
    }

    private func body(_ request: Request?) throws -> JSON { try JSON(parsing: request?.body ?? []) }

    private func replacing(_ name: String?) -> Message {
        var message = Message.of()
        message.replacing = name
        return message
    }

    @Test("Telegram: with `update` the number of a message is its name, by which a later one edits it")
    func telegramEdit() async throws {
        let fetcher = ScriptedFetcher(status: 200, body: #"{"ok":true,"result":{"message_id":42}}"#)
        let sink = try ChatSample.of("telegram").sink(fetcher, more: ["update": .flag(true), "thread": .integer(7)])
        #expect(sink.updates)
        #expect(await sink.deliver(.of()) == .delivered(as: "-1001234567890/42"))
        #expect(await sink.deliver(replacing("-1001234567890/42")) == .delivered(as: "-1001234567890/42"))
        // The same number in another chat is another message.
        #expect(await sink.deliver(replacing("-100999/42")) == .delivered(as: "-1001234567890/42"))
        #expect(
            fetcher.requests.map { $0.url.components(separatedBy: "/").last ?? "" } == [
                "sendMessage", "editMessageText", "sendMessage",
            ])
        let edit = try body(fetcher.requests[1])
        #expect(edit["message_id"] == .number(42) && edit["chat_id"] == .number(-1_001_234_567_890))
        #expect(edit["text"] == (try body(fetcher.requests[0]))["text"])
        #expect(edit["message_thread_id"] == nil && edit["disable_notification"] == nil)
        #expect(try body(fetcher.requests[2])["message_thread_id"] == .number(7))
    }

    @Test(
        "Telegram: a message that can no longer be edited is sent anew, one that has its texts already is not",
        arguments: [
            ("message to edit not found", 2), ("message can't be edited", 2), ("MESSAGE_ID_INVALID", 2),
            ("message is not modified: specified new message content is exactly the same", 1),
        ])
    func refusedEdit(_ detail: String, _ requests: Int) async throws {
        let fetcher = ScriptedFetcher { request in
            let isEdit = request.url.hasSuffix("/editMessageText")
            let refusal = #"{"ok":false,"error_code":400,"description":"Bad Request: \#(detail)"}"#
            let body = isEdit ? refusal : #"{"ok":true,"result":{"message_id":43}}"#
            return .success(Response(status: isEdit ? 400 : 200, body: Array(body.utf8)))
        }
        let sink = try ChatSample.of("telegram").sink(fetcher, more: ["update": .flag(true)])
        let number = requests == 1 ? 42 : 43
        #expect(await sink.deliver(replacing("-1001234567890/42")) == .delivered(as: "-1001234567890/\(number)"))
        #expect(fetcher.requests.count == requests)
        let busy = ScriptedFetcher(status: 429, body: #"{"ok":false,"description":"Too Many Requests"}"#)
        let waiting = try ChatSample.of("telegram").sink(busy, more: ["update": .flag(true)])
        #expect(await waiting.deliver(replacing("-1001234567890/42")).isRetry)
        #expect(busy.requests.count == 1)
    }

    @Test("ntfy: with `update` a later message has the id of the first as its sequence")
    func ntfySequence() async throws {
        let fetcher = ScriptedFetcher { request in
            let isFirst = request.body.map { !String(decoding: $0, as: UTF8.self).contains("sequence_id") } ?? true
            let body = isFirst ? #"{"id":"xE73Iyuabi"}"# : #"{"id":"sPs71M8A2T","sequence_id":"xE73Iyuabi"}"#
            return .success(Response(status: 200, body: Array(body.utf8)))
        }
        let sink = try ChatSample.of("ntfy").sink(fetcher, more: ["update": .flag(true)])
        for name in [nil, "xE73Iyuabi"] {
            #expect(await sink.deliver(replacing(name)) == .delivered(as: "xE73Iyuabi"))
        }
        #expect(try fetcher.requests.map { try body($0)["sequence_id"] } == [nil, .string("xE73Iyuabi")])
        // A server that knows no sequence published another message.
        let old = try ChatSample.of("ntfy").sink(
            ScriptedFetcher(status: 200, body: #"{"id":"new"}"#), more: ["update": .flag(true)])
        #expect(await old.deliver(replacing("xE73Iyuabi")) == .delivered(as: "new"))
    }

    @Test("without `update` no chat names its messages, and of the others none can")
    func names() async throws {
        for sample in ChatSample.all {
            let fetcher = ScriptedFetcher(
                status: 200, body: #"{"ok":true,"id":"x","room_id":"!r","result":{"message_id":42}}"#)
            let sink = try sample.sink(fetcher)
            #expect(!sink.updates)
            #expect(await sink.deliver(.of()) == .delivered)
        }
    }

    @Test("what 429 asks of one message holds the next one too")
    func hold() async throws {
        let (clock, fetcher) = (SteppingClock(), ScriptedFetcher(status: 429, headers: [("Retry-After", "40")]))
        let sink = try ChatSample.of("slack").sink(fetcher, clock: clock)
        #expect(await sink.deliver(.of()).isRetry)
        #expect(clock.seconds == 0)
        #expect(await sink.deliver(.of()).isRetry)
        #expect(clock.seconds == 40)
    }

    @Test("a pause of over a minute gives the slot back and sends nothing")
    func longRest() async throws {
        let (clock, fetcher) = (SteppingClock(), ScriptedFetcher(status: 429, headers: [("Retry-After", "900")]))
        let sink = try ChatSample.of("telegram").sink(fetcher, clock: clock)
        _ = await sink.deliver(.of())
        let outcome = await sink.deliver(.of())
        #expect(outcome == .retry(reason: "waits for the receiver's rate limit", after: .seconds(900)))
        #expect(fetcher.requests.count == 1)
        #expect(clock.seconds == 0)
    }

    @Test("Discord's own count of what is left is kept")
    func remaining() async throws {
        let headers = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset-After", "1.5")]
        let clock = SteppingClock()
        let sink = try ChatSample.of("discord").sink(ScriptedFetcher(status: 200, headers: headers), clock: clock)
        #expect(await sink.deliver(.of()) == .delivered)
        #expect(await sink.deliver(.of()) == .delivered)
        #expect(clock.seconds == 1.5)
    }

    @Test("a delivery that is stopped while it waits for its slot stays pending")
    func cancelled() async throws {
        let fetcher = ScriptedFetcher(status: 200)
        let sink = try ChatSample.of("googlechat").sink(fetcher)
        #expect(await sink.deliver(.of()) == .delivered)
        let waiting = Task {
            while !Task.isCancelled { await Task.yield() }
            return await sink.deliver(.of())
        }
        waiting.cancel()
        #expect(await waiting.value == .retry(reason: "stopped before its slot", after: nil))
        #expect(fetcher.requests.count == 1)
    }

    @Test(
        "an address that turns bad later pauses the sink before anything is sent",
        arguments: ["slack", "mattermost", "discord", "teams", "googlechat"])
    func rotated(_ kind: String) async throws {
        for bad in ["https://hooks.slack.com/x\r\nX: y", "", "https://outlook.office.com/webhook/s3cret"] {
            let url = ChatSample.of(kind).options["url"]
            guard case .secret(let good)? = url else { continue }
            let secret = Secret(good.value) { bad }
            let fetcher = ScriptedFetcher(status: 200)
            let sink = try ChatSample.of(kind).sink(fetcher, more: ["url": .secret(secret)])
            #expect(await secret.refresh())
            guard case .paused(let reason) = await sink.deliver(.of()) else {
                // Those that may stand on any host cannot tell a wrong one.
                #expect(bad.hasPrefix("https://outlook") && ["slack", "discord", "googlechat"].contains(kind))
                continue
            }
            #expect(reason.hasPrefix("the sink's url ") && !reason.contains("s3cret"))
            #expect(fetcher.requests.isEmpty)
        }
    }

    @Test("a refusal reads the secret again: a new one is tried, the same one pauses the sink")
    func renewed() async throws {
        for (now, isRetry) in [("syt_newSecretToken", true), ("syt_old", false)] {
            let secret = Secret("syt_old") { now }
            let fetcher = ScriptedFetcher(status: 401, body: #"{"errcode":"M_UNKNOWN_TOKEN"}"#)
            let sink = try ChatSample.of("matrix").sink(fetcher, more: ["token": .secret(secret)])
            let outcome = await sink.deliver(.of())
            #expect(outcome.isRetry == isRetry)
            #expect(outcome.reason?.contains("syt") == false)
            _ = await sink.deliver(.of())
            #expect(fetcher.requests.last?.headers.contains { $0.value == "Bearer " + now } == true)
        }
    }

    @Test("a token that turns bad later pauses the sink", arguments: ["matrix", "gotify", "telegram", "ntfy"])
    func rotatedToken(_ kind: String) async throws {
        let good = kind == "telegram" ? "1:AAtelegramS3cretTelegramS3cret" : "good"
        let secret = Secret(good) { "bad\r\nX: y" }
        let fetcher = ScriptedFetcher(status: 200)
        let sink = try ChatSample.of(kind).sink(fetcher, more: ["token": .secret(secret)])
        #expect(await secret.refresh())
        guard case .paused(let reason) = await sink.deliver(.of()) else {
            Issue.record("not paused")
            return
        }
        #expect(!reason.contains("bad"))
        #expect(fetcher.requests.isEmpty)
    }
}
