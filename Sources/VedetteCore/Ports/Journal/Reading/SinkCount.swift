// SPDX-License-Identifier: Apache-2.0

/// How many deliveries of one sink are pending or dead.
public struct SinkCount: Sendable, Hashable {
    public var sink: String
    /// Pending in a wide sense: those that are retrying or paused too.
    public var pending = 0
    /// Bytes of the texts and events of all pending deliveries.
    public var pendingBytes: Int64 = 0
    public var retrying = 0
    public var paused = 0
    public var dead = 0

    public init(sink: String) { self.sink = sink }

    /// Adds deliveries of one state.
    public mutating func add(_ count: Int, state: DeliveryState?, bytes: Int64) {
        switch state {
        case .dead: dead += count
        case .pending, .retry, .paused:
            (pending, pendingBytes) = (pending + count, pendingBytes + bytes)
            if state == .retry { retrying += count }
            if state == .paused { paused += count }
        case .sent, .suppressed, nil: break
        }
    }
}
