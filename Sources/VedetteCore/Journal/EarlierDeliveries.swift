// SPDX-License-Identifier: Apache-2.0

/// Searches for the pending deliveries that new ones may replace, or that make them needless: of one sink and rule, about some
/// subjects.
public struct EarlierDeliveries: Sendable {
    /// The most that are read, the newest first.
    public static let limit = 10_000

    public let sink: String
    public let rule: String
    /// Whether only those matter whose event a rule made: reminders and ends.
    public let areOfRules: Bool
    /// The subjects; empty for a message about several.
    public private(set) var subjects: Set<String>
    /// They are older than this delivery.
    public private(set) var before: Int64

    /// Returns the searches for what matters to new deliveries: one for all that share a sink and a rule.
    static func of(_ added: [Delivery]) -> [EarlierDeliveries] {
        var searches: [[String]: EarlierDeliveries] = [:]
        for later in added {
            let (message, kind) = (later.message, later.message.event.kind)
            let areOfRules = kind != .reminder && !message.event.isEnd && HealthChange(kind) == nil
            let key = [message.sink, message.rule, areOfRules ? "r" : ""]
            var search =
                searches[key]
                ?? EarlierDeliveries(
                    sink: message.sink, rule: message.rule, areOfRules: areOfRules, subjects: [], before: 0)
            search.subjects.formUnion(message.earlierSubjects)
            search.before = max(search.before, later.id)
            searches[key] = search
        }
        return Array(searches.values)
    }

    /// Returns whether a delivery is among what is searched for.
    func contain(_ delivery: Delivery) -> Bool {
        let message = delivery.message
        return message.sink == sink && message.rule == rule && delivery.id < before
            && subjects.contains(message.subject) && (!areOfRules || message.event.seq == 0)
    }
}

/// A pending delivery, as far as a later one may replace it or be made needless by it.
public struct EarlierDelivery: Sendable {
    public let place: DeliveryPlace
    let rule: String
    /// As a journal stores it: empty for a message about several.
    let subject: String
    /// All that it is about.
    let subjects: Set<String>
    let kind: Event.Kind
    /// Whether it tells the end of all that it is about.
    let isEnd: Bool
    /// The id of its event, which tells the order of events also where a fallback gets a message late.
    let event: String
    let attempts: Int
    let due: Timestamp

    /// - Parameter several: the event of a message about several.
    init(
        _ place: DeliveryPlace, rule: String, subject: String, kind: Event.Kind, event: String, several: Event?,
        attempts: Int, due: Timestamp
    ) {
        (self.place, self.rule, self.subject, self.kind, self.event) = (place, rule, subject, kind, event)
        (subjects, isEnd) = (several?.partSubjects ?? [subject], several?.isEnd ?? kind.isEnd)
        (self.attempts, self.due) = (attempts, due)
    }

    init(_ delivery: Delivery) {
        let (message, subject) = (delivery.message, delivery.message.subject)
        self.init(
            delivery.place, rule: message.rule, subject: subject, kind: message.event.kind,
            event: message.event.id.description, several: subject.isEmpty ? message.event : nil,
            attempts: delivery.attempts, due: delivery.due)
    }

    /// Returns the ends of deliveries that are not sent, in the order of their ids.
    /// - Parameters:
    ///   - added: the new deliveries, in their order.
    ///   - earlier: what was found for them.
    static func ends(
        by added: [Delivery], of earlier: [EarlierDelivery]
    ) -> [(place: DeliveryPlace, attempt: Attempt)] {
        var ends: [Int64: (place: DeliveryPlace, attempt: Attempt)] = [:]
        func end(_ one: EarlierDelivery, _ reason: String, at now: Timestamp) {
            var attempt = Attempt(
                delivery: one.place.id, state: .suppressed, attempts: one.attempts, due: one.due, at: now,
                reason: reason)
            attempt.wasMade = false
            ends[one.place.id] = (one.place, attempt)
        }
        let known = Dictionary(grouping: earlier) { [$0.place.lane.sink, $0.rule, $0.subject] }
        for delivery in added {
            let later = EarlierDelivery(delivery)
            let pending = delivery.message.earlierSubjects.flatMap { subject in
                known[[later.place.lane.sink, later.rule, subject]] ?? []
            }.filter { $0.place.id < later.place.id && ends[$0.place.id] == nil }
            if later.kind == .reminder {
                guard pending.contains(where: { !$0.subjects.isDisjoint(with: later.subjects) }) else { continue }
                end(later, "an earlier message about it is still pending", at: delivery.created)
            } else if delivery.chain != nil,
                let reason = pending.lazy.compactMap({ $0.event > later.event ? $0.replaces(later) : nil }).first
            {
                // Its sink failed to send it until after the fallback had got the newer one.
                end(later, reason, at: delivery.created)
            } else {
                for one in pending {
                    if let reason = later.replaces(one) { end(one, reason, at: delivery.created) }
                }
            }
        }
        return ends.values.sorted { $0.place.id < $1.place.id }
    }

    /// Returns why an earlier message of the same rule is not to be sent before this one; nil when it is.
    private func replaces(_ earlier: EarlierDelivery) -> String? {
        // A count of news is not what is true of the source, and a digest lists what happened.
        guard kind != .burst, ![.burst, .digest].contains(earlier.kind), kind != .digest || isEnd,
            earlier.subjects.isSubset(of: subjects)
        else { return nil }
        if earlier.kind == .reminder { return "a later message took its place" }
        let (health, before) = (HealthChange(kind), HealthChange(earlier.kind))
        let isOpposite = if let health, let before { health.contradicts(before) } else { false }
        let isOver = kind == .resolved || kind == .digest || isOpposite && health == .recovered
        if isOver { return "over before it could be sent" }
        return earlier.kind == .resolved || isOpposite ? "true again before it could be sent" : nil
    }
}

extension EvictionLimits {
    /// Whether a new delivery may replace earlier ones, or be made needless by one.
    func mayReplace(_ later: Delivery) -> Bool {
        guard later.state.isPending else { return false }
        let message = later.message
        return message.event.kind == .reminder
            || textSinks.contains(message.sink) && (!message.subject.isEmpty || message.event.isEnd)
    }

    /// Returns which pending deliveries go to a fallback. One about whose subject an earlier one stays would arrive before it.
    /// - Parameters:
    ///   - pending: in the order of their ids.
    ///   - kept: the deliveries that stay since an attempt of them is under way.
    static func passedOn(_ pending: [QueuedDelivery], keeping kept: Set<Int64>) -> [Int64] {
        var staying: [String: Set<String>] = [:]
        return pending.filter { one in
            let isBehind =
                staying[one.rule].map { one.subject.isEmpty || $0.contains(one.subject) || $0.contains("") } ?? false
            guard isBehind || kept.contains(one.id) else { return true }
            staying[one.rule, default: []].insert(one.subject)
            return false
        }.map(\.id)
    }
}

extension Message {
    /// The subjects of the earlier messages that matter to this one. A message about several may be about each of them.
    fileprivate var earlierSubjects: Set<String> {
        let subject = subject
        if subject.isEmpty { return event.partSubjects.union([""]) }
        return event.kind == .reminder ? [subject, ""] : [subject]
    }
}

extension Event {
    /// The subjects of a message about several; empty for a digest that has titles alone.
    fileprivate var partSubjects: Set<String> {
        Set((summary?.parts ?? []).map { Subject(source: $0.source, key: $0.key).text })
    }
}
