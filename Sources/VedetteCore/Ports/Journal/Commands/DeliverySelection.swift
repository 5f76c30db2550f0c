// SPDX-License-Identifier: Apache-2.0

/// The deliveries that a command changes, as far as their state allows it.
public enum DeliverySelection: Sendable, Hashable {
    case ids([Int64])
    /// All that a filter accepts.
    case all(DeliveryFilter)

    /// The sink whose deliveries these are without exception: a retry resumes it even when it has none. Nil for a part of them.
    public var wholeSink: String? {
        guard case .all(let filter) = self, filter.rule == nil, filter.event == nil, filter.before == nil else {
            return nil
        }
        return filter.sink
    }
}
