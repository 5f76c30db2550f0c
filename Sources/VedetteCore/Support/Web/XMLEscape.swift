// SPDX-License-Identifier: Apache-2.0

/// Writes texts into XML 1.0.
public enum XMLEscape {
    /// Escapes a text for content and for attributes in either quotes. Characters that XML cannot hold (§2.2) become U+FFFD.
    public static func text(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&apos;"
            // As they are, a parser would take them for spaces in an attribute, and a carriage return for a line feed.
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
