// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteHTTP
import VedetteSystem

@testable import VedetteSinks

/// Checks every HTTP sink on the wire, with the real client and a receiver that misbehaves as receivers do.
@Suite("The contract of HTTP sinks, on the wire", .timeLimit(.minutes(10)))
struct ReceiverContractTests {
    /// The chats, and the webhook with all that it can be given to keep secret.
    static let all =
        ChatSample.all + [
            ChatSample(
                kind: "webhook",
                options: [
                    "url": .secret(Secret("https://ops.example.com/in/w3bh00kS3cretPath?k=w3bh00kS3cretQuery")),
                    "token": .secret(Secret("w3bh00kS3cretToken")),
                    "headers": .headers([Header("X-Key", Secret("w3bh00kS3cretHeader"))]),
                    "sign": .list([.secret(Secret("whsec_" + Base64.encode("w3bh00kS3cretKey-24-bytes".utf8)))]
                    ),
                ],
                secrets: [
                    "w3bh00kS3cretPath", "w3bh00kS3cretQuery", "w3bh00kS3cretToken", "w3bh00kS3cretHeader",
                    Base64.encode("w3bh00kS3cretKey-24-bytes".utf8),
                ])
        ]

    @Test("every kind that has a url is covered")
    func complete() {
        let kinds = Set(SinkKinds.all.filter { kind in kind.options.contains { $0.name == "url" } }.map(\.name))
        #expect(kinds.subtracting(["mail"]) == Set(Self.all.map(\.kind)))
    }

    /// The sample on the receiver instead of the service.
    static func sink(_ sample: ChatSample, _ origin: String, _ behaviour: String, _ client: HTTPClient) throws
        -> any Sink
    {
        var options = sample.options
        switch options["url"] {
        case .secret(let url)?: options["url"] = .secret(Secret(moved(url.value, to: origin)))
        case .text(let url)?: options["url"] = .text(moved(url, to: origin))
        default: options["url"] = .text(origin)
        }
        options["timeout"] = .duration(.milliseconds(400))
        let entry = try #require(sample.entry)
        let services = SinkServices(fetcher: client, clock: SteppingClock(), userAgent: behaviour)
        return try entry.make(Options(options))("team", services)
    }

    private static func moved(_ url: String, to origin: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3)
        return origin + (parts.count > 2 ? "/" + parts[2...].joined(separator: "/") : "")
    }

    /// One attempt for each behaviour.
    static func outcomes(_ sample: ChatSample, _ behaviours: [String]) async throws
        -> (outcomes: [String: Outcome], seen: [MisbehavingReceiver.Seen])
    {
        let (receiver, client) = (try MisbehavingReceiver(), try HTTPClient())
        var outcomes: [String: Outcome] = [:]
        for behaviour in behaviours {
            outcomes[behaviour] = try await sink(sample, receiver.origin, behaviour, client).deliver(.of())
        }
        let seen = try await receiver.seen(client, agents: behaviours)
        await client.shutdown()
        return (outcomes, seen)
    }

    @Test("every status from 100 to 599 has the outcome of the table, after one request", arguments: all)
    func statuses(_ sample: ChatSample) async throws {
        let (outcomes, seen) = try await Self.outcomes(sample, (100...599).map { "status-\($0)" })
        for status in 100...599 {
            let (outcome, expected) = (
                outcomes["status-\(status)"], ReceiverOutcome.of(status: status, retryAfter: nil)
            )
            #expect(outcome?.name == expected.name, "\(status): \(String(describing: outcome))")
            // Without a final answer the connection was closed, and a request on a closed one may be repeated once.
            let count = seen.filter { $0.agent == "status-\(status)" }.count
            #expect(count == 1 || (status < 200 && count == 2), "\(status): \(count)")
        }
    }

    @Test("a redirect is not followed", arguments: all)
    func redirects(_ sample: ChatSample) async throws {
        let (outcomes, seen) = try await Self.outcomes(sample, [301, 302, 303, 307, 308].map { "redirect-\($0)" })
        #expect(outcomes.values.allSatisfy { $0.name == "rejected" })
        #expect(seen.count == 5 && !seen.contains { $0.path == "/followed" })
    }

    @Test("an attempt without an answer is retried: silent, late, cut in its head, reset or not HTTP", arguments: all)
    func failures(_ sample: ChatSample) async throws {
        let bad = ["silent", "drip", "close", "reset", "head", "garbage", "headers"]
        let (outcomes, _) = try await Self.outcomes(sample, bad)
        for word in bad { #expect(outcomes[word]?.isRetry == true, "\(word): \(String(describing: outcomes[word]))") }
    }

    @Test(
        "the status decides, even when the body is cut, not gzip, unframed or behind an early hint",
        arguments: all)
    func bodies(_ sample: ChatSample) async throws {
        let words = ["length", "chunked", "gzip", "early", "unframed"]
        let (outcomes, seen) = try await Self.outcomes(sample, words)
        for word in words { #expect(outcomes[word] == .delivered, "\(word): \(String(describing: outcomes[word]))") }
        #expect(seen.count == words.count)
    }

    @Test("an answer of 10 GB is read to 64 KiB; buffers hold what else was sent", arguments: all)
    func floods(_ sample: ChatSample) async throws {
        let (outcomes, seen) = try await Self.outcomes(sample, ["huge", "endless"])
        #expect(outcomes["huge"] == .delivered && outcomes["endless"]?.isRetry == true, "\(outcomes)")
        for word in ["huge", "endless"] {
            let sent = seen.filter { $0.agent == word }.map(\.sent)
            #expect(sent.count == 1 && sent[0] < 16 << 20, "\(word): \(sent)")
        }
    }

    @Test("no reason holds a secret, even when the receiver repeats the whole request", arguments: all)
    func secrets(_ sample: ChatSample) async throws {
        let statuses = [200, 302, 400, 401, 403, 404, 405, 407, 410, 413, 429, 451, 500, 501, 503]
        for turn in 0..<4 {
            // The receiver takes one word after another, so that each status meets several.
            let bad = (statuses[turn...] + statuses[..<turn]).map { "echo-\($0)" }
            let (outcomes, seen) = try await Self.outcomes(sample, bad + ["reset", "length"])
            #expect(seen.count >= bad.count)
            for (word, outcome) in outcomes {
                let reason = outcome.reason ?? ""
                for secret in sample.secrets { #expect(!reason.contains(secret), "\(word): \(reason)") }
                #expect(reason.utf8.count < 300 && !reason.contains("\n"), "\(word): \(reason)")
            }
        }
    }
}

extension Outcome {
    fileprivate var name: String {
        switch self {
        case .delivered: "delivered"
        case .retry: "retry"
        case .rejected: "rejected"
        case .paused: "paused"
        case .disabled: "disabled"
        }
    }
}
