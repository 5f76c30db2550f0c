// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when `wait` ends: which items it waits for, in which state, and whether one or all must be there.
struct WaitGoal: Sendable {
    enum Condition: Sendable {
        /// The item is in one of the states; `fail` ends the wait with an error.
        case state(to: [String], fail: [String])
        /// The item exists, in whatever state.
        case appears
        /// The item does not exist any more.
        case gone
    }

    enum Verdict: Sendable, Hashable {
        /// A line for each item that reached the goal.
        case reached([String])
        case failed(String)
        /// What the items are now, a line each.
        case pending([String])
    }

    private let names: [String]
    private let condition: Condition
    private let isAny: Bool
    /// Whether an item that is not listed may still come.
    private let mayCome: Bool
    /// The keys of items that were found once, by the name that found them. They may go away again.
    private var keys: [String: [String]] = [:]

    /// - Parameters:
    ///   - names: keys, titles or globs.
    ///   - isAny: whether one item is enough.
    ///   - mayCome: whether an item that is not listed may still come; otherwise its name is an error.
    init(_ names: [String], _ condition: Condition, isAny: Bool, mayCome: Bool = false) {
        (self.names, self.condition, self.isAny, self.mayCome) = (names, condition, isAny, mayCome)
    }

    /// The keys of all items that decide; nil while a name may still stand for others.
    var decidingKeys: Set<String>? {
        guard names.allSatisfy({ !Glob.isGlob($0) && !keys[$0, default: []].isEmpty }) else { return nil }
        return Set(keys.values.joined())
    }

    /// Compares the goal with the items of a source.
    /// - Parameters:
    ///   - present: of all items, or of `decidingKeys`.
    ///   - absent: items that the last poll did not show, and that are not gone yet.
    ///   - isWhole: false for a stream that shows only what happens from now on: further items may exist.
    ///   - isGone: returns whether the last event of that key is that it disappeared.
    /// - Throws: `Exit` for a name that no item has, where an item must exist already, or that two items have.
    mutating func evaluate(
        _ present: [Item], absent: [Item], of source: String, isWhole: Bool = true,
        isGone: (String) async throws -> Bool
    ) async throws -> Verdict {
        var reached: [String] = []
        var pending: [String] = []
        for name in names {
            for key in try await candidates(name, present, absent, source, isWhole: isWhole, isGone) {
                let item = present.first { $0.key == key }
                let isStill = item != nil || absent.contains { $0.key == key }
                let label = keys[name] == [key] ? name : item?.title.map { $0 == key ? key : "\(key) \($0)" } ?? key
                switch condition {
                case .appears where isStill: reached.append("\(label): \(item?.state ?? "present")")
                case .gone where !isStill: reached.append("\(label): gone")
                case .state where !isStill: return .failed("\(label): gone")
                case .state(let to, let fail):
                    let state = item?.state ?? "absent from the last poll"
                    if let item, let own = item.state, fail.contains(own) { return .failed("\(label): \(own)") }
                    if item?.state.map(to.contains) == true {
                        reached.append("\(label): \(state)")
                    } else {
                        pending.append("\(label): \(state)")
                    }
                case .appears, .gone: pending.append("\(label): \(item?.state ?? "not there")")
                }
            }
            if keys[name, default: []].isEmpty {
                if case .gone = condition, isWhole {
                    reached.append("\(name): not listed\(ItemLookup.guess(name, among: present))")
                    continue
                }
                pending.append("\(name): no such item yet\(mayCome ? ItemLookup.guess(name, among: present) : "")")
            }
        }
        return !reached.isEmpty && (isAny || pending.isEmpty) ? .reached(reached) : .pending(pending)
    }

    /// Returns the keys that a name stands for; those found once stay, so that their end is seen.
    private mutating func candidates(
        _ name: String, _ present: [Item], _ absent: [Item], _ source: String, isWhole: Bool,
        _ isGone: (String) async throws -> Bool
    ) async throws -> [String] {
        let known = keys[name, default: []]
        if known.isEmpty, let item = try ItemLookup.find(name, among: present + absent, of: source) {
            keys[name] = [item.key]
        } else if Glob.isGlob(name) {
            let glob = Glob(name)
            let matching = (present + absent).filter { glob.matches($0.key) || $0.title.map(glob.matches) == true }
            keys[name] = known + matching.map(\.key).filter { !known.contains($0) }
        } else if known.isEmpty {
            if try await isGone(name) {
                // It appears again, or it was there and is gone: its key is known.
                if case .appears = condition { return [] }
                keys[name] = [name]
            } else if case .appears = condition {
                return []
            } else if case .gone = condition, isWhole {
                return []
            } else if case .state = condition, mayCome || !isWhole {
                return []
            } else {
                throw ItemLookup.unknown(name, among: present, of: source)
            }
        }
        return keys[name, default: []]
    }
}
