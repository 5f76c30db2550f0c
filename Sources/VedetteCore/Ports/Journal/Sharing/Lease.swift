// SPDX-License-Identifier: Apache-2.0

/// What a watcher must hold before it polls a source, delivers to a sink, or evaluates the deadlines of a rule.
///
/// A sink is held as a whole and not by its lanes: its rate, its circuit breaker and the pause after a refusal are one
/// state, which two watchers cannot have.
public enum Lease: Sendable, Hashable {
    /// The time from the registration of a watcher or its renewal until its leases end, and others take over from it.
    public static let term = Duration.seconds(15)
    /// The time between two renewals.
    public static let renewal = Duration.seconds(5)
    /// The time from a renewal in which a watcher begins to send, by its own clock. It is shorter than `term`: clocks differ
    /// a little, and a request leaves a moment after the watcher has looked at its clock.
    public static let sending = term - .seconds(1)

    case source(String)
    case sink(String)
    case rule(String)

    /// What is held. The raw values are in the journal.
    public enum Kind: String, Sendable, Hashable {
        case source, sink, rule
    }

    /// What is held.
    public var kind: Kind {
        switch self {
        case .source: .source
        case .sink: .sink
        case .rule: .rule
        }
    }

    /// The name of the source, sink or rule.
    public var name: String {
        switch self {
        case .source(let name), .sink(let name), .rule(let name): name
        }
    }

    /// Creates the lease of a source, sink or rule.
    public init(_ kind: Kind, _ name: String) {
        switch kind {
        case .source: self = .source(name)
        case .sink: self = .sink(name)
        case .rule: self = .rule(name)
        }
    }
}
