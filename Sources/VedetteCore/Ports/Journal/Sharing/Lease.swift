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

    case source(String)
    case sink(String)
    case rule(String)

    /// The lease as the journal writes it.
    public var text: String {
        switch self {
        case .source(let name): "source/" + name
        case .sink(let name): "sink/" + name
        case .rule(let name): "rule/" + name
        }
    }
}
