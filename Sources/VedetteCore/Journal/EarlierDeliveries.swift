// SPDX-License-Identifier: Apache-2.0

/// The pending deliveries that a new one may replace, or that make it needless: of its sink and rule, about its subject.
public struct EarlierDeliveries: Sendable {
    /// The most that are read.
    public static let limit = 200

    public var sink: String
    public var rule: String
    /// One or two subjects.
    public var subjects: (String, String)
    /// They are older than this delivery.
    public var before: Int64
    /// Whether only those matter whose event a rule made: reminders and ends.
    public var areOfRules: Bool

    /// Those that matter for a new delivery.
    init(for later: Delivery) {
        let (message, kind) = (later.message, later.message.event.kind)
        (sink, rule, before) = (message.sink, message.rule, later.id)
        // A message about several items may be about the one of a reminder.
        subjects = (message.subject, kind == .reminder ? "" : message.subject)
        areOfRules = kind != .reminder && kind != .resolved && HealthChange(message.event) == nil
    }

    /// Returns whether these are among them.
    func contain(_ delivery: Delivery) -> Bool {
        let message = delivery.message
        return message.sink == sink && message.rule == rule && delivery.id < before
            && (message.subject == subjects.0 || message.subject == subjects.1)
            && (!areOfRules || message.event.seq == 0)
    }

    /// A delivery that is not sent, as it is then, and what to write.
    typealias End = (delivery: Delivery, attempt: Attempt)

    /// Returns what new deliveries end, in their order.
    /// - Parameter added: each with the earlier ones.
    static func ends(_ added: some Sequence<(Delivery, [Delivery])>) -> [End] {
        var ends: [Int64: End] = [:]
        func end(_ delivery: Delivery, _ reason: String, at now: Timestamp) {
            var ended = delivery
            (ended.state, ended.reason) = (.suppressed, reason)
            var attempt = Attempt(
                delivery: delivery.id, state: .suppressed, attempts: delivery.attempts, due: delivery.due, at: now,
                reason: reason)
            attempt.wasMade = false
            ends[delivery.id] = (ended, attempt)
        }
        for (later, earlier) in added {
            let pending = earlier.filter { ends[$0.id] == nil }
            if later.message.event.kind == .reminder {
                let subjects = later.message.subjects
                guard pending.contains(where: { !$0.message.subjects.isDisjoint(with: subjects) }) else { continue }
                end(later, "an earlier message about it is still pending", at: later.created)
            } else {
                for one in pending {
                    if let reason = later.message.replaces(one.message) { end(one, reason, at: later.created) }
                }
            }
        }
        return ends.values.sorted { $0.delivery.id < $1.delivery.id }
    }
}

extension EvictionLimits {
    /// Whether a new delivery may replace earlier ones, or be made needless by one.
    func mayReplace(_ later: Delivery) -> Bool {
        guard later.state.isPending else { return false }
        return later.message.event.kind == .reminder
            || textSinks.contains(later.message.sink) && !later.message.subject.isEmpty
    }
}

extension Message {
    /// Returns why an earlier message of the same rule and subject is not to be sent before this one; nil when it is.
    fileprivate func replaces(_ earlier: Message) -> String? {
        let (present, past) = (event, earlier.event)
        // A count of news, not what is true of the source.
        guard present.kind != .burst, past.kind != .burst else { return nil }
        if past.kind == .reminder { return "a later message took its place" }
        let (health, before) = (HealthChange(present), HealthChange(past))
        let isOpposite = if let health, let before { health.contradicts(before) } else { false }
        if present.kind == .resolved || isOpposite && health == .recovered { return "over before it could be sent" }
        if past.kind == .resolved || isOpposite { return "true again before it could be sent" }
        return nil
    }
}
