// SPDX-License-Identifier: Apache-2.0

/// Columns as wide as their widest cell, two spaces apart.
struct TextTable {
    /// A cell shows at most so many characters of its text.
    static let limit = 120

    private let columns: Int
    private var rows: [[StyledText]] = []

    /// A table without a heading.
    init(columns: Int) { self.columns = columns }

    init(_ heading: [String], _ palette: Palette = .plain) {
        columns = heading.count
        add(heading.map { palette.paint($0, .faint) })
    }

    mutating func add(_ row: [String]) { add(row.map { StyledText($0, limit: TextTable.limit) }) }

    mutating func add(_ row: [StyledText]) { rows.append(row) }

    var lines: [StyledText] {
        let widths = (0..<columns).map { column in rows.map { $0[column].width }.max() ?? 0 }
        return rows.map { row in
            // No line ends in spaces.
            let last = row.lastIndex { $0.width > 0 } ?? 0
            return row[...last].enumerated().reduce(StyledText("")) { line, cell in
                cell.offset == last
                    ? line + cell.element : line + cell.element.padded(to: widths[cell.offset] + 2)
            }
        }
    }
}
