// SPDX-License-Identifier: Apache-2.0

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

    /// Returns the bounds that measures of this source are compared with, from every rule that can match it.
    public func thresholds(for source: String) -> Thresholds {
        guard let named = bySource[source] else { return anySource }
        return named.merging(anySource) { $0.union($1) }
    }
}
