// SPDX-License-Identifier: Apache-2.0

/// A change of selected deliveries by a person, in steps of few rows.
public struct DeliveryChange: Sendable {
    /// Rows of one step.
    public static let step = 5000

    /// What happens to the deliveries.
    public enum Action: Sendable {
        /// Makes dead, paused and retrying deliveries pending again.
        case retry
        /// Ends pending deliveries as dead.
        case drop
        /// Deletes dead deliveries.
        case clear

        /// Returns the request that tells the watcher that deliveries of a sink changed.
        func request(sink: String) -> ControlRequest {
            self == .retry ? .retry(sink: sink) : .reloadQueue(sink: sink)
        }
    }

    /// The pending or the dead deliveries of one sink, between two ids: a store has an index for each.
    public struct Part: Sendable, Hashable {
        public var sink: String
        public var isDead: Bool
        public var after: Int64 = 0
        /// The newest delivery at the first step: those that come meanwhile were not there to be selected.
        public var last: Int64
    }

    /// A delivery that was changed or deleted.
    public struct Changed: Sendable {
        public var id: Int64
        public var sink: String

        public init(id: Int64, sink: String) { (self.id, self.sink) = (id, sink) }
    }

    public let action: Action
    public let now: Timestamp
    public private(set) var isDone = false
    private let selection: DeliverySelection
    /// What is left of the selection by a filter; nil before the first step.
    private var parts: [Part]?

    /// Creates a change of which nothing is done yet.
    public init(_ action: Action, _ selection: DeliverySelection, at now: Timestamp) {
        (self.action, self.selection, self.now) = (action, selection, now)
    }

    /// Changes the next deliveries.
    /// - Returns: the sink of each changed delivery.
    public mutating func run(_ deliveries: some ChangeableDeliveries) throws -> [String] {
        switch selection {
        case .ids(let ids):
            isDone = true
            return try deliveries.change(ids, self).map(\.sink)
        case .all(let filter): return try run(filter, deliveries)
        }
    }

    private mutating func run(_ filter: DeliveryFilter, _ deliveries: some ChangeableDeliveries) throws -> [String] {
        var left = try parts ?? parts(of: filter, deliveries)
        var sinks: [String] = []
        while sinks.count < DeliveryChange.step, var part = left.first {
            let most = DeliveryChange.step - sinks.count
            let changed = try deliveries.change(part, filter, self, limit: most)
            sinks += changed.map(\.sink)
            part.after = changed.map(\.id).max() ?? part.after
            if changed.count < most { left.removeFirst() } else { left[0] = part }
        }
        (parts, isDone) = (left, left.isEmpty)
        return sinks
    }

    private func parts(of filter: DeliveryFilter, _ deliveries: some ChangeableDeliveries) throws -> [Part] {
        let sinks = try filter.sink.map { [$0] } ?? deliveries.queuedSinks()
        let kinds: [Bool] =
            switch action {
            case .retry: [false, true]
            case .drop: [false]
            case .clear: [true]
            }
        let last = try deliveries.lastDelivery()
        return sinks.flatMap { sink in kinds.map { Part(sink: sink, isDead: $0, last: last) } }
    }
}

/// The deliveries of a journal, as a change by a person reads and writes them in one transaction.
public protocol ChangeableDeliveries {
    /// Lists the sinks that have pending or dead deliveries.
    func queuedSinks() throws -> [String]

    /// Reads the greatest id of the deliveries; 0 without any.
    func lastDelivery() throws -> Int64

    /// Changes the deliveries among these that have a state for it.
    func change(_ ids: [Int64], _ change: DeliveryChange) throws -> [DeliveryChange.Changed]

    /// Changes the next deliveries of a part that a filter accepts, in the order of their ids.
    func change(
        _ part: DeliveryChange.Part, _ filter: DeliveryFilter, _ change: DeliveryChange, limit: Int
    ) throws -> [DeliveryChange.Changed]
}
