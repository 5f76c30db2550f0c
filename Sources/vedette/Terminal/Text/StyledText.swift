// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Text that a terminal shows as it is meant: the only escape sequences in it are the palette's.
struct StyledText: Sendable, Hashable {
    let text: String
    /// The cells of a terminal that it fills; escape sequences fill none.
    let width: Int

    /// Escapes what a terminal would obey.
    init(_ text: String, limit: Int = .max) {
        let safe = TerminalText.safe(text, limit: limit)
        self.init(painted: safe, width: CellWidth.of(safe))
    }

    /// - Parameter painted: escaped text with colours of the palette.
    init(painted: String, width: Int) { (text, self.width) = (painted, width) }

    func padded(to width: Int) -> StyledText {
        guard self.width < width else { return self }
        return StyledText(painted: text + String(repeating: " ", count: width - self.width), width: width)
    }

    /// Returns the text in at most so many cells. What is too long ends with `…`, after a whole word where one ends in the
    /// second half.
    func truncated(to limit: Int) -> StyledText {
        guard width > limit else { return self }
        guard limit > 0 else { return StyledText("") }
        // Each entry is a character, or one escape sequence, which fills no cell.
        var (kept, filled) = ([(text: String, cells: Int)](), 0)
        var (sequences, rest, lastSpace) = ("", text[...], 0)
        var isCut = false
        while let character = rest.first {
            if character == "\u{1B}" {
                let end = rest.firstIndex(of: "m").map { rest.index(after: $0) } ?? rest.endIndex
                if isCut { sequences += rest[..<end] } else { kept.append((String(rest[..<end]), 0)) }
                rest = rest[end...]
                continue
            }
            rest = rest.dropFirst()
            let cells = CellWidth.of(character)
            if !isCut, filled + cells < limit {
                if character == " ", filled * 2 >= limit { lastSpace = kept.count }
                kept.append((String(character), cells))
                filled += cells
            } else if !isCut {
                isCut = true
                if character == " " { lastSpace = kept.count }
            }
        }
        if lastSpace > 0 {
            // The sequences behind the last word still end its colour.
            sequences =
                kept[lastSpace...].filter { $0.cells == 0 && $0.text.hasPrefix("\u{1B}") }.map(\.text).joined()
                + sequences
            kept.removeSubrange(lastSpace...)
        }
        return StyledText(
            painted: kept.map(\.text).joined() + "…" + sequences, width: kept.reduce(1) { $0 + $1.cells })
    }

    /// Returns all parts in one, made of bytes: to append them one by one to a text takes longer.
    static func joined(_ parts: some Collection<StyledText>) -> StyledText {
        var (bytes, width) = ([UInt8](), 0)
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.text.utf8.count })
        for part in parts {
            bytes.append(contentsOf: part.text.utf8)
            width += part.width
        }
        return StyledText(painted: String(decoding: bytes, as: UTF8.self), width: width)
    }

    /// Returns so many blanks. A table needs some in every cell.
    static func blanks(_ count: Int) -> StyledText { count < gaps.count ? gaps[count] : made(blanks: count) }

    private static let gaps = (0..<80).map(made)

    private static func made(blanks count: Int) -> StyledText {
        StyledText(painted: String(repeating: " ", count: count), width: count)
    }

    static func + (left: StyledText, right: StyledText) -> StyledText {
        StyledText(painted: left.text + right.text, width: left.width + right.width)
    }
}
