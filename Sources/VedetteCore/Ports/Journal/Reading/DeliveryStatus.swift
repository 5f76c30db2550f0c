// SPDX-License-Identifier: Apache-2.0

/// A delivery with its state.
public struct DeliveryStatus: Sendable, Hashable {
    public var delivery: Delivery
    public var state: DeliveryState
    /// When it became sent, dead or suppressed.
    public var endedAt: Timestamp?

    public init(delivery: Delivery, state: DeliveryState, endedAt: Timestamp?) {
        (self.delivery, self.state, self.endedAt) = (delivery, state, endedAt)
    }
}
