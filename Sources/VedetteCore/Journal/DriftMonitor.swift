// SPDX-License-Identifier: Apache-2.0

/// Decides when one of the watchers that share a journal announces that their configurations differ, and that they agree
/// again: once for each difference, by the watcher with the newest configuration.
public struct DriftMonitor: Sendable {
    /// A new configuration is copied to one machine after the other. What is over within this time is no event.
    public static let patience = Duration.seconds(60)

    /// What is to be announced.
    public enum Change: Sendable, Hashable {
        /// - Parameter cause: which watchers differ from which.
        case differ(cause: String)
        case agree
    }

    private struct Difference: Sendable, Hashable {
        var newest: String
        var others: [String: String]

        init?(_ drift: ConfigurationDrift) {
            guard let newest = drift.newest, !drift.others.isEmpty else { return nil }
            self.newest = newest.configuration
            others = Dictionary(drift.others.map { ($0.name, $0.configuration) }) { _, last in last }
        }
    }

    private var current: (difference: Difference, since: BootTime)?
    private var announced: Difference?

    /// Creates a monitor that has announced nothing.
    public init() {}

    /// Returns what is to be announced now; nil for nothing. It is the same until it is confirmed.
    /// - Parameter own: the number of this watcher's registration.
    public mutating func change(_ drift: ConfigurationDrift, own: Int64, at now: BootTime) -> Change? {
        guard let difference = Difference(drift) else {
            current = nil
            return announced == nil ? nil : .agree
        }
        guard drift.newest?.number == own, let cause = drift.cause else {
            current = nil
            return nil
        }
        if current?.difference != difference { current = (difference, now) }
        guard let current, current.since.advanced(by: DriftMonitor.patience) <= now, announced != difference else {
            return nil
        }
        return .differ(cause: cause)
    }

    /// Notes that a change was announced.
    public mutating func confirm(_ change: Change) {
        switch change {
        case .differ: announced = current?.difference
        case .agree: announced = nil
        }
    }
}
