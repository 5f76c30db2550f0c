// SPDX-License-Identifier: Apache-2.0

/// A bound that a rule names. A measure changes all the time, so it is news only when it crosses one.
public enum Threshold: Sendable, Hashable {
    case above(Double)
    case below(Double)

    /// What is absent or no number lies on neither side.
    public func holds(_ value: Value?) -> Bool {
        guard let number = value.flatMap({ Double($0.description) }) else { return false }
        switch self {
        case .above(let bound): return number > bound
        case .below(let bound): return number < bound
        }
    }

    public func isCrossed(from old: Value?, to new: Value?) -> Bool { holds(old) != holds(new) }
}

extension ValueMatcher {
    /// The bound that it asks for; nil for any other question.
    public var threshold: Threshold? {
        switch self {
        case .above(let bound): .above(bound)
        case .below(let bound): .below(bound)
        default: nil
        }
    }
}

extension Condition {
    /// The bounds that it names, by field.
    var thresholds: [(field: String, threshold: Threshold)] {
        switch self {
        case .item(let name, let matcher): matcher.threshold.map { [(name, $0)] } ?? []
        case .field(let name, let from, let to): [from, to].compactMap { $0?.threshold }.map { (name, $0) }
        case .all(let parts), .any(let parts): parts.flatMap(\.thresholds)
        case .not(let part): part.thresholds
        default: []
        }
    }
}

/// Per field the bounds that rules name.
public typealias Thresholds = [String: Set<Threshold>]

/// The bounds of all rules, found by source.
public struct ThresholdIndex: Sendable {
    private var bySource: [String: Thresholds] = [:]
    private var ofAny: Thresholds = [:]

    public init(_ rules: [Rule] = []) {
        for rule in rules {
            for (field, threshold) in rule.when.thresholds {
                guard let names = rule.when.sources else {
                    ofAny[field, default: []].insert(threshold)
                    continue
                }
                for name in names { bySource[name, default: [:]][field, default: []].insert(threshold) }
            }
        }
    }

    /// What the measures of a source's items are compared with: the bounds of the rules that can be about it.
    public func thresholds(for source: String) -> Thresholds {
        guard let named = bySource[source] else { return ofAny }
        return named.merging(ofAny) { $0.union($1) }
    }
}
