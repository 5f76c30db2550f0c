// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The last change of each sink that is not stored yet.
struct SinkChanges {
    /// A change that is being stored, or that the journal refused.
    struct Unstored {
        let change: SinkChange
        fileprivate let number: Int
        fileprivate var isRefused = false
    }

    private var unstored: [String: Unstored] = [:]
    private var last = 0

    var hasRefused: Bool { unstored.values.contains(where: \.isRefused) }

    /// Those that the journal refused.
    var refused: [Unstored] { unstored.values.filter(\.isRefused) }

    mutating func add(_ change: SinkChange) -> Unstored {
        last += 1
        let new = Unstored(change: change, number: last)
        unstored[change.sink] = new
        return new
    }

    /// Begins to store a refused change again. Returns false when another one of its sink came meanwhile.
    mutating func retry(_ change: Unstored) -> Bool { update(change) { $0?.isRefused = false } }

    /// Records that the journal has a change, or refused it. Returns false when a later one of its sink counts.
    mutating func ended(_ change: Unstored, isRefused: Bool) -> Bool {
        update(change) { if isRefused { $0?.isRefused = true } else { $0 = nil } }
    }

    private mutating func update(_ change: Unstored, _ body: (inout Unstored?) -> Void) -> Bool {
        guard unstored[change.change.sink]?.number == change.number else { return false }
        body(&unstored[change.change.sink])
        return true
    }
}
