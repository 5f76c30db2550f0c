// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Sources whose last poll changed nothing but times and measures: written together, at most `delay` late.
final class DeferredWrites {
    static let delay = Duration.seconds(5)

    private var sources: [WatchedSource] = []
    /// When they are to be written; nil while there are none.
    private(set) var due: BootTime?

    func add(_ source: WatchedSource, at now: BootTime) {
        if source.deferWrite() { sources.append(source) }
        due = due ?? now.advanced(by: DeferredWrites.delay)
    }

    /// Takes what is still to be written: a commit of the same source may have written it meanwhile.
    func take() -> [DeferredWrite] {
        defer { (sources, due) = ([], nil) }
        return sources.compactMap { $0.takeDeferredWrite() }
    }
}

extension [String: StoredItem] {
    /// Puts rows that are not written yet in the place of those that the journal has.
    mutating func replaceRows(with unwritten: [StoredItem]) {
        for row in unwritten where self[row.key] != nil { self[row.key] = row }
    }
}
