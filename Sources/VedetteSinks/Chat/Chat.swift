// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One chat service: where a message is posted, what it looks like there, and what an answer means. All values: the sink
/// around it sends, waits for its turn and refuses what must not be sent.
protocol Chat: Sendable {
    /// Within what the service promises to take.
    var pace: CallRate { get }
    /// What no reason may repeat: addresses and tokens.
    var secrets: [Secret] { get }
    /// The same bytes for the same note, so that a retry repeats itself.
    func post(_ note: ChatNote) throws(MessageError) -> ChatPost
    func judge(_ reply: ChatReply) -> Outcome
}

extension Chat {
    func judge(_ reply: ChatReply) -> Outcome { reply.outcome() }
}

/// One request to a chat, as JSON.
struct ChatPost: Sendable {
    var method = "POST"
    var url: String
    var headers: [Header] = []
    var credentials: Credentials?
    var json: JSON
}

/// What a chat answered.
struct ChatReply: Sendable {
    var status: Int
    var body: [UInt8] = []
    /// What the header asks for.
    var retryAfter: Duration?
    /// Of `X-RateLimit-Reset-After`, where no call is left until then.
    var rest: Duration?
    var secrets: [Secret] = []

    /// Nil when the body is no JSON.
    var json: JSON? { try? JSON(parsing: body) }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// What the status alone says, with the service's own word for it where that may be shown.
    /// - Parameter wait: what the body asks for, where the service says it there.
    func outcome(_ word: String? = nil, wait: Duration? = nil) -> Outcome {
        said(WebhookOutcome.of(status: status, retryAfter: wait ?? retryAfter), word)
    }

    /// The address, the token or the room is wrong: another attempt changes nothing, a person does.
    func pausing(_ word: String?, _ remedy: String) -> Outcome {
        said(.paused(reason: "the receiver answered \(status)"), word, remedy)
    }

    /// The receiver was taken away for good.
    func disabling(_ word: String?, _ remedy: String) -> Outcome {
        said(.disabled(reason: "the receiver answered \(status)"), word, remedy)
    }

    private func said(_ outcome: Outcome, _ word: String?, _ remedy: String? = nil) -> Outcome {
        let tail = (quoted(word).map { " (\($0))" } ?? "") + (remedy.map { ": " + $0 } ?? "")
        return switch outcome {
        case .delivered: .delivered
        case .retry(let reason, let after): .retry(reason: reason + tail, after: after)
        case .rejected(let reason): .rejected(reason: reason + tail)
        case .paused(let reason): .paused(reason: reason + tail)
        case .disabled(let reason): .disabled(reason: reason + tail)
        }
    }

    /// Short plain words only, and none that is part of a secret: a receiver may repeat what it was called with.
    private func quoted(_ word: String?) -> String? {
        guard let word, (1...100).contains(word.utf8.count), word.utf8.allSatisfy({ (32..<127).contains($0) }) else {
            return nil
        }
        let parts = word.split { !$0.isLetter && !$0.isNumber && !"_-".contains($0) }.filter { $0.count > 5 }
        let values = secrets.map(\.value)
        return values.contains { value in parts.contains { value.contains($0) } || word.contains(value) } ? nil : word
    }
}
