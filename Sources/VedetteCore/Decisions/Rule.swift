// SPDX-License-Identifier: Apache-2.0

/// Which events matter, and to whom.
public struct Rule: Sendable {
    public struct Notice: Sendable {
        public var sink: String
        public var title: (any Template)?
        public var text: (any Template)?

        public init(sink: String, title: (any Template)? = nil, text: (any Template)? = nil) {
            (self.sink, self.title, self.text) = (sink, title, text)
        }
    }

    public var name: String
    public var when: Condition
    /// A match ends the list of rules.
    public var stop: Bool
    public var priority: Priority
    public var notify: [Notice]

    public init(name: String, when: Condition, stop: Bool = false, priority: Priority = .normal, notify: [Notice]) {
        (self.name, self.when, self.stop, self.priority, self.notify) = (name, when, stop, priority, notify)
    }

    /// The field that `when` speaks of, whose change the texts call `change`.
    var field: String? { when.field }
}

extension Condition {
    var field: String? {
        switch self {
        case .field(let name, _, _): name
        case .changes(let names): names.first
        case .all(let parts), .any(let parts): parts.lazy.compactMap(\.field).first
        default: nil
        }
    }

    /// The sources it can be about; nil for any.
    var sources: Set<String>? {
        switch self {
        case .source(let names, _): return names
        case .all(let parts):
            let sets = parts.compactMap(\.sources)
            return sets.isEmpty ? nil : sets.dropFirst().reduce(sets[0]) { $0.intersection($1) }
        case .any(let parts):
            let sets = parts.map(\.sources)
            return sets.contains(nil) ? nil : sets.compactMap { $0 }.reduce(Set()) { $0.union($1) }
        default: return nil
        }
    }
}

/// The rules in their order, found by source: a rule that cannot match costs nothing.
public struct RuleSet: Sendable {
    public let rules: [Rule]
    private let bySource: [String: [Int]]
    private let anySource: [Int]

    public init(_ rules: [Rule]) {
        self.rules = rules
        var bySource: [String: [Int]] = [:]
        var anySource: [Int] = []
        for (i, rule) in rules.enumerated() {
            if let names = rule.when.sources {
                for name in names { bySource[name, default: []].append(i) }
            } else {
                anySource.append(i)
            }
        }
        (self.bySource, self.anySource) = (bySource, anySource)
    }

    /// What one rule makes of an event.
    public struct Verdict: Sendable {
        public enum Answer: Sendable, Hashable {
            case matched
            case unmet(String)
            /// An earlier rule with `stop` ended the list.
            case stopped(by: String)
            /// A pattern hit its match limit.
            case broken(String)
        }

        public var rule: Rule
        public var answer: Answer
    }

    /// The verdict of every rule that could be about the event's source, in order.
    public func verdicts(on event: Event) -> [Verdict] {
        var stopper: String?
        return candidates(for: event.source).map { i in
            let rule = rules[i]
            if let stopper { return Verdict(rule: rule, answer: .stopped(by: stopper)) }
            let answer = RuleSet.answer(rule, event)
            if answer == .matched, rule.stop { stopper = rule.name }
            return Verdict(rule: rule, answer: answer)
        }
    }

    /// The rules that name the source and those that name none, merged into their order.
    private func candidates(for source: String) -> [Int] {
        guard let named = bySource[source] else { return anySource }
        var merged: [Int] = []
        merged.reserveCapacity(named.count + anySource.count)
        var at = 0
        for i in named {
            while at < anySource.count, anySource[at] < i {
                merged.append(anySource[at])
                at += 1
            }
            merged.append(i)
        }
        return merged + anySource[at...]
    }

    private static func answer(_ rule: Rule, _ event: Event) -> Verdict.Answer {
        do throws(PatternError) {
            return try rule.when.unmet(by: event).map(Verdict.Answer.unmet) ?? .matched
        } catch {
            return .broken(error.detail)
        }
    }
}
