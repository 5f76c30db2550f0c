// SPDX-License-Identifier: Apache-2.0

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
    /// The rules with `nothing`.
    let awaited: [AwaitedMatch]
    /// The same, by each source that they name.
    let awaitingMatch: [String: [AwaitedMatch]]
    private let index: RuleIndex
    private let byName: [String: Int]
    private let byFormerName: [String: Int]
    /// The indices of the rules with `stop`.
    private let stopping: [Int]

    /// Builds the index.
    public init(_ rules: [Rule]) {
        self.rules = rules
        matchingExisting = rules.filter(\.matchesExisting)
        counting = rules.filter { $0.when.count != nil }
        countedSources = Set(counting.compactMap { $0.when.count?.condition.source })
        comparingAnnounced = rules.filter { !$0.announcedFields.isEmpty }
        awaited = rules.filter { $0.gates.nothing > .zero }.map {
            AwaitedMatch(rule: $0.name, sources: $0.when.sources?.sorted() ?? [])
        }
        var awaiting: [String: [AwaitedMatch]] = [:]
        for rule in awaited { for source in rule.sources { awaiting[source, default: []].append(rule) } }
        awaitingMatch = awaiting
        byName = Dictionary(rules.indices.map { (rules[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        let renamed = rules.indices.compactMap { i in rules[i].formerName.map { ($0, i) } }
        byFormerName = Dictionary(renamed, uniquingKeysWith: { first, _ in first })
        stopping = rules.indices.filter { rules[$0].stop }
        index = RuleIndex(rules)
    }

    /// A rule with `nothing`, and the sources it names, sorted.
    struct AwaitedMatch: Sendable {
        let rule: String
        let sources: [String]
    }

    /// Returns the rule of that name.
    public func rule(named name: String) -> Rule? { byName[name].map { rules[$0] } }

    /// Returns the rule that has the rows of that name: the one that is called so, else the one that was.
    func heir(of name: String) -> Rule? { (byName[name] ?? byFormerName[name]).map { rules[$0] } }

    /// Returns whether a rule with `stop` before this one matches an item as it is.
    /// - Parameter event: the event of an item that was found without a change.
    func isStopped(_ rule: Rule, _ event: Event) -> Bool {
        guard let place = byName[rule.name] else { return false }
        return stopping.prefix { $0 < place }.contains { !rules[$0].isNews(event) && rules[$0].remainsTrue(event) }
    }

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
