// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A chat service: the request for a message, and the outcome of an answer. It is a value without I/O: `ChatSink` limits
/// the rate, validates the request and sends it.
protocol Chat: Sendable {
    /// A rate within the service's limit.
    var rate: CallRate { get }
    /// Addresses and tokens, which no reason may repeat.
    var secrets: [Secret] { get }
    /// Whether a message can take the place of an earlier one; then each is delivered as `Outcome.delivered(as:)` has it.
    var updates: Bool { get }
    /// Returns whether an answer says that the earlier message cannot be changed.
    func refusesUpdate(_ reply: ChatReply) -> Bool
    /// Returns whether an answer says that the addresses of the actions are refused, and not the message.
    func refusesActions(_ reply: ChatReply) -> Bool
    /// Returns the request for a message: the same bytes for the same content, so that a retry sends the same.
    func post(_ content: ChatContent) throws(MessageError) -> ChatPost
    func outcome(of reply: ChatReply) -> Outcome
    /// A request that must succeed before a message can be posted, such as joining a room; nil for none.
    var preparation: ChatPost? { get }
    /// Takes the answer of the preparation. Returns the outcome of the delivery when it failed.
    func prepared(by reply: ChatReply) -> Outcome?
    /// Returns whether a message that was refused may be accepted after another preparation.
    func needsPreparation(after reply: ChatReply) -> Bool
}

extension Chat {
    var updates: Bool { false }
    func refusesUpdate(_ reply: ChatReply) -> Bool { false }
    func refusesActions(_ reply: ChatReply) -> Bool { false }
    func outcome(of reply: ChatReply) -> Outcome { reply.outcome() }
    var preparation: ChatPost? { nil }
    func prepared(by reply: ChatReply) -> Outcome? { nil }
    func needsPreparation(after reply: ChatReply) -> Bool { false }
}

/// One request to a chat, as JSON.
struct ChatPost: Sendable {
    var method = "POST"
    var url: String
    var headers: [Header] = []
    var credentials: Credentials?
    var json: JSON
}

/// The answer of a chat.
struct ChatReply: Sendable {
    var status: Int
    var body: [UInt8] = []
    /// The value of the Retry-After header.
    var retryAfter: Duration?
    /// The value of `X-RateLimit-Reset-After`, where no call is left until then.
    var pause: Duration?
    var secrets: [Secret] = []

    /// Nil when the body is no JSON.
    var json: JSON? { try? JSON(parsing: body) }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the outcome by the status alone, with the service's own error code where it may be shown.
    /// - Parameter wait: the wait that the body asks for, which wins over Retry-After.
    func outcome(_ code: String? = nil, wait: Duration? = nil) -> Outcome {
        explained(ReceiverOutcome.of(status: status, retryAfter: wait ?? retryAfter), code)
    }

    /// Pauses the sink: the address, the token or the room is wrong, and only a person can change that.
    func pausing(_ code: String?, _ remedy: String) -> Outcome {
        explained(.paused(reason: "the receiver answered \(status)"), code, remedy)
    }

    /// Disables the sink: the receiver was removed for good.
    func disabling(_ code: String?, _ remedy: String) -> Outcome {
        explained(.disabled(reason: "the receiver answered \(status)"), code, remedy)
    }

    private func explained(_ outcome: Outcome, _ code: String?, _ remedy: String? = nil) -> Outcome {
        let tail = (quoted(code).map { " (\($0))" } ?? "") + (remedy.map { ": " + $0 } ?? "")
        return switch outcome {
        case .delivered: .delivered
        case .retry(let reason, let after): .retry(reason: reason + tail, after: after)
        case .rejected(let reason): .rejected(reason: reason + tail)
        case .paused(let reason): .paused(reason: reason + tail)
        case .disabled(let reason): .disabled(reason: reason + tail)
        }
    }

    /// Returns a short plain word that is no part of a secret: a receiver may repeat the address it was called with.
    private func quoted(_ code: String?) -> String? {
        guard let code, (1...100).contains(code.utf8.count), code.utf8.allSatisfy({ (32..<127).contains($0) }) else {
            return nil
        }
        let parts = code.split { !$0.isLetter && !$0.isNumber && !"_-".contains($0) }.filter { $0.count > 5 }
        let values = secrets.map(\.value)
        return values.contains { value in parts.contains { value.contains($0) } || code.contains(value) } ? nil : code
    }
}
