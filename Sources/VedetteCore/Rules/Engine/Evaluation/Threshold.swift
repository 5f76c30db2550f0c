// SPDX-License-Identifier: Apache-2.0

/// A bound that a rule names. A measure changes with every poll, so it makes an event only when it crosses a bound.
public enum Threshold: Sendable, Hashable {
    /// Values greater than this.
    case above(Double)
    /// Values less than this.
    case below(Double)

    /// Returns whether the value lies beyond the bound; false when it is absent or no number.
    public func contains(_ value: Value?) -> Bool {
        guard let number = value.flatMap({ WrittenNumber.read($0.description) }) else { return false }
        switch self {
        case .above(let bound): return number > bound
        case .below(let bound): return number < bound
        }
    }

    /// Returns whether a change from `old` to `new` crosses the bound.
    public func isCrossed(from old: Value?, to new: Value?) -> Bool { contains(old) != contains(new) }
}

extension ValueMatcher {
    /// The bound that it tests; nil for any other matcher.
    public var threshold: Threshold? {
        switch self {
        case .above(let bound): .above(bound)
        case .below(let bound): .below(bound)
        default: nil
        }
    }

    /// The bound that it tests, also under `not`.
    fileprivate var bound: Threshold? {
        if case .not(let part) = self { return part.bound }
        return threshold
    }
}

extension Condition {
    /// The bounds that the condition names, with their fields.
    var thresholds: [(field: String, threshold: Threshold)] {
        switch self {
        case .item(let name, let matcher), .stays(let name, let matcher): matcher.bound.map { [(name, $0)] } ?? []
        case .field(let name, let from, let to): [from, to].compactMap { $0?.bound }.map { (name, $0) }
        case .all(let parts), .any(let parts): parts.flatMap(\.thresholds)
        case .not(let part): part.thresholds
        default: []
        }
    }
}

extension SourceCondition {
    /// The bounds that the condition names, with their fields.
    fileprivate var thresholds: [(field: String, threshold: Threshold)] {
        (items + [(name: field, matcher: matcher)]).compactMap { name, matcher in matcher.bound.map { (name, $0) } }
    }
}

/// The bounds that rules name, by field.
public typealias Thresholds = [String: Set<Threshold>]

/// The bounds of all rules, by source.
public struct ThresholdIndex: Sendable {
    private var bySource: [String: Thresholds] = [:]
    private var anySource: Thresholds = [:]

    /// Collects the bounds of these rules.
    public init(_ rules: [Rule] = []) {
        for rule in rules {
            add(rule.when.thresholds, of: rule.when.sources)
            // What `if`, `unless` and `how_many` ask for is updated by events.
            for condition in rule.sourceConditions { add(condition.thresholds, of: [condition.source]) }
        }
    }

    private mutating func add(_ thresholds: [(field: String, threshold: Threshold)], of sources: Set<String>?) {
        for (field, threshold) in thresholds {
            guard let sources else {
                anySource[field, default: []].insert(threshold)
                continue
            }
            for source in sources { bySource[source, default: [:]][field, default: []].insert(threshold) }
        }
    }

    /// Returns the bounds that measures of this source are compared with: those of every rule that can match it.
    public func thresholds(for source: String) -> Thresholds {
        guard let named = bySource[source] else { return anySource }
        return named.merging(anySource) { $0.union($1) }
    }
}
