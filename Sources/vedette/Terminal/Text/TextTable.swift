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

    var lines: [StyledText] { lines(within: nil) }

    /// Returns the lines of the table.
    /// - Parameters:
    ///   - width: the cells of the terminal; nil for no limit.
    ///   - shrinking: the columns that may lose text when the table is wider, the first one first.
    func lines(within width: Int?, shrinking: [Int] = []) -> [StyledText] {
        let widths = widths(within: width, shrinking)
        return rows.map { row in
            // No line ends in spaces.
            let last = row.lastIndex { $0.width > 0 } ?? 0
            let line = TextTable.line(row[...last], widths)
            // In a very narrow terminal the other columns are too wide already.
            return width.map { line.truncated(to: $0) } ?? line
        }
    }

    private static func line(_ cells: ArraySlice<StyledText>, _ widths: [Int]) -> StyledText {
        var parts: [StyledText] = []
        parts.reserveCapacity(2 * cells.count)
        for (column, cell) in zip(cells.indices, cells) {
            let cell = cell.truncated(to: widths[column])
            parts.append(cell)
            guard column + 1 < cells.endIndex else { break }
            parts.append(.blanks(max(0, widths[column] + 2 - cell.width)))
        }
        return .joined(parts)
    }

    private func widths(within limit: Int?, _ shrinking: [Int]) -> [Int] {
        var widths = (0..<columns).map { column in rows.map { $0[column].width }.max() ?? 0 }
        guard let limit else { return widths }
        for column in shrinking {
            let excess = widths.reduce(0, +) + 2 * (columns - 1) - limit
            guard excess > 0 else { break }
            widths[column] = max(min(widths[column], TextTable.least), widths[column] - excess)
        }
        return widths
    }

    /// Cells that a column which loses text keeps.
    private static let least = 12
}
