// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Finds wrong spellings of a state that a command waits for.
enum AwaitedState {
    /// Returns why no item of these sources ever has the state; nil where one may.
    static func problem(with state: String, in sources: [Source]) -> String? {
        let names = sources.map { $0.kind.stateNames }
        guard !names.contains(where: { $0?.contains(state) ?? true }) else { return nil }
        let known = Set(names.compactMap { $0?.known }.joined())
        return "no item ever has the state \(quoted(state))"
            + (didYouMean(state, among: known)
                ?? (known.isEmpty ? "" : "; the states are \(known.sorted().joined(separator: ", "))"))
    }

    /// Returns whether no item has the state now, of sources whose states only their servers know.
    /// - Parameter seen: the states that items have now.
    static func isUnseen(_ state: String, in sources: [Source], seen: Set<String>) -> Bool {
        sources.contains { $0.kind.stateNames == nil } && !seen.isEmpty && !seen.contains(state)
    }

    /// - Parameter guess: the nearest state, as `didYouMean` returns it.
    static func warning(about state: String, _ guess: String?) -> String {
        "warning: no item has the state \(quoted(state)) now\(guess ?? "")"
    }
}
