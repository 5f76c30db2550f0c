// SPDX-License-Identifier: Apache-2.0

/// A piece of a page. Only literals of this program enter it as they are: any other text is escaped when it is
/// interpolated, for content and for attributes in double quotes.
///
///     let row: HTML = "<td title=\"\(item.key)\">\(item.title)</td>"
struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The text of the page.
    private(set) var text = ""

    init() {}

    /// A `StaticString` is written in this program: no other text can become one.
    init(stringLiteral literal: StaticString) { text = literal.description }

    init(stringInterpolation interpolation: Interpolation) { text = interpolation.text }

    var isEmpty: Bool { text.isEmpty }

    static func + (left: HTML, right: HTML) -> HTML {
        var sum = left
        sum += right
        return sum
    }

    static func += (left: inout HTML, right: HTML) { left.text += right.text }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        mutating func appendInterpolation(_ escaped: String) { HTML.escape(escaped, into: &text) }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        mutating func appendInterpolation(_ number: Int64) { text += String(number) }

        mutating func appendInterpolation(_ html: HTML) { text += html.text }

        mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }

        mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    }

    /// Control characters, which no reader shows and which may not stand in a document, and those that turn the direction of
    /// a text become U+FFFD.
    private static func escape(_ raw: String, into text: inout String) {
        for scalar in raw.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\t", "\n": text.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension HTML {
    /// A link to a page of the web. Any other scheme, `javascript:` for one, is shown as text.
    static func external(_ url: String, _ text: HTML) -> HTML {
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return text }
        return "<a class=\"out\" href=\"\(url)\" rel=\"noreferrer\">\(text)</a>"
    }
}
