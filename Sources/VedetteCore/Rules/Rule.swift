// SPDX-License-Identifier: Apache-2.0

/// A rule: which events matter, when, and to whom.
public struct Rule: Sendable {
    /// A sink that a rule notifies, with the texts for it.
    public struct NotificationTarget: Sendable {
        /// The sink's name.
        public var sink: String
        /// The title; nil for the usual one.
        public var title: (any Template)?
        /// The text; nil for the usual one.
        public var text: (any Template)?

        /// Creates a target.
        public init(sink: String, title: (any Template)? = nil, text: (any Template)? = nil) {
            (self.sink, self.title, self.text) = (sink, title, text)
        }
    }

    /// The name, unique over all files.
    public var name: String
    /// Which events match.
    public var when: Condition
    /// Whether a match ends the evaluation of further rules.
    public var stop: Bool
    /// The priority of its messages.
    public var priority: Priority
    /// The tags of its messages.
    public var tags: [String]
    /// The sinks that get its messages.
    public var notify: [NotificationTarget]
    /// The conditions between a match and its message.
    public var gates: Gates
    /// `stays`: an item that already has the value matches, counted from when it got the value.
    public var matchesExisting: Bool
    /// A digest of name, `when`, `for` and `limit`. The rule's memory is kept over a reload while this is the same.
    public var identity: UInt64
    /// The fields whose values `by` compares with those that the last message announced.
    let announcedFields: Set<String>
    /// Examples of what the rule sends and does not send.
    public var tests: [RuleTest] = []

    /// Creates a rule.
    public init(
        name: String, when: Condition, stop: Bool = false, priority: Priority = .normal, tags: [String] = [],
        notify: [NotificationTarget], gates: Gates = .init(), matchesExisting: Bool = false, identity: UInt64 = 0
    ) {
        (self.name, self.when, self.stop, self.priority, self.notify) = (name, when, stop, priority, notify)
        (self.tags, self.gates, self.matchesExisting, self.identity) = (tags, gates, matchesExisting, identity)
        announcedFields = when.announcedFields
    }

    /// What the rule asks of the items of a source, event or not: those of `if` and `unless`, then that of `how_many`.
    var sourceConditions: [SourceCondition] { gates.conditions + (when.count.map { [$0.condition] } ?? []) }

    /// The field that `when` is about; templates call its change `change`.
    var field: String? { when.field }

    /// Evaluates the condition.
    func result(for event: Event) -> RuleSet.Evaluation.Result {
        do throws(PatternError) {
            return try when.mismatch(with: event).map(RuleSet.Evaluation.Result.unmatched) ?? .matched
        } catch {
            return .failed(error.detail)
        }
    }

    /// Evaluates the condition for an item that was found without an event: it counts as one that appeared.
    func resultOfExisting(_ event: Event) -> RuleSet.Evaluation.Result {
        var event = event
        event.kind = .appeared
        return result(for: event)
    }
}

extension Condition {
    /// The first field that the condition names.
    var field: String? {
        switch self {
        case .field(let name, _, _), .by(let name, _), .stays(let name, _), .older(let name, _): name
        case .changes(let names): names.first
        case .all(let parts), .any(let parts): parts.lazy.compactMap(\.field).first
        default: nil
        }
    }

    /// The field and age of `older`; nil for any other condition.
    var age: (field: String, least: Duration)? {
        switch self {
        case .older(let name, let duration): (name, duration)
        case .all(let parts): parts.lazy.compactMap(\.age).first
        default: nil
        }
    }

    /// Whether its own time makes `for` unnecessary.
    public var isTimed: Bool { age != nil }

    /// The count of `how_many`; nil for any other condition.
    var count: ItemCount? {
        switch self {
        case .howMany(let count): count
        case .all(let parts): parts.lazy.compactMap(\.count).first
        default: nil
        }
    }

    /// The fields whose changes are measured from the value that was announced last.
    fileprivate var announcedFields: Set<String> {
        switch self {
        case .by(let name, let delta): delta.comparesWithAnnounced ? [name] : []
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.announcedFields) }
        default: []
        }
    }

    /// The sources that can match; nil for any.
    public var sources: Set<String>? {
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

/// The rules in their order, indexed by what a matching event must have: a rule that cannot match costs nothing.
public struct RuleSet: Sendable {
    /// All rules, in the order of evaluation.
    public let rules: [Rule]
    /// The rules with `stays`.
    let matchingExisting: [Rule]
    /// The rules with `how_many`.
    let counting: [Rule]
    /// The sources whose items they count.
    let countedSources: Set<String>
    /// The rules with a `by` that compares with the value that was announced last.
    let comparingAnnounced: [Rule]
    private let index: RuleIndex
    private let byName: [String: Int]

    /// Builds the index.
    public init(_ rules: [Rule]) {
        self.rules = rules
        matchingExisting = rules.filter(\.matchesExisting)
        counting = rules.filter { $0.when.count != nil }
        countedSources = Set(counting.compactMap { $0.when.count?.condition.source })
        comparingAnnounced = rules.filter { !$0.announcedFields.isEmpty }
        byName = Dictionary(rules.indices.map { (rules[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        index = RuleIndex(rules)
    }

    /// Returns the rule of that name.
    public func rule(named name: String) -> Rule? { byName[name].map { rules[$0] } }

    /// The result of evaluating one rule against one event.
    public struct Evaluation: Sendable {
        /// Whether the rule matched, and if not, why.
        public enum Result: Sendable, Hashable {
            /// Every condition holds.
            case matched
            /// A condition does not hold; the reason is for `explain`.
            case unmatched(String)
            /// An earlier rule with `stop` matched.
            case stopped(by: String)
            /// A regular expression hit its match limit, or the rule its budget: whether it matches is unknown.
            case failed(String)
        }

        /// The rule that was evaluated.
        public var rule: Rule
        /// What came of it.
        public var result: Result
    }

    /// Evaluates the rules that could match the event, in order.
    public func evaluate(_ event: Event) -> [Evaluation] { evaluate(event) { $0.result(for: event) } }

    /// Evaluates the rules that could match the event, in order, with a function that evaluates one rule.
    func evaluate(_ event: Event, _ result: (Rule) -> Evaluation.Result) -> [Evaluation] {
        evaluate(index.candidates(for: event), result)
    }

    /// Evaluates every rule against the event, for `explain`.
    public func evaluateAll(_ event: Event) -> [Evaluation] {
        evaluate(Array(rules.indices)) { $0.result(for: event) }
    }

    private func evaluate(_ candidates: [Int], _ result: (Rule) -> Evaluation.Result) -> [Evaluation] {
        var stopping: String?
        return candidates.map { i in
            let rule = rules[i]
            if let stopping { return Evaluation(rule: rule, result: .stopped(by: stopping)) }
            let result = result(rule)
            if result == .matched, rule.stop { stopping = rule.name }
            return Evaluation(rule: rule, result: result)
        }
    }
}
