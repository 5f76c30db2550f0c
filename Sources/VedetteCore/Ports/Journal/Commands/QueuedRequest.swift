// SPDX-License-Identifier: Apache-2.0

/// A control request in the journal.
public struct QueuedRequest: Sendable, Hashable {
    public var id: Int64
    public var request: ControlRequest

    public init(id: Int64, request: ControlRequest) { (self.id, self.request) = (id, request) }
}
