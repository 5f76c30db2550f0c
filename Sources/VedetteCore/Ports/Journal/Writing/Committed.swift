// SPDX-License-Identifier: Apache-2.0

/// The numbered events and deliveries of one committed `PollRecord`.
public struct Committed: Sendable {
    public var events: [Event]
    public var deliveries: [Delivery]

    public init(events: [Event], deliveries: [Delivery]) { (self.events, self.deliveries) = (events, deliveries) }
}
