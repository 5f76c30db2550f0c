// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a mail server's last word means for a delivery.
enum MailOutcome {
    /// "Come again later" means minutes (RFC 5321 §4.5.4.1); greylisting lets nobody in sooner.
    static let rest = Duration.seconds(60)

    /// - Parameter recipients: in the order in which they were named to the server.
    static func of(_ reply: MailReply, to recipients: [String], secrets: [Secret]) -> Outcome {
        if reply.isAcceptance { return .delivered }
        let reason = "the server answered \(reply.code) to \(place(reply, recipients))" + said(reply, secrets)
        switch (reply.stage, reply.code) {
        case (_, 400..<500): return .retry(reason: reason, after: rest)
        case (.login, 500..<600): return .paused(reason: reason + ": check user and password")
        // RFC 4954 §6, RFC 3207 §4: a login is wanted, perhaps after STARTTLS; one of another kind; TLS first.
        case (_, 530), (_, 534), (_, 535), (_, 538):
            return .paused(reason: reason + ": check user, password and starttls")
        case (.sender, 500..<600) where reply.code != 552: return .paused(reason: reason + ": check 'from'")
        case (.sender, 500..<600), (.recipient, 500..<600), (.data, 500..<600), (.content, 500..<600):
            return .rejected(reason: reason)
        // A greeting that sends us away may be about our address of today; any other code breaks the rules.
        default: return .retry(reason: reason, after: rest)
        }
    }

    /// No verdict that could be read: the same mail is sent again, with the same Message-ID.
    static func of(_ error: FetchError) -> Outcome {
        error.failure == .unauthorized ? .paused(reason: error.detail) : WebhookOutcome.of(error)
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

    /// The server's words, where they are plain and hold nothing of a secret: a server may repeat what it was told.
    private static func said(_ reply: MailReply, _ secrets: [Secret]) -> String {
        let words = TerminalText.safe(reply.text.trimmed(), limit: 160)
        guard !words.isEmpty else { return "" }
        let isTelling = secrets.map(\.value).contains { secret in
            // Their beginning is enough: the words were cut.
            [secret, MailText.base64(Array(secret.utf8))].contains { !$0.isEmpty && reply.text.contains($0.prefix(16)) }
        }
        return isTelling || reply.stage == .login ? "" : " (\(words))"
    }
}
