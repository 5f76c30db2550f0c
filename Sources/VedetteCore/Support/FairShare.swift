// SPDX-License-Identifier: Apache-2.0

/// Divides names among watchers, evenly and with few moves when a watcher comes or goes. Every watcher that knows the same
/// watchers and names finds the same division, so that none has to ask another.
///
/// It is rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998) with a bound:
/// each name goes to the watcher that its hash prefers among those that have room. The numbers of two watchers differ by one
/// at most, except where groups are too large for that.
public struct FairShare: Sendable {
    private struct Watcher {
        var name: String
        var seed: UInt64
        var count = 0

        /// How much a hash prefers this watcher.
        func score(_ hash: UInt64) -> UInt64 { StableHash.mixed(hash ^ seed) }
    }

    /// The watcher of each name; a name that is pinned to an absent watcher has none.
    private let holders: [String: String]

    /// Divides names.
    /// - Parameters:
    ///   - pins: the only watcher that may hold a name, by name. They do not count in the division of the others.
    ///   - groups: the group of a name, by name. One watcher gets all names of a group that are not pinned to another one.
    public init(
        of names: Set<String>, among watchers: Set<String>, pins: [String: String] = [:], groups: [String: String] = [:]
    ) {
        var holders = pins.filter { names.contains($0.key) && watchers.contains($0.value) }
        var ranked = watchers.sorted().map { Watcher(name: $0, seed: StableHash.mixed(FairShare.hash($0))) }
        guard !ranked.isEmpty else {
            self.holders = [:]
            return
        }
        // The watcher that holds a pinned name of a group gets the group.
        let places = Dictionary(
            holders.compactMap { name, watcher in groups[name].map { ($0, watcher) } }, uniquingKeysWith: min)
        let free = names.filter { pins[$0] == nil }
        let members = Dictionary(grouping: free.filter { groups[$0] != nil }) { groups[$0] ?? "" }
        let most = (free.count + ranked.count - 1) / ranked.count
        // The largest first: the smaller ones fit beside them.
        for (group, names) in members.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }) {
            let index =
                ranked.firstIndex { $0.name == places[group] }
                ?? FairShare.place(of: FairShare.hash(group), size: names.count, among: ranked, most: most)
            ranked[index].count += names.count
            for name in names { holders[name] = ranked[index].name }
        }
        FairShare.divide(free.filter { groups[$0] == nil }, among: &ranked, &holders)
        self.holders = holders
    }

    /// Returns the index of the watcher for a group: the one that its hash prefers among those with room for all of it, else
    /// among those with the fewest names.
    private static func place(of hash: UInt64, size: Int, among watchers: [Watcher], most: Int) -> Int {
        let least = watchers.map(\.count).min() ?? 0
        let bound = max(least, most - size)
        let fitting = watchers.indices.filter { watchers[$0].count <= bound }
        return fitting.max { watchers[$0].score(hash) < watchers[$1].score(hash) } ?? 0
    }

    /// Divides names one by one, so that the numbers of all names of two watchers differ as little as possible.
    private static func divide(_ names: Set<String>, among watchers: inout [Watcher], _ holders: inout [String: String])
    {
        let (least, extra) = level(watchers.map(\.count), adding: names.count)
        // As many watchers as this get one name more.
        var extras = extra
        // By hash, so that the names that find no room at their first choice are of all kinds.
        let hashed = names.map { (name: $0, hash: FairShare.hash($0)) }.sorted {
            ($0.hash, $0.name) < ($1.hash, $1.name)
        }
        for (name, hash) in hashed {
            var best: (watcher: Int, score: UInt64)?
            for index in watchers.indices
            where watchers[index].count < least || extras > 0 && watchers[index].count == least {
                let score = watchers[index].score(hash)
                if best.map({ score > $0.score }) ?? true { best = (index, score) }
            }
            guard let best else { continue }
            if watchers[best.watcher].count == least { extras -= 1 }
            watchers[best.watcher].count += 1
            holders[name] = watchers[best.watcher].name
        }
    }

    /// Returns the number of names to which the smaller counts rise together, and how many of them get one more.
    private static func level(_ counts: [Int], adding more: Int) -> (least: Int, extra: Int) {
        var sum = more
        for (index, count) in counts.sorted().enumerated() {
            // A watcher that has more than the level of those before it gets none.
            if index > 0, count > sum / index { return (sum / index, sum % index) }
            sum += count
        }
        return (sum / counts.count, sum % counts.count)
    }

    /// Returns the names of a watcher.
    public func names(of watcher: String) -> Set<String> { Set(holders.filter { $0.value == watcher }.keys) }

    private static func hash(_ name: String) -> UInt64 { StableHash.of(Array(name.utf8)) }
}
