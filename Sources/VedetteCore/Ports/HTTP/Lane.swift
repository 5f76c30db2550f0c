// SPDX-License-Identifier: Apache-2.0

/// A share of the requests in flight (a bulkhead): slow requests of one lane do not delay another (I7).
public enum Lane: Sendable, Hashable, CaseIterable {
    /// Polls of hosts that answer.
    case polls
    /// Polls of hosts whose last attempt timed out.
    case slowHosts
    /// Requests of sinks.
    case deliveries
    /// Kept connections over which a server pushes records. They take no slot of their origin, which others need.
    case streams

    /// Requests of the lane in flight at once; further ones wait.
    public var slots: Int {
        switch self {
        case .polls: 64
        case .slowHosts: 16
        case .deliveries: 32
        case .streams: 64
        }
    }

    /// Requests beside those that have no answer after a second, and mails that have not ended by then: each has given back its
    /// slot, so that it delays no other.
    public var maximumUnanswered: Int {
        switch self {
        case .polls: 192
        case .deliveries: 96
        case .slowHosts, .streams: 0
        }
    }
}
