// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The states that `list --in-state` asks for.
struct StateSelection {
    private let wanted: [String]

    /// - Parameter wanted: states or globs, whatever their case; none for all.
    init(_ wanted: [String]) { self.wanted = wanted }

    /// Returns the rows in one of the states.
    func rows(_ rows: [ItemTable.Row]) -> [ItemTable.Row] {
        guard !wanted.isEmpty else { return rows }
        let matching = states(rows).filter { state in wanted.contains { StateSelection.matches($0, state) } }
        return rows.filter { $0.item.state.map(matching.contains) == true }
    }

    /// Returns a sentence for each wanted state that no row has, with the nearest one. It is no error: a script that lists
    /// what failed is right where nothing did.
    func remarks(_ rows: [ItemTable.Row]) -> [String] {
        guard !wanted.isEmpty else { return [] }
        let states = states(rows)
        return wanted.filter { text in !states.contains { StateSelection.matches(text, $0) } }.map { text in
            if states.isEmpty { return "the items have no state" }
            let near = didYouMean(text, among: states.sorted())
            return "no item is \(quoted(text)) now"
                + (near ?? "; there are \(states.sorted().prefix(10).joined(separator: ", "))")
        }
    }

    private func states(_ rows: [ItemTable.Row]) -> Set<String> { Set(rows.compactMap(\.item.state)) }

    private static func matches(_ text: String, _ state: String) -> Bool {
        Glob(text.lowercased()).matches(state.lowercased())
    }
}
