// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The division of names among watchers")
struct FairShareTests {
    private func names(_ count: Int, _ seed: Int) -> Set<String> { Set((0..<count).map { "source-\(seed)-\($0)" }) }

    private func watchers(_ count: Int, _ seed: Int) -> Set<String> { Set((0..<count).map { "host\(seed)-\($0)" }) }

    @Test("every name has one watcher, and the numbers of two watchers differ by one at most, over many seeds")
    func even() {
        for seed in 0..<100 {
            for (count, hosts) in [(0, 3), (1, 3), (5, 3), (10, 4), (100, 1), (101, 7)] {
                let (all, watchers) = (names(count, seed), watchers(hosts, seed))
                let share = FairShare(of: all, among: watchers)
                let parts = watchers.map { share.names(of: $0) }
                #expect(parts.reduce(0) { $0 + $1.count } == count)
                #expect(parts.reduce(into: Set()) { $0.formUnion($1) } == all)
                let sizes = parts.map(\.count)
                #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
            }
        }
    }

    @Test("a watcher that comes or goes moves little more than its own part, over many seeds")
    func moves() {
        for seed in 0..<50 {
            for (count, hosts) in [(20, 2), (20, 8), (200, 3), (500, 4)] {
                let (all, before) = (names(count, seed), watchers(hosts, seed))
                let after = before.union(["new\(seed)"])
                let (few, many) = (FairShare(of: all, among: before), FairShare(of: all, among: after))
                // The same moves, one way or the other.
                let kept = before.reduce(0) { $0 + few.names(of: $1).intersection(many.names(of: $1)).count }
                let ideal = Double(count) / Double(hosts + 1)
                #expect(Double(count - kept) <= ideal * 1.5 + 5)
            }
        }
    }

    @Test("a pinned name has only its watcher, and none while that is away; the others are divided evenly beside it")
    func pins() {
        let all = names(9, 1)
        let pins = Dictionary(uniqueKeysWithValues: all.sorted().prefix(3).map { ($0, "a") })
        let share = FairShare(of: all, among: ["a", "b"], pins: pins)
        #expect(Set(pins.keys).isSubset(of: share.names(of: "a")))
        #expect(share.names(of: "a").count == 6 && share.names(of: "b").count == 3)
        let alone = FairShare(of: all, among: ["b"], pins: pins)
        #expect(alone.names(of: "b") == all.subtracting(pins.keys))
    }

    /// Groups of some sizes, and single names.
    private func groups(_ sizes: [Int], singles: Int, _ seed: Int) -> (names: Set<String>, groups: [String: String]) {
        var groups: [String: String] = [:]
        for (number, size) in sizes.enumerated() {
            for member in 0..<size { groups["member\(seed)-\(number)-\(member)"] = "group\(seed)-\(number)" }
        }
        return (names(singles, seed).union(groups.keys), groups)
    }

    @Test("one watcher has all names of a group, and single names fill the gaps between groups, over many seeds")
    func together() {
        for seed in 0..<100 {
            for (sizes, singles, hosts) in [
                ([5], 0, 3), ([3, 4], 20, 3), ([30, 2, 2], 10, 3), ([1, 1, 1, 9], 50, 4),
            ] {
                let (all, groups) = groups(sizes, singles: singles, seed)
                let watchers = watchers(hosts, seed)
                let share = FairShare(of: all, among: watchers, groups: groups)
                let parts = watchers.map { share.names(of: $0) }
                #expect(parts.reduce(into: Set()) { $0.formUnion($1) } == all)
                #expect(parts.reduce(0) { $0 + $1.count } == all.count)
                for group in Set(groups.values) {
                    let members = Set(groups.filter { $0.value == group }.keys)
                    #expect(parts.count { !$0.isDisjoint(with: members) } == 1)
                }
                let counts = parts.map(\.count).sorted()
                let largest = sizes.max() ?? 0
                let isEven = counts[counts.count - 1] - counts[0] <= 1
                // A group may be more than a part of all: then the others share the rest.
                let restIsEven = counts[counts.count - 1] == largest && counts[counts.count - 2] - counts[0] <= 1
                #expect(isEven || restIsEven || singles == 0, "\(counts)")
            }
        }
    }

    @Test("a group goes with a name of it that is pinned, where the watcher of that is present")
    func pinnedGroups() {
        let (all, groups) = groups([4], singles: 8, 1)
        let members = Set(groups.keys)
        let pinned = members.sorted()[0]
        let share = FairShare(of: all, among: ["a", "b", "c"], pins: [pinned: "b"], groups: groups)
        #expect(members.isSubset(of: share.names(of: "b")))
        let without = FairShare(of: all, among: ["a", "c"], pins: [pinned: "b"], groups: groups)
        let rest = members.subtracting([pinned])
        #expect(["a", "c"].contains { rest.isSubset(of: without.names(of: $0)) })
        #expect(["a", "c"].allSatisfy { !without.names(of: $0).contains(pinned) })
    }

    @Test("without watchers nobody has anything")
    func nobody() {
        #expect(FairShare(of: ["a"], among: []).names(of: "a").isEmpty)
    }
}
