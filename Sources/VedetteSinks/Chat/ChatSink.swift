// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Posts messages to a chat: the sending that all chats share.
final class ChatSink: Sink {
    /// Who must wait longer gives its place back and comes again.
    static let longestWait = Duration.seconds(60)

    private let name: String
    private let chat: any Chat
    private let timeout: Duration
    private let tls: TLSPolicy
    private let services: SinkServices
    private let turns: Mutex<RateLimiter>

    init(name: String, chat: any Chat, timeout: Duration, tls: TLSPolicy, services: SinkServices) {
        (self.name, self.chat, self.timeout) = (name, chat, timeout)
        (self.tls, self.services) = (tls, services)
        turns = Mutex(RateLimiter(chat.pace))
    }

    func deliver(_ message: Message) async -> Outcome {
        let post: ChatPost
        do throws(MessageError) {
            post = try chat.post(ChatNote(message))
        } catch {
            return error.outcome
        }
        // A secret may have been read anew since the options were judged.
        if let problem = HTTPSyntax.problem(inURL: post.url) { return .paused(reason: "the sink's url \(problem)") }
        if let header = post.headers.first(where: { !HTTPSyntax.isFieldValue($0.value) }) {
            return .paused(reason: "the sink's header \(header.name) has a line break in its value")
        }
        if let outcome = await waitForTurn() { return outcome }
        return await send(post)
    }

    /// Nil when it is this message's turn.
    private func waitForTurn() async -> Outcome? {
        let now = services.clock.now().boot
        switch turns.withLock({ $0.take(at: now, most: ChatSink.longestWait) }) {
        case .taken(.zero): return nil
        case .tooLate(let wait): return .retry(reason: "waits for the receiver's rate limit", after: wait)
        case .taken(let wait):
            do throws(CancellationError) {
                try await services.clock.sleep(until: now.advanced(by: wait))
                return nil
            } catch {
                return .retry(reason: "stopped before its turn", after: nil)
            }
        }
    }

    private func send(_ post: ChatPost) async -> Outcome {
        do throws(FetchError) {
            let response = try await services.fetcher.fetch(request(post))
            let now = services.clock.now()
            let reply = ChatReply(response, at: now.wall, secrets: chat.secrets)
            let outcome = await SecretRefresh.outcome(chat.judge(reply), of: chat.secrets)
            // Asked of one message, a rest is meant for all of them.
            if let rest = ChatSink.rest(after: outcome, reply) { turns.withLock { $0.hold(for: rest, at: now.boot) } }
            return outcome
        } catch {
            return WebhookOutcome.of(error)
        }
    }

    private static func rest(after outcome: Outcome, _ reply: ChatReply) -> Duration? {
        if case .retry(_, let after?) = outcome { return after }
        return reply.rest
    }

    private func request(_ post: ChatPost) -> Request {
        let headers = [
            Header("Content-Type", "application/json; charset=utf-8"), Header("User-Agent", services.userAgent),
        ]
        return Request(
            method: post.method, url: post.url, headers: headers + post.headers, body: post.json.bytes,
            credentials: post.credentials, tls: tls, lane: .deliveries, group: name,
            limits: .delivery(within: timeout), redirects: 0)
    }
}

extension ChatReply {
    init(_ response: Response, at now: Timestamp, secrets: [Secret]) {
        let headers = response.headers
        self.init(
            status: response.status, body: response.body, retryAfter: headers.retryAfter(at: now), secrets: secrets)
        guard headers["X-RateLimit-Remaining"] == "0", let seconds = headers["X-RateLimit-Reset-After"] else { return }
        rest = Double(seconds).flatMap(ChatReply.wait(seconds:))
    }

    /// What a body asks for; nil for what is no wait, an hour for what is longer.
    static func wait(seconds: Double?) -> Duration? {
        guard let seconds, seconds > 0 else { return nil }
        return .milliseconds(Int64((min(seconds, 3600) * 1000).rounded(.up)))
    }
}

extension FetchLimits {
    /// One attempt of a delivery. Replies are read to 64 KiB.
    static func delivery(within timeout: Duration) -> FetchLimits {
        var limits = FetchLimits()
        (limits.received, limits.inflated) = (64 << 10, 64 << 10)
        (limits.total, limits.firstByte) = (timeout, timeout)
        limits.connect = min(limits.connect, timeout)
        return limits
    }
}
