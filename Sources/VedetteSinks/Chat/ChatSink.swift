// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Posts messages to a chat. All chats share it.
final class ChatSink: Sink {
    /// A delivery that must wait longer is retried later instead, so that it does not occupy a lane.
    static let longestWait = Duration.seconds(60)

    private let name: String
    private let chat: any Chat
    private let timeout: Duration
    private let tls: TLSPolicy
    private let hasLinks: Bool
    private let services: SinkServices
    private let limiter: Mutex<ChatRateLimiter>

    init(name: String, chat: any Chat, timeout: Duration, tls: TLSPolicy, hasLinks: Bool, services: SinkServices) {
        (self.name, self.chat, self.timeout, self.hasLinks) = (name, chat, timeout, hasLinks)
        (self.tls, self.services) = (tls, services)
        limiter = Mutex(ChatRateLimiter(chat.rate))
    }

    var updates: Bool { chat.updates }

    func deliver(_ message: Message) async -> Outcome {
        var content = ChatContent(message, publicURL: services.publicURL)
        if hasLinks { content.actions = await services.actions(of: message) }
        do throws(MessageError) {
            if let problem = problem(of: try chat.post(content)) { return problem }
        } catch {
            return error.outcome
        }
        if let outcome = await waitForSlot() { return outcome }
        return await send(content)
    }

    /// Returns why the request cannot be sent: a secret may have been read again since the options were validated.
    private func problem(of post: ChatPost) -> Outcome? {
        if let problem = ReceiverURL.problem(post.url) { return .paused(reason: "the sink's url \(problem)") }
        return post.headers.first { !HTTPSyntax.isFieldValue($0.value) }.map { header in
            .paused(reason: "the sink's header \(header.name) has a line break in its value")
        }
    }

    /// Waits until the rate limit allows the message; returns an outcome when it does not.
    private func waitForSlot() async -> Outcome? {
        let now = services.clock.now().boot
        switch limiter.withLock({ $0.reserve(at: now, limit: ChatSink.longestWait) }) {
        case .reserved(.zero): return nil
        case .tooLate(let wait): return .retry(reason: "waits for the receiver's rate limit", after: wait)
        case .reserved(let wait):
            do throws(CancellationError) {
                try await services.clock.sleep(until: now.advanced(by: wait))
                return nil
            } catch {
                return .retry(reason: "stopped before its slot", after: nil)
            }
        }
    }

    private func send(_ content: ChatContent) async -> Outcome {
        let refresh = SecretRefresh(of: chat.secrets, services.clock)
        do throws(FetchError) {
            if let outcome = try await prepare(refresh) { return outcome }
            var reply = try await reply(to: content)
            if chat.needsPreparation(after: reply) {
                if let outcome = try await prepare(refresh) { return outcome }
                reply = try await self.reply(to: content)
            }
            var content = content
            // A message is worth more than its links.
            if !content.actions.isEmpty, chat.refusesActions(reply) {
                content.actions = []
                reply = try await self.reply(to: content)
            }
            if content.replacing != nil, chat.refusesUpdate(reply) {
                content.replacing = nil
                reply = try await self.reply(to: content)
            }
            let outcome = await outcome(chat.outcome(of: reply), reply, refresh)
            return outcome == .delivered ? .delivered(as: content.replacing) : outcome
        } catch {
            return ReceiverOutcome.of(error)
        }
    }

    private func prepare(_ refresh: SecretRefresh) async throws(FetchError) -> Outcome? {
        guard let preparation = chat.preparation else { return nil }
        let reply = try await reply(to: preparation)
        guard let failure = chat.prepared(by: reply) else { return nil }
        return await outcome(failure, reply, refresh)
    }

    private func outcome(_ first: Outcome, _ reply: ChatReply, _ refresh: SecretRefresh) async -> Outcome {
        let outcome = await refresh.outcome(first)
        // The service asks for a pause of one message and means all of them.
        if let pause = ChatSink.pause(after: outcome, reply) {
            limiter.withLock { $0.pause(for: pause, at: services.clock.now().boot) }
        }
        return outcome
    }

    private func reply(to content: ChatContent) async throws(FetchError) -> ChatReply {
        let post: ChatPost
        do throws(MessageError) { post = try chat.post(content) } catch {
            // It was good before the wait; a secret was read again meanwhile.
            throw FetchError(.configuration, "the sink's secrets changed")
        }
        return try await reply(to: post)
    }

    private func reply(to post: ChatPost) async throws(FetchError) -> ChatReply {
        let response = try await services.fetcher.fetch(request(post))
        return ChatReply(response, at: services.clock.now().wall, secrets: chat.secrets)
    }

    private static func pause(after outcome: Outcome, _ reply: ChatReply) -> Duration? {
        if case .retry(_, let after?) = outcome { return after }
        return reply.pause
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
