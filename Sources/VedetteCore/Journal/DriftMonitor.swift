// SPDX-License-Identifier: Apache-2.0

/// Decides when one of the watchers that share a journal announces that their configurations differ, and that they agree
/// again. The watcher with the newest configuration does, once for each new configuration: the last announcement is read
/// from the journal, so that no restart and no other watcher repeats it.
public struct DriftMonitor: Sendable {
    /// A new configuration is copied to one machine after the other. What is over within this time is no event.
    public static let patience = Duration.seconds(60)

    /// What is to be announced.
    public enum Change: Sendable, Hashable {
        /// - Parameters:
        ///   - cause: which watchers differ from which.
        ///   - configuration: the digest of the newest configuration.
        case differ(cause: String, configuration: String)
        case agree

        /// The name under which the event of a difference has the digest of the newest configuration.
        static let field = "configuration"

        /// Makes the event of the announcement.
        public func event(id: Identifier, at time: Timestamp) -> Event {
            var event = Event(
                id: id, kind: .equal, time: time, source: Event.watcher, sourceKind: Event.watcher, poll: "")
            if case .differ(let cause, let configuration) = self {
                event.kind = .unequal
                event.error = Event.Problem(
                    failure: event.kind.word, detail: "\(cause): \(ConfigurationDrift.remedy)")
                event.changes = [FieldChange(field: Change.field, from: nil, to: .text(configuration))]
            }
            return event
        }
    }

    /// The newest configuration while others differ from it, and since when; nil configuration while all agree.
    private struct Condition: Sendable {
        var configuration: String?
        var since: BootTime
        /// Whether it was compared with the last announcement.
        var isSettled = false
    }

    private var condition: Condition?

    /// Creates a monitor that has seen nothing.
    public init() {}

    /// Returns whether the last announcement in the journal must be read and compared now; see `change`. It does so until
    /// that is settled.
    /// - Parameter own: the number of this watcher's registration.
    public mutating func mustCompare(_ drift: ConfigurationDrift, own: Int64, at now: BootTime) -> Bool {
        guard let newest = drift.newest, newest.number == own else {
            condition = nil
            return false
        }
        let configuration = drift.others.isEmpty ? nil : newest.configuration
        if condition == nil || condition?.configuration != configuration {
            condition = Condition(configuration: configuration, since: now)
        }
        guard let condition, !condition.isSettled else { return false }
        return configuration == nil || condition.since.advanced(by: DriftMonitor.patience) <= now
    }

    /// Notes that what holds now is announced, or needs no announcement.
    public mutating func settle() { condition?.isSettled = true }

    /// Returns what is to be announced; nil for nothing.
    /// - Parameter last: the last `unequal` or `equal` event of the journal.
    public static func change(_ drift: ConfigurationDrift, since last: Event?) -> Change? {
        let isAnnounced = last?.kind == .unequal
        guard let newest = drift.newest, let cause = drift.cause else { return isAnnounced ? .agree : nil }
        let announced = last?.changes.first { $0.field == Change.field }?.to
        // Watchers that take it one after the other leave fewer that differ from it.
        if isAnnounced, announced == .text(newest.configuration) { return nil }
        return .differ(cause: cause, configuration: newest.configuration)
    }
}
