// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Lays out the items of a source as `list` shows them: key, age, state and title.
struct ItemTable {
    /// An item, and when it got its state; nil when nobody knows.
    struct Row {
        var item: Item
        var since: Timestamp?
    }

    var palette: Palette
    var links: Hyperlinks = .none
    /// The kind of the source, for the meaning of states.
    var kind: String
    var mode: ReadingMode
    /// Whether keys are shown whole.
    var keepsKeys = false

    /// Returns the rows as people look for them: of a window the newest first, of a list by key.
    func sorted(_ rows: [Row]) -> [Row] {
        switch mode {
        case .window:
            rows.sorted { ($0.time?.milliseconds ?? .min, $1.item.key) > ($1.time?.milliseconds ?? .min, $0.item.key) }
        case .list:
            // Each key is read as a number once, not at every comparison; and keys are moved, not whole rows.
            rows.enumerated().map { (number: Int($1.item.key), key: $1.item.key, row: $0) }
                .sorted { naturalOrder($0.number, $0.key, $1.number, $1.key) }.map { rows[$0.row] }
        }
    }

    /// Returns the lines of rows that are sorted.
    /// - Parameter width: the columns of the terminal; nil for a pipe.
    func lines(_ rows: [Row], now: Timestamp, width: Int?) -> [StyledText] {
        let ages = rows.map { age($0, now) }
        let (hasAges, hasStates) = (ages.contains { $0 != nil }, rows.contains { $0.item.state != nil })
        let heading = ["KEY"] + (hasAges ? ["AGE"] : []) + (hasStates ? ["STATE"] : []) + ["TITLE"]
        var table = TextTable(heading, palette)
        let keys = ShortKeys(keepsKeys || width == nil ? [] : rows.map(\.item.key))
        // Thousands of items have a few states.
        var states: [String: StyledText] = [:]
        func painted(_ state: String) -> StyledText {
            if let text = states[state] { return text }
            let text = paint(state)
            states[state] = text
            return text
        }
        for (row, age) in zip(rows, ages) {
            var cells: [StyledText] = []
            cells.reserveCapacity(heading.count)
            cells.append(StyledText(keys.short(row.item.key), limit: TextTable.limit))
            if hasAges { cells.append(palette.paint(age ?? "-", .faint)) }
            if hasStates { cells.append(row.item.state.map(painted) ?? palette.paint("-", .faint)) }
            cells.append(StyledText(row.item.title ?? "-", limit: TextTable.limit))
            table.add(cells)
        }
        var lines = table.lines(
            within: width, shrinking: [heading.count - 1, 0] + (hasStates ? [heading.count - 2] : []))
        if links.isOn { link(&lines, rows) }
        return lines
    }

    private func paint(_ state: String) -> StyledText {
        Palette.role(ofState: state, kind: kind).map { palette.paint(state, $0) }
            ?? StyledText(state, limit: TextTable.limit)
    }

    /// Makes each line a link to its item.
    private func link(_ lines: inout [StyledText], _ rows: [Row]) {
        for (i, row) in rows.enumerated() { lines[i + 1] = links.link(lines[i + 1], to: row.item.url) }
    }

    /// Returns how old an entry of a window is, and for how long an item of a list has had its state.
    private func age(_ row: Row, _ now: Timestamp) -> String? {
        row.time.flatMap { mode == .window ? $0.age(at: now) : nil }
            ?? row.since.flatMap { mode == .list ? $0.age(at: now) : nil }
    }
}

extension ItemTable.Row {
    fileprivate var time: Timestamp? { item.time }
}

/// Orders keys: `9` before `10`.
func naturalOrder(_ a: String, _ b: String) -> Bool { naturalOrder(Int(a), a, Int(b), b) }

private func naturalOrder(_ x: Int?, _ a: String, _ y: Int?, _ b: String) -> Bool {
    if let x, let y { return x < y }
    return a < b
}
