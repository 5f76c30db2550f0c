// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Breaks text into lines of a terminal, at spaces where there are some.
enum WrappedText {
    /// - Parameter width: columns of a line; nil breaks only where the text does.
    static func lines(_ text: String, width: Int?) -> [StyledText] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).flatMap { line -> [StyledText] in
            let safe = StyledText(String(line))
            guard let width, safe.width > width else { return [safe] }
            return wrapped(safe.text, max(1, width)).map { StyledText($0) }
        }
    }

    /// Returns lines that begin with spaces, those after the first with two more.
    static func hanging(_ text: String, indent: Int, width: Int?) -> [StyledText] {
        let safe = TerminalText.safe(text, limit: 1000)
        return lines(safe, width: width.map { max(20, $0 - indent - 2) }).enumerated().map { i, line in
            StyledText(String(repeating: " ", count: indent + (i > 0 ? 2 : 0))) + line
        }
    }

    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        var (lines, line, filled) = ([String](), "", 0)
        func end() {
            lines.append(line)
            (line, filled) = ("", 0)
        }
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let cells = CellWidth.of(String(word))
            if filled > 0, filled + 1 + cells > width { end() }
            if filled > 0 { (line, filled) = (line + " ", filled + 1) }
            // A word that is longer than a line is broken.
            for character in word {
                let cells = CellWidth.of(character)
                if filled + cells > width { end() }
                (line, filled) = (line + String(character), filled + cells)
            }
        }
        end()
        return lines
    }
}

extension StyledText {
    /// Breaks a line between words where it is wider than the terminal, which would break it anywhere; a word that is wider
    /// stays whole.
    /// - Parameters:
    ///   - limit: the columns; nil for a pipe, which gets whole lines.
    ///   - indent: the blanks before each line but the first.
    func wrapped(to limit: Int?, hanging indent: Int = 2) -> [StyledText] {
        guard let limit, width > limit else { return [self] }
        let margin = String(repeating: " ", count: indent)
        var lines: [StyledText] = []
        var line: StyledText?
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let word = StyledText(painted: String(word), width: StyledText.cells(in: word))
            if let current = line, current.width + 1 + word.width <= limit {
                line = current + StyledText(" ") + word
            } else if let current = line {
                lines.append(current)
                line = StyledText(margin) + word
            } else {
                line = word
            }
        }
        return lines + (line.map { [$0] } ?? [])
    }

    /// Counts the cells of painted text.
    private static func cells(in painted: Substring) -> Int {
        var (cells, rest) = (0, painted)
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                cells += CellWidth.of(character)
                continue
            }
            rest = rest.firstIndex(of: "m").map { rest[rest.index(after: $0)...] } ?? ""
        }
        return cells
    }
}
