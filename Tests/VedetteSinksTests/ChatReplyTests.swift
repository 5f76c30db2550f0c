// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSinks

/// Answers of the services, and their outcomes.
@Suite("Replies of chats")
struct ChatReplyTests {
    func outcome(_ kind: String, _ status: Int, _ body: String = "", _ headers: [(String, String)] = []) async throws
        -> Outcome
    {
        let fetcher = ScriptedFetcher(status: status, headers: headers, body: body)
        return try await ChatSample.of(kind).sink(fetcher).deliver(.of())
    }

    @Test("by the status alone every chat has the outcome of a webhook", arguments: ChatSample.all)
    func statuses(_ sample: ChatSample) async throws {
        for status in 100...599 {
            let outcome = try await outcome(sample.kind, status, "<html>no JSON</html>")
            #expect(outcome == ReceiverOutcome.of(status: status, retryAfter: nil), "\(status)")
        }
    }

    @Test(
        "a pause that the service asks for is kept, in its header or its body",
        arguments: [
            ("slack", 429, "rate_limited", ("Retry-After", "30"), 30.0),
            ("discord", 429, #"{"message":"limited","retry_after":0.65,"global":false}"#, ("Retry-After", "1"), 0.65),
            ("discord", 429, #"{"message":"limited","retry_after":1e99,"global":true}"#, ("X", ""), 3600),
            ("matrix", 429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2001}"#, ("X", ""), 2.001),
            ("matrix", 429, #"{"errcode":"M_LIMIT_EXCEEDED"}"#, ("Retry-After", "7"), 7),
            ("telegram", 429, #"{"ok":false,"error_code":429,"parameters":{"retry_after":35}}"#, ("X", ""), 35),
            ("teams", 429, "", ("Retry-After", "12"), 12), ("googlechat", 503, "", ("Retry-After", "5"), 5),
            ("gotify", 429, "", ("Retry-After", "5"), 5), ("ntfy", 429, #"{"code":42901}"#, ("Retry-After", "9"), 9),
            ("mattermost", 429, "limit exceeded", ("Retry-After", "2"), 2),
            ("slack", 429, "rate_limited", ("Retry-After", "1000000000000"), 3600),
            ("teams", 200, "delivery failed with error: HTTP error 429", ("Retry-After", "1000000000000"), 3600),
        ])
    func retryTimes(_ kind: String, _ status: Int, _ body: String, _ header: (String, String), _ seconds: Double)
        async throws
    {
        guard case .retry(_, let after) = try await outcome(kind, status, body, [header]) else {
            Issue.record("no retry")
            return
        }
        #expect(after == .milliseconds(Int64((seconds * 1000).rounded())))
    }

    @Test("an invalid value in a body asks for no pause", arguments: ["-1", "0", #""soon""#, "null", "{}"])
    func nonsense(_ wait: String) async throws {
        let bodies = [
            "discord": "{\"retry_after\":\(wait)}",
            "telegram": "{\"ok\":false,\"parameters\":{\"retry_after\":\(wait)}}",
            "matrix": "{\"errcode\":\"M_LIMIT_EXCEEDED\",\"retry_after_ms\":\(wait)}",
        ]
        for (kind, body) in bodies {
            guard case .retry(_, after: nil) = try await outcome(kind, 429, body) else {
                Issue.record("\(kind): \(wait)")
                continue
            }
        }
    }

    @Test(
        "a receiver with a wrong configuration pauses the sink, with the reason",
        arguments: [
            ("slack", 400, "user_not_found", "correct the url"), ("slack", 403, "invalid_token", "correct the url"),
            ("mattermost", 400, #"{"id":"web.incoming_webhook.channel.app_error"}"#, "correct the channel"),
            ("mattermost", 400, #"{"id":"web.incoming_webhook.user.app_error"}"#, "correct the channel"),
            ("mattermost", 400, #"{"id":"api.post.create_post.can_not_post_to_deleted.error"}"#, "correct the channel"),
            ("discord", 400, #"{"code":50035,"errors":{"username":{"_errors":[]}}}"#, "correct the username"),
            ("discord", 400, #"{"code":160005}"#, "correct the thread"),
            ("discord", 400, #"{"code":220001}"#, "thread"), ("discord", 404, #"{"code":10003}"#, "correct the thread"),
            ("teams", 400, #"{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"m"}}"#, "turn the workflow on"),
            ("teams", 401, #"{"error":{"code":"DirectApiAuthorizationRequired"}}"#, "anyone"),
            ("matrix", 401, #"{"errcode":"M_UNKNOWN_TOKEN"}"#, "access token"),
            ("matrix", 403, #"{"errcode":"M_FORBIDDEN","error":"x"}"#, "invite the user"),
            ("matrix", 404, #"{"errcode":"M_UNRECOGNIZED"}"#, "correct the url"), ("gotify", 401, "", "credentials"),
            ("ntfy", 403, #"{"code":40301}"#, "code 40301"), ("ntfy", 400, #"{"code":40010}"#, "correct the topic"),
            ("googlechat", 403, #"{"error":{"status":"PERMISSION_DENIED"}}"#, "PERMISSION_DENIED"),
            ("telegram", 404, #"{"ok":false,"error_code":404,"description":"Not Found"}"#, "token is wrong"),
            ("telegram", 400, #"{"ok":false,"description":"Bad Request: chat not found"}"#, "chat not found"),
            ("telegram", 403, #"{"ok":false,"description":"Forbidden: bot was blocked by the user"}"#, "blocked"),
            ("telegram", 400, #"{"ok":false,"parameters":{"migrate_to_chat_id":-1009}}"#, "chat: -1009"),
        ])
    func paused(_ kind: String, _ status: Int, _ body: String, _ words: String) async throws {
        guard case .paused(let reason) = try await outcome(kind, status, body) else {
            Issue.record("not paused")
            return
        }
        #expect(reason.contains(words), "\(reason)")
        #expect(reason.contains("\(status)"))
    }

    @Test(
        "a refusal of Telegram that is about the whole chat pauses the sink",
        arguments: [
            "not enough rights to send text messages to the chat", "need administrator rights in the channel chat",
            "CHAT_WRITE_FORBIDDEN", "have no write access to the chat", "have no rights to send a message",
            "TOPIC_CLOSED", "TOPIC_DELETED",
        ])
    func rightsInTelegram(_ words: String) async throws {
        let outcome = try await outcome("telegram", 400, #"{"ok":false,"description":"Bad Request: \#(words)"}"#)
        guard case .paused(let reason) = outcome else {
            Issue.record("not paused: \(outcome)")
            return
        }
        #expect(reason.contains(words.lowercased()))
    }

    @Test(
        "a receiver that was removed disables the sink",
        arguments: [
            ("slack", 404, "no_service"), ("slack", 410, "channel_is_archived"), ("slack", 404, "channel_not_found\n"),
            ("mattermost", 400, #"{"id":"web.incoming_webhook.invalid.app_error"}"#),
            ("discord", 404, #"{"code":10015}"#),
            ("teams", 404, #"{"error":{"code":"WorkflowNotFound"}}"#),
            ("googlechat", 404, #"{"error":{"status":"NOT_FOUND"}}"#),
        ])
    func disabled(_ kind: String, _ status: Int, _ body: String) async throws {
        guard case .disabled = try await outcome(kind, status, body) else {
            Issue.record("not disabled")
            return
        }
    }

    @Test(
        "a message that a chat refuses is dead at once, with the chat's error code",
        arguments: [
            ("slack", 400, "invalid_payload", "invalid_payload"), ("discord", 400, #"{"code":50035}"#, "code 50035"),
            ("discord", 400, #"{"code":50035,"errors":{"embeds":{"0":{}}}}"#, "code 50035"),
            ("matrix", 413, #"{"errcode":"M_TOO_LARGE"}"#, "M_TOO_LARGE"),
            ("telegram", 400, #"{"ok":false,"description":"Bad Request: message is too long"}"#, "message is too long"),
            ("googlechat", 400, #"{"error":{"status":"INVALID_ARGUMENT"}}"#, "INVALID_ARGUMENT"),
        ])
    func rejected(_ kind: String, _ status: Int, _ body: String, _ words: String) async throws {
        guard case .rejected(let reason) = try await outcome(kind, status, body) else {
            Issue.record("not rejected")
            return
        }
        #expect(reason.contains(words))
    }

    @Test("an error of Teams in the text of a 200 decides")
    func teams() async throws {
        let words = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error "
        #expect(try await outcome("teams", 202) == .delivered)
        #expect(try await outcome("teams", 200, "1") == .delivered)
        #expect(try await outcome("teams", 200, words + "429 with ContextId x").isRetry)
        #expect(try await outcome("teams", 200, "Webhook message delivery failed with error: oops").isRetry)
        let large = try await outcome("teams", 200, words + "413 with ContextId x")
        #expect(large == .rejected(reason: "the receiver answered 200, but Teams 413"))
    }

    @Test("no reason repeats a secret or a long answer", arguments: ChatSample.all)
    func secrets(_ sample: ChatSample) async throws {
        for secret in sample.secrets {
            for status in [400, 401, 403, 404, 410, 429, 500] {
                let bodies = [
                    secret, "{\"code\":\"\(secret)\"}", "{\"errcode\":\"M_\(secret)\"}", "{\"id\":\"\(secret)\"}",
                    "{\"error\":{\"code\":\"\(secret)\",\"status\":\"bad \(secret)\"}}",
                    "{\"ok\":false,\"description\":\"no bot \(secret)\"}",
                    "{\"ok\":false,\"description\":\"\(String(repeating: "x ", count: 200))\"}",
                ]
                for body in bodies {
                    let reason = try await outcome(sample.kind, status, body).reason ?? ""
                    #expect(!reason.contains(secret) && reason.utf8.count < 250, "\(reason)")
                }
            }
        }
    }

    @Test("an attempt without a usable answer is retried with the same bytes", arguments: ChatSample.all)
    func failures(_ sample: ChatSample) async throws {
        let fetcher = ScriptedFetcher { _ in .failure(FetchError(.timeout, "said so", timedOut: true)) }
        let sink = try sample.sink(fetcher)
        #expect(await sink.deliver(.of()).isRetry)
        #expect(await sink.deliver(.of()).isRetry)
        #expect(fetcher.requests.count == 2)
        #expect(fetcher.requests[0].body == fetcher.requests[1].body)
        #expect(fetcher.requests[0].url == fetcher.requests[1].url)
    }
}
