// SPDX-License-Identifier: Apache-2.0

/// Finds the rules that could match an event by the traits that a matching event must have. Rules about other things cost
/// nothing.
struct RuleIndex: Sendable {
    /// A trait that an event must have for a rule to match, the most selective first.
    enum Trait: Sendable, Hashable {
        case item(String, String)
        case becomes(String, String)
        case source(String)
        case kind(Event.Kind)
        case changes(String)

        fileprivate var rank: Int {
            switch self {
            case .item: 0
            case .becomes: 1
            case .source: 2
            case .kind: 3
            case .changes: 4
            }
        }
    }

    private var byTrait: [Trait: [Int]] = [:]
    /// Rules without a trait: any event could match.
    private var unindexed: [Int] = []
    /// The field names in traits; only these are looked up in an event.
    private var itemNames = Set<String>()
    private var becomingNames = Set<String>()
    private var changingNames = Set<String>()

    init(_ rules: [Rule]) {
        for (i, rule) in rules.enumerated() {
            guard let traits = rule.when.traits else {
                unindexed.append(i)
                continue
            }
            for trait in traits {
                byTrait[trait, default: []].append(i)
                switch trait {
                case .item(let name, _): itemNames.insert(name)
                case .becomes(let name, _): becomingNames.insert(name)
                case .changes(let name): changingNames.insert(name)
                case .source, .kind: break
                }
            }
        }
    }

    /// Returns the indices of the rules that could match, in the order of the rules.
    func candidates(for event: Event) -> [Int] {
        var found = unindexed
        func add(_ trait: Trait) { if let some = byTrait[trait] { found += some } }
        add(.source(event.source))
        add(.kind(event.kind))
        for name in itemNames { for text in event.item?[name]?.matchedTexts ?? [] { add(.item(name, text)) } }
        for name in becomingNames {
            for text in event.change(of: name)?.to?.matchedTexts ?? [] { add(.becomes(name, text)) }
        }
        for name in changingNames where event.change(of: name) != nil { add(.changes(name)) }
        return found.count == unindexed.count ? found : Array(Set(found)).sorted()
    }
}

extension Value {
    /// The texts that `oneOf` compares: each element of a list, and all of them joined.
    fileprivate var matchedTexts: [String] {
        switch self {
        case .text(let text): [text]
        case .list(let list): list + [description]
        }
    }
}

extension Condition {
    /// A set of traits of which every matching event has one; nil when none is known.
    fileprivate var traits: Set<RuleIndex.Trait>? {
        switch self {
        case .source(let names, _): Set(names.map { .source($0) })
        case .item(let name, .oneOf(let values)): Set(values.map { .item(name, $0) })
        case .field(let name, _, .oneOf(let values)), .stays(let name, .oneOf(let values)):
            Set(values.map { .becomes(name, $0) })
        case .field(let name, _, _), .by(let name, _), .stays(let name, _): [.changes(name)]
        case .changes(let names): Set(names.map { .changes($0) })
        case .older(let name, _): [.changes(name)]
        // The engine itself evaluates it.
        case .howMany: []
        case .appears: [.kind(.appeared)]
        case .disappears: [.kind(.disappeared)]
        case .sourceState(let kinds): Set(kinds.map { .kind($0) })
        case .all(let parts):
            // The most selective part.
            parts.compactMap(\.traits).min { a, b in
                let (x, y) = (a.map(\.rank).max() ?? -1, b.map(\.rank).max() ?? -1)
                return x != y ? x < y : a.count < b.count
            }
        case .any(let parts):
            parts.map(\.traits).reduce(Set()) { all, some in
                guard let all, let some else { return nil }
                return all.union(some)
            }
        case .item, .not: nil
        }
    }
}
