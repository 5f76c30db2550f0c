// SPDX-License-Identifier: Apache-2.0

/// Which events matter, and to whom.
public struct Rule: Sendable {
    public struct NotificationTarget: Sendable {
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
    public var tags: [String]
    public var notify: [NotificationTarget]
    public var gates: Gates
    /// `stays`: an item that is in the value already counts from when it came into it.
    public var matchesExisting: Bool
    /// Of its name, `when`, `for` and `limit`: what it remembers is kept over a reload while this is the same.
    public var identity: UInt64
    /// Examples of what it says and does not say.
    public var tests: [RuleTest] = []

    public init(
        name: String, when: Condition, stop: Bool = false, priority: Priority = .normal, tags: [String] = [],
        notify: [NotificationTarget], gates: Gates = .init(), matchesExisting: Bool = false, identity: UInt64 = 0
    ) {
        (self.name, self.when, self.stop, self.priority, self.notify) = (name, when, stop, priority, notify)
        (self.tags, self.gates, self.matchesExisting, self.identity) = (tags, gates, matchesExisting, identity)
    }

    /// The field that `when` speaks of, whose change the texts call `change`.
    var field: String? { when.field }
}

extension Condition {
    var field: String? {
        switch self {
        case .field(let name, _, _), .by(let name, _): name
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

/// The rules in their order, found by what they ask for: a rule that cannot match costs nothing.
public struct RuleSet: Sendable {
    public let rules: [Rule]
    /// Those that seek what is so already.
    let seeking: [Rule]
    private let index: RuleIndex
    private let byName: [String: Int]

    public init(_ rules: [Rule]) {
        self.rules = rules
        seeking = rules.filter(\.matchesExisting)
        byName = Dictionary(rules.indices.map { (rules[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        index = RuleIndex(rules)
    }

    public func rule(named name: String) -> Rule? { byName[name].map { rules[$0] } }

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

    /// The verdict of every rule that could match, in order.
    public func verdicts(on event: Event) -> [Verdict] { verdicts(on: event, of: index.candidates(for: event)) }

    /// The verdict of every rule there is, for a person who asks why.
    public func allVerdicts(on event: Event) -> [Verdict] { verdicts(on: event, of: Array(rules.indices)) }

    private func verdicts(on event: Event, of candidates: [Int]) -> [Verdict] {
        var stopper: String?
        return candidates.map { i in
            let rule = rules[i]
            if let stopper { return Verdict(rule: rule, answer: .stopped(by: stopper)) }
            let answer = RuleSet.answer(rule, event)
            if answer == .matched, rule.stop { stopper = rule.name }
            return Verdict(rule: rule, answer: answer)
        }
    }

    private static func answer(_ rule: Rule, _ event: Event) -> Verdict.Answer {
        do throws(PatternError) {
            return try rule.when.unmet(by: event).map(Verdict.Answer.unmet) ?? .matched
        } catch {
            return .broken(error.detail)
        }
    }
}
