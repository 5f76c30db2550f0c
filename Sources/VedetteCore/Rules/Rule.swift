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
        /// Whether the sink passes on events, so that it is told of several subjects one by one: a receiver follows each of them.
        public var tellsEach = false

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
    /// What the messages about the ends of matches say, where `gates.resolved` sends them.
    public var ending = Ending()
    /// `stays`: an item that already has the value matches, counted from when it got the value.
    public var matchesExisting: Bool
    /// A digest of `when` and of the conditions between a match and its message. While it is the same, a reload asks nothing
    /// about the rule's rows.
    public var identity: UInt64
    /// A digest of what decides which events a log lists, and when it is sent.
    public var logIdentity: UInt64 = 0
    /// `was`: the name that the rule had before, under which its rows may be stored.
    public var formerName: String?
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

    /// The rule's conditions on the items of a source, event or not: from `if` and `unless`, then from `how_many`.
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

    /// Whether no event that it matches is about an item.
    public var isAboutSources: Bool {
        switch self {
        case .howMany, .sourceState: true
        case .all(let parts): parts.contains(where: \.isAboutSources)
        case .any(let parts): !parts.isEmpty && parts.allSatisfy(\.isAboutSources)
        default: false
        }
    }

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
