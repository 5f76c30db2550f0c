// SPDX-License-Identifier: Apache-2.0

/// Divides names among watchers, evenly and with few moves when a watcher comes or goes. Every watcher that knows the same
/// watchers and names finds the same division, so that none has to ask another.
///
/// It is rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998) with a bound:
/// each name goes to the watcher that its hash prefers among those that have room, and the numbers of two watchers differ
/// by one at most.
public struct FairShare: Sendable {
    /// The watcher of each name; a name that is pinned to an absent watcher has none.
    private let holders: [String: String]

    /// Divides names.
    /// - Parameters:
    ///   - pins: the only watcher that may hold a name, by name. They do not count in the division of the others.
    public init(of names: Set<String>, among watchers: Set<String>, pins: [String: String] = [:]) {
        var holders = pins.filter { names.contains($0.key) && watchers.contains($0.value) }
        let ranked = watchers.sorted().map { (name: $0, seed: FairShare.mixed(FairShare.hash($0))) }
        let free = names.filter { pins[$0] == nil }
        guard !ranked.isEmpty else {
            self.holders = [:]
            return
        }
        let least = free.count / ranked.count
        // As many watchers as this get one name more.
        var extras = free.count % ranked.count
        var counts = Array(repeating: 0, count: ranked.count)
        // By hash, so that the names that find no room at their first choice are of all kinds.
        let hashed = free.map { (name: $0, hash: FairShare.hash($0)) }.sorted {
            ($0.hash, $0.name) < ($1.hash, $1.name)
        }
        for (name, hash) in hashed {
            var best: (watcher: Int, score: UInt64)?
            for watcher in ranked.indices where counts[watcher] < least || extras > 0 && counts[watcher] == least {
                let score = FairShare.mixed(hash ^ ranked[watcher].seed)
                if best.map({ score > $0.score }) ?? true { best = (watcher, score) }
            }
            guard let best else { continue }
            if counts[best.watcher] == least { extras -= 1 }
            counts[best.watcher] += 1
            holders[name] = ranked[best.watcher].name
        }
        self.holders = holders
    }

    /// Returns the names of a watcher.
    public func names(of watcher: String) -> Set<String> { Set(holders.filter { $0.value == watcher }.keys) }

    private static func hash(_ name: String) -> UInt64 { Digest.of(Array(name.utf8)) }

    /// Spreads a hash over all bits: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    private static func mixed(_ hash: UInt64) -> UInt64 {
        var mixed = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
