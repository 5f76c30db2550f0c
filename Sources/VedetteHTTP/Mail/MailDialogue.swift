// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The SMTP dialogue after the login, from MAIL to QUIT (RFC 5321 §3.3). A pure value: it takes replies and returns the
/// bytes to send.
struct MailDialogue {
    private enum Stage: Equatable { case sender, recipient(Int), data, content, quitting }

    private let mail: Mail
    private var stage = Stage.sender
    /// The reply that decides about the mail; nil until it is known.
    private(set) var finalReply: MailReply?
    /// Whether the server has answered QUIT.
    private(set) var isFinished = false

    init(_ mail: Mail) { self.mail = mail }

    /// Whether the content was handed out for sending, and its reply has not arrived.
    var awaitsFinalReply: Bool { stage == .content }

    /// The first command.
    var opening: [UInt8] { MailDialogue.line("MAIL FROM:<\(mail.sender)>") }

    /// Takes a reply and returns the bytes to send next.
    ///
    /// - Parameter isSent: whether everything handed out before was sent.
    /// - Throws: `.protocol` for a reply to what was not sent yet.
    mutating func received(_ reply: SMTPReply, isSent: Bool) throws(FetchError) -> [UInt8] {
        guard stage != .quitting else {
            isFinished = true
            return []
        }
        guard isSent || reply.code >= 400 else {
            throw FetchError(.protocol, "\(mail.server.origin) replies before it was asked")
        }
        let isPositive = (200..<300).contains(reply.code)
        switch stage {
        case .sender where isPositive, .recipient where isPositive: return next()
        case .data where reply.code == 354:
            stage = .content
            return MailDialogue.framed(mail.content)
        default: return quit(after: reply)
        }
    }

    /// The first refused recipient ends the mail before its content is sent, so that a retry sends it to nobody twice.
    private mutating func next() -> [UInt8] {
        let index = if case .recipient(let index) = stage { index + 1 } else { 0 }
        guard index < mail.recipients.count else {
            stage = .data
            return MailDialogue.line("DATA")
        }
        stage = .recipient(index)
        return MailDialogue.line("RCPT TO:<\(mail.recipients[index])>")
    }

    private mutating func quit(after reply: SMTPReply) -> [UInt8] {
        let replyStage: MailReply.Stage =
            switch stage {
            case .sender: .sender
            case .recipient(let index): .recipient(index)
            case .data: .data
            case .content, .quitting: .content
            }
        finalReply = MailReply(stage: replyStage, code: reply.code, text: reply.text)
        stage = .quitting
        return MailDialogue.line("QUIT")
    }

    private static func line(_ text: String) -> [UInt8] { Array(text.utf8) + [13, 10] }

    /// Doubles the dot of each line that begins with one, and adds the line that ends the content (RFC 5321 §4.5.2).
    static func framed(_ content: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(content.count + content.count / 64 + 5)
        var isAtStart = true
        for byte in content {
            if isAtStart, byte == 46 { out.append(46) }
            out.append(byte)
            isAtStart = byte == 10
        }
        if !isAtStart { out += [13, 10] }
        return out + [46, 13, 10]
    }
}
