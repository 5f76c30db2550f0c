// SPDX-License-Identifier: Apache-2.0

/// The final reply of a mail server, and the stage of the dialogue it belongs to.
public struct MailReply: Sendable, Hashable {
    /// The stages of the dialogue.
    public enum Stage: Sendable, Hashable {
        /// The greeting, EHLO or STARTTLS.
        case greeting
        /// The authentication.
        case login
        /// MAIL FROM.
        case sender
        /// The recipient with that index.
        case recipient(Int)
        /// Before the content was sent.
        case data
        /// After the content.
        case content
    }

    /// The stage that the reply belongs to.
    public var stage: Stage
    /// 2xx is success, 4xx a temporary and 5xx a permanent failure (RFC 5321 §4.2.1).
    public var code: Int
    /// The text of the reply without its codes, cut to 400 bytes. It is untrusted.
    public var text: String

    /// Creates a reply.
    public init(stage: Stage, code: Int, text: String = "") { (self.stage, self.code, self.text) = (stage, code, text) }

    /// Whether the server has accepted the mail.
    public var isAcceptance: Bool { stage == .content && (200..<300).contains(code) }
}
