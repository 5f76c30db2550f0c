// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Maps a mail server's last reply to an outcome.
enum MailOutcome {
    /// A temporary refusal means minutes (RFC 5321 §4.5.4.1); greylisting refuses earlier attempts.
    static let retryDelay = Duration.seconds(60)

    /// - Parameter recipients: in the order in which the server got them.
    static func of(_ reply: MailReply, to recipients: [String], secrets: [Secret]) -> Outcome {
        if reply.isAcceptance { return .delivered }
        let reason = "the server answered \(reply.code) to \(place(reply, recipients))" + quoted(reply, secrets)
        switch (reply.stage, reply.code) {
        case (_, 400..<500): return .retry(reason: reason, after: retryDelay)
        case (.login, 500..<600): return .paused(reason: reason + ": check user and password")
        // RFC 4954 §6, RFC 3207 §4: the server wants a login, perhaps after STARTTLS; another mechanism; TLS first.
        case (_, 530), (_, 534), (_, 535), (_, 538):
            return .paused(reason: reason + ": check user, password and starttls")
        case (.sender, 500..<600) where reply.code != 552: return .paused(reason: reason + ": check 'from'")
        case (.sender, 500..<600), (.recipient, 500..<600), (.data, 500..<600), (.content, 500..<600):
            return .rejected(reason: reason)
        // A refusing greeting may be about this machine's current address; any other code violates the protocol.
        default: return .retry(reason: reason, after: retryDelay)
        }
    }

    /// Maps a failed transfer to an outcome. Whether the server took the mail is unknown, so it is sent again with the same
    /// Message-ID.
    static func of(_ error: FetchError) -> Outcome {
        error.failure == .unauthorized ? .paused(reason: error.detail) : ReceiverOutcome.of(error)
    }

    private static func place(_ reply: MailReply, _ recipients: [String]) -> String {
        switch reply.stage {
        case .greeting: "our greeting"
        case .login: "the login"
        case .sender: "the sender"
        case .recipient(let index): recipients.indices.contains(index) ? recipients[index] : "a recipient"
        case .data, .content: "the mail"
        }
    }

    /// Returns the server's text, if it holds nothing of a secret: a server may repeat what it got.
    private static func quoted(_ reply: MailReply, _ secrets: [Secret]) -> String {
        let text = TerminalText.safe(reply.text.trimmed(), limit: 160)
        guard !text.isEmpty else { return "" }
        let holdsSecret = secrets.map(\.value).contains { secret in
            // Its beginning is enough, since the text was cut.
            [secret, Base64.encode(secret.utf8)].contains { !$0.isEmpty && reply.text.contains($0.prefix(16)) }
        }
        return holdsSecret || reply.stage == .login ? "" : " (\(text))"
    }
}
