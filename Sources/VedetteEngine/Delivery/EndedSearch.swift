// SPDX-License-Identifier: Apache-2.0

/// Chooses of which waiting deliveries a watcher asks whether another one has ended them.
struct EndedSearch {
    /// The most that one query asks about.
    static let limit = 1000

    /// The last id that was asked about, where one query is too short.
    private var last: Int64 = 0

    /// Returns all of them, or the next ones in the order of their ids, and after the last one the first again.
    mutating func next(of waiting: [Int64]) -> [Int64] {
        guard waiting.count > EndedSearch.limit else { return waiting }
        let all = waiting.sorted()
        let start = all.firstIndex { $0 > last } ?? 0
        let next = Array((all[start...] + all[..<start]).prefix(EndedSearch.limit))
        last = next.last ?? 0
        return next
    }
}
