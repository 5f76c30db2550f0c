// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One reply of a mail server: its code, and the text of all its lines (RFC 5321 §4.2).
struct SMTPReply: Sendable, Hashable {
    var code: Int
    var text: String
}

/// Parses replies from the bytes of a mail server, in pieces of any size.
struct MailReplies {
    /// Bytes of one reply with all its lines.
    private static let maximumBytes = 64 << 10
    /// Bytes of the text; the rest is dropped.
    private static let maximumText = 400

    private var line: [UInt8] = []
    private var text = ""
    private var bytes = 0
    private var complete: [SMTPReply] = []

    /// Removes and returns the complete replies, in order.
    mutating func take() -> [SMTPReply] {
        defer { complete = [] }
        return complete
    }

    /// - Throws: `.protocol` for bytes that are not a reply, `.tooLarge` for a reply without an end.
    mutating func append(_ chunk: some Sequence<UInt8>) throws(FetchError) {
        for byte in chunk {
            bytes += 1
            guard bytes <= MailReplies.maximumBytes else {
                throw FetchError(.tooLarge, "a reply is longer than \(MailReplies.maximumBytes) bytes")
            }
            if byte == 10 { try endLine() } else { line.append(byte) }
        }
    }

    /// Parses `250-first`, `250 last` or `250`.
    private mutating func endLine() throws(FetchError) {
        if line.last == 13 { line.removeLast() }
        let digits = line.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }), (50...53).contains(digits[0]),
            let code = Int(String(decoding: digits, as: UTF8.self)), line.count == 3 || line[3] == 32 || line[3] == 45
        else { throw FetchError(.protocol, "a reply has no SMTP code") }
        let words = line.dropFirst(4).prefix(MailReplies.maximumText - min(text.utf8.count, MailReplies.maximumText))
        if !words.isEmpty { text += (text.isEmpty ? "" : " ") + String(decoding: words, as: UTF8.self) }
        let isLast = line.count == 3 || line[3] == 32
        line = []
        guard isLast else { return }
        complete.append(SMTPReply(code: code, text: text))
        (text, bytes) = ("", 0)
    }
}
