// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What is said to a mail server once it knows us, from MAIL to QUIT (RFC 5321 §3.3). All values: what it hears in, what
/// it says out.
struct MailDialogue {
    private enum Stage: Equatable { case sender, recipient(Int), data, content, leaving }

    private let mail: Mail
    private var stage = Stage.sender
    private(set) var verdict: MailReply?
    /// The server has answered QUIT.
    private(set) var isOver = false

    init(_ mail: Mail) { self.mail = mail }

    /// It was asked for the content and has said it.
    var awaitsVerdict: Bool { stage == .content }

    var opening: [UInt8] { MailDialogue.line("MAIL FROM:<\(mail.sender)>") }

    /// - Parameter isSent: all that we have said is on its way.
    /// - Returns: what is said next.
    /// - Throws: `.protocol` when it answers what was not asked yet.
    mutating func heard(_ answer: MailAnswer, isSent: Bool) throws(FetchError) -> [UInt8] {
        guard stage != .leaving else {
            isOver = true
            return []
        }
        guard isSent || answer.code >= 400 else {
            throw FetchError(.protocol, "\(mail.server.origin) answers before it is asked")
        }
        let isYes = (200..<300).contains(answer.code)
        switch stage {
        case .sender where isYes, .recipient where isYes: return next()
        case .data where answer.code == 354:
            stage = .content
            return MailDialogue.framed(mail.content)
        default: return leave(answer)
        }
    }

    /// One refused recipient ends it before any content was sent: so a later attempt brings nobody the same mail twice.
    private mutating func next() -> [UInt8] {
        let index = if case .recipient(let index) = stage { index + 1 } else { 0 }
        guard index < mail.recipients.count else {
            stage = .data
            return MailDialogue.line("DATA")
        }
        stage = .recipient(index)
        return MailDialogue.line("RCPT TO:<\(mail.recipients[index])>")
    }

    private mutating func leave(_ answer: MailAnswer) -> [UInt8] {
        let at: MailReply.Stage =
            switch stage {
            case .sender: .sender
            case .recipient(let index): .recipient(index)
            case .data: .data
            case .content, .leaving: .content
            }
        verdict = MailReply(stage: at, code: answer.code, text: answer.text)
        stage = .leaving
        return MailDialogue.line("QUIT")
    }

    private static func line(_ text: String) -> [UInt8] { Array(text.utf8) + [13, 10] }

    /// With a dot before each line that begins with one, and the line that ends it (RFC 5321 §4.5.2).
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
