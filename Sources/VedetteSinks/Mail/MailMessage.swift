// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders a message as a mail: a header, and the text as plain text and as HTML (RFC 5322, RFC 2046 §5.1.4). The same
/// message and time give the same bytes.
struct MailMessage {
    /// Limits in bytes of the subject and of a rule's text.
    private static let maximumTitle = 240
    private static let maximumText = 20_000
    private static let maximumFields = 12
    private static let plain = ChatText(.bytes)
    private static let html = ChatText.html(.bytes, newline: "<br>\n")

    let message: Message
    var content: ChatContent
    let from: MailAddress
    let to: [MailAddress]
    let cc: [MailAddress]
    /// The time of this attempt, so that a late mail is not sorted among older ones.
    let now: Timestamp

    init(
        _ message: Message, from: MailAddress, to: [MailAddress], cc: [MailAddress], publicURL: String? = nil,
        now: Timestamp
    ) {
        (self.message, content) = (message, ChatContent(message, publicURL: publicURL))
        (self.from, self.to, self.cc, self.now) = (from, to, cc, now)
    }

    var bytes: [UInt8] { Array((header + body).utf8) }

    // MARK: The header

    private var header: String {
        let subject = Self.plain.line(content.title, Self.maximumTitle)
        var fields: [(String, [String])] = [
            ("From", from.words), ("To", Self.list(to.map(\.words))), ("Cc", Self.list(cc.map(\.words))),
            ("Subject", MailText.words(subject)),
            ("Date", [MailText.date(now)]), ("Message-ID", ["<\(id)@\(from.domain)>"]),
            ("In-Reply-To", [thread]), ("References", [thread]),
            // RFC 3834 §5: it is not answered with an out-of-office reply.
            ("Auto-Submitted", ["auto-generated"]),
        ]
        switch content.priority {
        case .high: fields += [("Importance", ["high"]), ("X-Priority", ["1"])]
        case .low: fields += [("Importance", ["low"]), ("X-Priority", ["5"])]
        case .normal: break
        }
        fields += [
            ("Keywords", keywords), ("X-Vedette-Source", Self.words(message.event.source)),
            ("X-Vedette-Rule", Self.words(message.rule)), ("MIME-Version", ["1.0"]),
            ("Content-Type", ["multipart/alternative;", "boundary=\"\(boundary)\""]),
        ]
        return fields.filter { !$0.1.isEmpty }.map { MailText.field($0, $1) }.joined() + "\r\n"
    }

    /// The same over all attempts, so that a mailbox recognises a mail that it has already.
    private var id: String {
        HTTPSyntax.isWord(message.id) && !message.id.isEmpty ? message.id : Self.hex([message.id])
    }

    /// The thread of all mails about an item or a source. No mail has this id; mail readers accept that.
    private var thread: String { "<item.\(content.thread)@\(from.domain)>" }

    /// The boundary between the parts: no quoted-printable part holds a `=_`.
    private var boundary: String { "=_" + Self.hex([message.id, content.thread]) }

    private var keywords: [String] {
        Self.list(content.tags.filter { !$0.isEmpty }.map { MailText.phrase(Self.plain.line($0, 60)) })
    }

    private static func words(_ text: String) -> [String] { MailText.words(plain.line(text, 200)) }

    /// Joins addresses with commas, separated from encoded words (RFC 2047 §5).
    private static func list(_ parts: [[String]]) -> [String] {
        parts.enumerated().flatMap { i, words in
            guard i < parts.count - 1, let last = words.last else { return words }
            return last.hasSuffix("?=") ? words + [","] : words.dropLast() + [last + ","]
        }
    }

    private static func hex(_ words: [String]) -> String {
        var digest = StableHash()
        for word in words { digest.add(word) }
        return Identifier.hex(digest.value)
    }

    // MARK: The parts

    private var body: String {
        let parts = [("plain", plainText), ("html", htmlText)].map { type, text in
            "--\(boundary)\r\nContent-Type: text/\(type); charset=utf-8\r\n"
                + "Content-Transfer-Encoding: quoted-printable\r\n\r\n" + MailText.quotedPrintable(text)
        }
        return parts.joined() + "--\(boundary)--\r\n"
    }

    private var plainText: String {
        let facts = facts.map { "\(Self.plain.line($0.name, 60)): \(Self.plain.line($0.value, 300))" }
        let text = lines.map { line, link in line + (link.map { "\n  " + $0 } ?? "") }.joined(separator: "\n")
        let paragraphs = [
            Self.plain.line(content.title, 1000), text,
            facts.joined(separator: "\n"), content.link ?? "",
            content.actions.map { "\($0.label):\n  \($0.url)" }.joined(separator: "\n"),
            "\(Self.plain.line(content.footer, 300))\n\(seen)",
        ]
        return paragraphs.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The lines of the text; a digest's lines with the link of their item.
    private var lines: [(text: String, link: String?)] {
        let summary = message.event.summary
        let named = zip(summary?.lines ?? [], summary?.links ?? []).map { ($0, ChatContent.link($1)) }
        let links = Dictionary(named) { first, _ in first }
        return Self.plain.lines(of: content, Self.maximumText).split(separator: "\n", omittingEmptySubsequences: false)
            .map { (String($0), links[String($0)] ?? nil) }
    }

    private var seen: String { "Seen \(MailText.date(content.time).dropLast(5))UTC" }

    /// Returns HTML without images, styles or scripts. `dir` gives each text its own direction.
    private var htmlText: String {
        let title = Self.escaped(content.title, 1000)
        let head = content.link.map { "<a href=\"\(Self.escaped($0, 2000))\">\(title)</a>" } ?? title
        let rows = facts.map {
            "<tr><th align=\"left\">\(Self.escaped($0.name, 60))</th>"
                + "<td dir=\"auto\">\(Self.escaped($0.value, 300))</td></tr>\n"
        }
        let text = lines.map { line, link in
            let shown = Self.html.line(line, .max)
            return link.map { "<a href=\"\(Self.escaped($0, 2000))\">\(shown)</a>" } ?? shown
        }.joined(separator: "<br>\n")
        let actions = content.actions.map { "<a href=\"\(Self.escaped($0.url, 10_000))\">\($0.label)</a>" }
        return """
            <!DOCTYPE html>
            <html>
            <head><meta charset="utf-8"><title>\(title)</title></head>
            <body style="font-family: sans-serif">
            <h3 dir="auto" style="border-left: 6px solid \(content.color.hex); padding-left: 10px">\(head)</h3>

            """ + (text.isEmpty ? "" : "<p dir=\"auto\">\(text)</p>\n")
                + (rows.isEmpty ? "" : "<table cellpadding=\"4\">\n\(rows.joined())</table>\n")
                + (actions.isEmpty ? "" : "<p>\(actions.joined(separator: " · "))</p>\n")
                + "<p style=\"color: #57606a\"><span dir=\"auto\">\(Self.escaped(content.footer, 300))</span><br>\n\(seen)</p>\n"
                + "</body>\n</html>"
    }

    /// The limit is for the plain text, whatever its escapes take.
    private static func escaped(_ text: String, _ limit: Int) -> String { html.line(plain.line(text, limit), .max) }

    /// Returns all changes, the main one too, and the other fields of the item.
    private var facts: [ChatContent.Fact] {
        let event = message.event
        let main = message.change.map { [ChatContent.Fact($0)] } ?? []
        let changed = Set(event.changes.map(\.field))
        let fields = (event.item?.fields).map(Array.init) ?? []
        let rest = fields.lazy.filter { !changed.contains($0.name) && !$0.value.description.isEmpty }
            .prefix(Self.maximumFields).map { ChatContent.Fact(name: $0.name, value: $0.value.description) }
        return main + content.facts + rest
    }
}
