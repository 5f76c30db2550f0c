// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text safe for a notification.
enum NotificationMarkup {
    static let titleLimit = 200
    static let bodyLimit = 1000

    /// Returns one line that is never empty: libnotify refuses an empty summary.
    static func title(_ text: String) -> String {
        let line = cut(clean(text, lineBreak: " "), to: titleLimit)
        return line.isEmpty ? "Vedette" : line
    }

    /// - Parameter isMarkup: the daemon reads `<b>`, `<a>` and `&…;` in bodies (capability `body-markup`), so text that
    ///   looks like these is escaped. It is cut before, so that no entity is cut in two. For any other daemon tags are
    ///   removed: some daemons read them without announcing it.
    static func body(_ text: String, isMarkup: Bool) -> String {
        let text = cut(clean(text, lineBreak: "\n"), to: bodyLimit)
        return isMarkup ? escape(text) : strip(text)
    }

    /// Removes control characters, and the bidirectional ones that can make a title look like another.
    private static func clean(_ text: String, lineBreak: Unicode.Scalar) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n", "\u{2028}", "\u{2029}": out.append(lineBreak)
            case "\t": out.append(" ")
            default:
                let properties = scalar.properties
                if properties.generalCategory != .control, !properties.isBidiControl { out.append(scalar) }
            }
        }
        return String(out)
    }

    /// Cuts between characters. The limit counts Unicode scalars: one character may hold any number of them.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
            end != text.endIndex
        else { return text }
        if String.Index(end, within: text) != nil { return text[..<end] + "…" }
        let whole = text.index(text.startIndex, offsetBy: text[..<end].count - 1)
        return String(whole > text.startIndex ? text[..<whole] : text[..<end]) + "…"
    }

    private static func escape(_ text: String) -> String {
        var out = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }

    /// Removes the tags of the Desktop Notifications specification. It looks back from each `>`, so that no tag remains
    /// where one was removed from the middle of another: `<<b>img>`.
    private static func strip(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == ">", let start = out.lastIndex(of: "<"), isTag(out[out.index(after: start)...]) {
                out.removeSubrange(start...)
            } else {
                out.append(scalar)
            }
        }
        return String(out)
    }

    private static let tags: Set = ["b", "i", "u", "a", "img"]

    /// - Parameter inside: what stands between `<` and `>`.
    private static func isTag(_ inside: Substring.UnicodeScalarView) -> Bool {
        let name = inside.drop { $0 == "/" }.prefix { !$0.properties.isWhitespace && $0 != "/" }
        return tags.contains(String(name).lowercased())
    }
}
