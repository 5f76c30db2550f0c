// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The unit in which a chat counts the length of a text.
enum TextUnit: Sendable {
    case utf16, bytes

    func size(of scalar: Unicode.Scalar) -> Int {
        switch self {
        case .utf16: UTF16.width(scalar)
        case .bytes: UTF8.width(scalar)
        }
    }

    func size(of text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + size(of: $1) } }
}

/// Makes untrusted text safe for a chat: it is escaped, and text that is too long ends with `…`.
struct ChatText: Sendable {
    var unit: TextUnit
    /// Returns the escape of a scalar that has a meaning there; nil when it has none. It gets scalars and not characters,
    /// since a combining mark behind a `<` makes another character of it, and the chat still reads a `<`.
    var escape: @Sendable (Unicode.Scalar) -> String?
    /// Whether the chat makes links of web addresses in this text. An escape would be a part of the link, so nothing in an
    /// address is escaped but `@`, which could mention someone even there.
    var linksAddresses: Bool

    init(
        _ unit: TextUnit, linksAddresses: Bool = false,
        escape: @escaping @Sendable (Unicode.Scalar) -> String? = { _ in nil }
    ) {
        (self.unit, self.linksAddresses, self.escape) = (unit, linksAddresses, escape)
    }

    /// Returns the text on one line.
    /// - Parameter limit: in units, escapes counted; longer text ends with `…`, between two characters.
    func line(_ text: String, _ limit: Int) -> String { fitted(text, limit, newline: " ") }

    /// Returns the text with its line breaks.
    func lines(_ text: String, _ limit: Int) -> String { fitted(text, limit, newline: "\n") }

    /// Returns the text of a message with its line breaks. If it is too long, it ends with the number of lines that are
    /// missing, and with the address at which they are.
    func lines(of content: ChatContent, _ limit: Int, most: Int = .max) -> String {
        lines(content.text, limit, most: most, page: content.page)
    }

    func lines(_ text: String, _ limit: Int, most: Int = .max, page: String?) -> String {
        func end(_ missing: Int) -> String {
            let words = missing > 0 ? ["… and \(counted(missing, "more line"))"] : []
            let end = (words + (page.map { [$0] } ?? [])).joined(separator: ": ")
            return end.isEmpty ? "" : lines("\n" + end, .max)
        }
        let whole = start(of: text, limit, most: most)
        guard whole.rest < text.endIndex else { return whole.shown }
        let room = limit - unit.size(of: end(ChatText.lineBreaks(in: text))) - unit.size(of: "…")
        guard room > 0 else { return lines(text, limit) }
        var (shown, rest) = start(of: text, room, most: most)
        let missing = ChatText.lineBreaks(in: text[rest...])
        if !text[rest].isNewline { shown += "…" }
        return shown + end(missing)
    }

    /// Returns how many characters of a text are line breaks. Scalars are looked at, since a message may be long: no break is part
    /// of a longer character, but the two scalars of "\r\n" are one.
    static func lineBreaks(in text: some StringProtocol) -> Int {
        var (count, last) = (0, Unicode.Scalar(0))
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A where last == "\r": break
            case 0x0A...0x0D, 0x85, 0x2028, 0x2029: count += 1
            default: break
            }
            last = scalar
        }
        return count
    }

    /// Returns the beginning of a text that fits, and the place behind it.
    private func start(of text: String, _ limit: Int, most: Int) -> (shown: String, rest: String.Index) {
        var (shown, used, count, at) = ("", 0, 1, text.startIndex)
        var addresses = WebAddresses(in: text)
        while at < text.endIndex {
            let piece = self.shown(text[at], "\n", isInAddress: linksAddresses && addresses.contain(at))
            used += unit.size(of: piece)
            if text[at].isNewline { count += 1 }
            guard used <= limit, count <= most else {
                // A line that is missing as a whole leaves no empty one.
                if at > text.startIndex, text[text.index(before: at)].isNewline {
                    at = text.index(before: at)
                    shown.removeLast(self.shown("\n", "\n").count)
                }
                break
            }
            shown += piece
            at = text.index(after: at)
        }
        return (shown, at)
    }

    private func fitted(_ text: String, _ limit: Int, newline: Unicode.Scalar) -> String {
        var out = ""
        var used = 0
        // The last place where the text can end and leave room for the `…`.
        var end = 0
        var addresses = WebAddresses(in: text)
        for (at, character) in zip(text.indices, text) {
            let piece = shown(character, newline, isInAddress: linksAddresses && addresses.contain(at))
            used += unit.size(of: piece)
            if used > limit { return out[..<out.utf8.index(out.startIndex, offsetBy: end)] + "…" }
            out += piece
            if used + unit.size(of: "…") <= limit { end = out.utf8.count }
        }
        return out
    }

    private func shown(_ character: Character, _ newline: Unicode.Scalar, isInAddress: Bool = false) -> String {
        // `%40` means the same in an address.
        if isInAddress { return character == "@" ? "%40" : String(character) }
        if character.isNewline { return escape(newline) ?? String(newline) }
        var piece = ""
        for scalar in character.unicodeScalars {
            let scalar = ChatText.harmless(scalar)
            if let escaped = escape(scalar) { piece += escaped } else { piece.unicodeScalars.append(scalar) }
        }
        return piece
    }

    /// Replaces control characters and those that reorder text with U+FFFD. Marks of direction (U+200E, U+200F, U+061C) are
    /// kept: Hebrew and Arabic need them, and they reorder nothing else.
    private static func harmless(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 9: " "
        case 0..<32, 127..<160, 0x202A...0x202E, 0x2066...0x2069: "\u{FFFD}"
        default: scalar
        }
    }
}

extension ChatText {
    /// Escapes for HTML (Matrix, Google Chat), in text and in attributes.
    static func html(_ unit: TextUnit, newline: String = "\n") -> ChatText {
        ChatText(unit) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "\n": newline
            default: nil
            }
        }
    }

    /// Escapes for Markdown: a backslash before each scalar of `marks`. A zero-width space behind an `@` breaks a mention.
    static func markdown(_ unit: TextUnit, marks: String, linksAddresses: Bool = false) -> ChatText {
        let marks = Set(marks.unicodeScalars)
        return ChatText(unit, linksAddresses: linksAddresses) { scalar in
            if scalar == "@" { return "@\u{200B}" }
            return marks.contains(scalar) ? "\\" + String(scalar) : nil
        }
    }
}
