// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One reply of a mail server: its code and the words of all its lines (RFC 5321 §4.2).
struct MailAnswer: Sendable, Hashable {
    var code: Int
    var text: String
}

/// Takes replies out of what a mail server sends, however it is cut into pieces.
struct MailReplies {
    /// Bytes of one reply, all its lines together.
    private static let mostBytes = 64 << 10
    /// Of the words; the rest is read and forgotten.
    private static let mostText = 400

    private var line: [UInt8] = []
    private var text = ""
    private var bytes = 0
    private var done: [MailAnswer] = []

    /// Replies that are whole, in order; they are given out once.
    mutating func take() -> [MailAnswer] {
        defer { done = [] }
        return done
    }

    /// - Throws: `.protocol` for what is no reply, `.tooLarge` for one without an end.
    mutating func append(_ chunk: some Sequence<UInt8>) throws(FetchError) {
        for byte in chunk {
            bytes += 1
            guard bytes <= MailReplies.mostBytes else {
                throw FetchError(.tooLarge, "a reply is longer than \(MailReplies.mostBytes) bytes")
            }
            if byte == 10 { try endLine() } else { line.append(byte) }
        }
    }

    /// `250-first`, `250 last`, `250` alone.
    private mutating func endLine() throws(FetchError) {
        if line.last == 13 { line.removeLast() }
        let digits = line.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }), (50...53).contains(digits[0]),
            let code = Int(String(decoding: digits, as: UTF8.self)), line.count == 3 || line[3] == 32 || line[3] == 45
        else { throw FetchError(.protocol, "what it says is no SMTP") }
        let words = line.dropFirst(4).prefix(MailReplies.mostText - min(text.utf8.count, MailReplies.mostText))
        if !words.isEmpty { text += (text.isEmpty ? "" : " ") + String(decoding: words, as: UTF8.self) }
        let isLast = line.count == 3 || line[3] == 32
        line = []
        guard isLast else { return }
        done.append(MailAnswer(code: code, text: text))
        (text, bytes) = ("", 0)
    }
}
