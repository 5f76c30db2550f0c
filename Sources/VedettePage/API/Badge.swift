// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A small picture of the state of an item, as SVG.
struct Badge: Sendable {
    static let contentType = "image/svg+xml; charset=utf-8"
    /// Longer texts are cut.
    private static let longest = 48
    private static let padding = 6

    var label: String
    var state: String
    var meaning: StateMeaning?

    var svg: String {
        let (label, state) = (Badge.cut(label), Badge.cut(state))
        let (left, right) = (Badge.width(of: label), Badge.width(of: state))
        let width = left + right + 4 * Badge.padding
        let middle = left + 2 * Badge.padding
        func text(_ text: String, at x: Int, _ length: Int) -> String {
            "<text x=\"\(x)\" y=\"14\" textLength=\"\(length)\">\(XMLEscape.text(text))</text>"
        }
        let name = XMLEscape.text("\(label): \(state)")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="20" role="img" aria-label="\(name)">
            <title>\(name)</title>
            <rect width="\(width)" height="20" rx="3" fill="#444"/>
            <path d="M\(middle) 0h\(width - middle - 3)a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H\(middle)z" fill="\(colour)"/>
            <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
            \(text(label, at: Badge.padding, left))
            \(text(state, at: middle + Badge.padding, right))
            </g>
            </svg>

            """
    }

    /// White text on each has a contrast of at least 4.5 (WCAG 2.1, 1.4.3).
    private var colour: String {
        switch meaning {
        case .good: "#1a7f37"
        case .busy: "#8a5a00"
        case .bad: "#b3261e"
        case nil: "#57606a"
        }
    }

    private static func cut(_ text: String) -> String {
        text.count > longest ? text.prefix(longest - 1) + "…" : text
    }

    /// The width of a text in Verdana of 11 pixels, about; `textLength` makes it exact. At least 1, since 0 is an error.
    private static func width(of text: String) -> Int {
        let tenths = text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar {
            case "i", "j", "l", "I", ".", ",", ":", ";", "'", "|", "!", " ", "f", "t", "r", "(", ")", "[", "]", "/":
                sum + 42
            case "m", "w", "M", "W", "@", "%": sum + 100
            case _ where scalar.value >= 0x1100: sum + 110
            case "A"..."Z": sum + 78
            default: sum + 67
            }
        }
        return max(1, (tenths + 9) / 10)
    }
}
