// SPDX-License-Identifier: Apache-2.0

/// Reads a journal beside the watcher, or where none runs. It holds no transaction between two calls.
public protocol JournalReader: Sendable {
    /// False when another journal has taken the place of this one; this reader still sees the old one.
    var isCurrent: Bool { get }

    /// Reads the oldest events with a seq above `seq`, in order.
    func events(after seq: Int64, _ filter: EventFilter, limit: Int) async throws(JournalError) -> [Event]

    /// Reads the seq after which the newest `count` events begin; the last seq when there is none, 0 when all are wanted.
    func seq(before count: Int, _ filter: EventFilter) async throws(JournalError) -> Int64

    /// Reads the states of the deliveries that were made of events, by seq; those without one are left out.
    func deliveryStates(of events: [Int64]) async throws(JournalError) -> [Int64: Set<DeliveryState>]

    /// Reads the newest events, oldest first.
    func lastEvents(_ count: Int, _ filter: EventFilter) async throws(JournalError) -> [Event]

    /// Finds the events whose id starts with `text`, or whose seq it is: none, one, or up to ten candidates.
    func events(matching text: String) async throws(JournalError) -> [Event]

    /// Reads the newest events of an item, oldest first.
    func history(source: String, key: String, limit: Int) async throws(JournalError) -> [Event]

    /// Reads deliveries in the order of their release, those with an id above `after`.
    func deliveries(_ filter: DeliveryFilter, after: Int64, limit: Int) async throws(JournalError) -> [DeliveryStatus]

    /// Reads the failed attempts of a delivery that are still kept, in order.
    func attempts(of delivery: Int64) async throws(JournalError) -> [Attempt]

    /// Reads the record of every source that was polled and is still kept.
    func sourceRecords() async throws(JournalError) -> [SourceRecord]

    /// Reads the record of one source; nil when it was never polled.
    func sourceRecord(of source: String) async throws(JournalError) -> SourceRecord?

    /// Reads the items of a source's snapshot, including those remembered as absent.
    func items(of source: String) async throws(JournalError) -> [String: StoredItem]

    /// Reads those items of a source's snapshot that have one of these keys.
    func items(of source: String, withKeys keys: Set<String>) async throws(JournalError) -> [String: StoredItem]

    /// Reads a page of the present items of a source's snapshot, in the order of the bytes of their keys.
    /// - Parameter offset: how many items come before.
    func items(of source: String, from offset: Int, limit: Int) async throws(JournalError) -> [StoredItem]

    /// Counts the pending and dead deliveries of each sink that has any, in order of name.
    func sinkCounts() async throws(JournalError) -> [SinkCount]

    /// Reads what each of these sinks delivered since a time, and its last dead message, in the order of the names.
    func activity(of sinks: [String], since start: Timestamp) async throws(JournalError) -> [SinkActivity]

    /// Reads what rules remember between an event and a message.
    func ruleMemories() async throws(JournalError) -> [RuleMemory]

    /// Reads every silence, including those that are over.
    func silences() async throws(JournalError) -> [Silence]

    /// Reads the last seq that this journal ever gave; 0 before the first event.
    func lastSeq() async throws(JournalError) -> Int64

    /// Checks the whole journal and lists what is damaged; empty when it is sound. It reads every page.
    func damages() async throws(JournalError) -> [String]
}

extension JournalReader {
    /// Reads all matching events page by page, in order.
    /// - Parameter start: the seq after which to begin.
    public func allEvents(
        _ filter: EventFilter = .init(), after start: Int64 = 0, page: Int = 1000
    ) -> JournalPages<Event> {
        JournalPages(size: page, start: start, number: \.seq) { after, limit async throws(JournalError) in
            try await events(after: after, filter, limit: limit)
        }
    }

    /// Reads all matching deliveries page by page, in the order of their release.
    public func allDeliveries(_ filter: DeliveryFilter = .init(), page: Int = 1000) -> JournalPages<DeliveryStatus> {
        JournalPages(size: page, number: \.delivery.id) { after, limit async throws(JournalError) in
            try await deliveries(filter, after: after, limit: limit)
        }
    }
}

/// The rows of a query, one page at a time, so that a journal of any size needs the memory of two pages: the next one is
/// read while the consumer uses the one before.
public struct JournalPages<Row: Sendable>: AsyncSequence, Sendable {
    public typealias Element = [Row]
    public typealias Failure = JournalError
    typealias Fetch = @Sendable (_ after: Int64, _ limit: Int) async throws(JournalError) -> [Row]

    private let size: Int
    private let start: Int64
    private let number: @Sendable (Row) -> Int64
    private let fetch: Fetch

    init(size: Int, start: Int64 = 0, number: @escaping @Sendable (Row) -> Int64, fetch: @escaping Fetch) {
        (self.size, self.start, self.number, self.fetch) = (size, start, number, fetch)
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private typealias Result = Swift.Result<[Row], JournalError>

        private let pages: JournalPages
        private var after: Int64
        private var isAtEnd = false
        private var following: Task<Result, Never>?

        fileprivate init(pages: JournalPages) { (self.pages, after) = (pages, pages.start) }

        public mutating func next() async throws(JournalError) -> [Row]? {
            guard !isAtEnd else { return nil }
            let page =
                if let following { try await following.value.get() } else { try await pages.fetch(after, pages.size) }
            isAtEnd = page.count < pages.size
            guard let last = page.last else { return nil }
            after = pages.number(last)
            following = isAtEnd ? nil : read(after)
            return page
        }

        private func read(_ after: Int64) -> Task<Result, Never> {
            Task { [pages] in
                do throws(JournalError) {
                    return .success(try await pages.fetch(after, pages.size))
                } catch {
                    return .failure(error)
                }
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError) -> [Row]? {
            try await next()
        }
    }
}

/// Which events a reader wants; nil accepts all.
public struct EventFilter: Sendable, Hashable {
    public var source: String?
    /// Only events that this rule made a delivery of.
    public var rule: String?
    /// Only events about the item with this key.
    public var key: String?
    /// Only events of these types; empty accepts all.
    public var kinds: Set<Event.Kind>
    /// Only events of which a message was sent or will be: the delivery is neither dead nor suppressed.
    public var isSent: Bool
    /// Not older than this.
    public var since: Timestamp?
    /// Older than this.
    public var until: Timestamp?

    public init(
        source: String? = nil, rule: String? = nil, key: String? = nil, kinds: Set<Event.Kind> = [],
        isSent: Bool = false, since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        (self.source, self.rule, self.key, self.kinds) = (source, rule, key, kinds)
        (self.isSent, self.since, self.until) = (isSent, since, until)
    }
}

/// Which deliveries a reader wants; nil accepts all.
public struct DeliveryFilter: Sendable, Hashable {
    public enum States: Sendable, Hashable {
        case only(DeliveryState)
        /// Deliveries that a person may act on: every state but `sent` and `suppressed`.
        case unsent
    }

    public var states: States?
    public var sink: String?
    public var rule: String?
    /// The seq of the event that they are about.
    public var event: Int64?
    /// Created before this time.
    public var before: Timestamp?

    public init(
        _ states: States? = nil, sink: String? = nil, rule: String? = nil, event: Int64? = nil,
        before: Timestamp? = nil
    ) {
        (self.states, self.sink, self.rule) = (states, sink, rule)
        (self.event, self.before) = (event, before)
    }
}

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

/// What a sink delivered lately.
public struct SinkActivity: Sendable, Hashable {
    public var sink: String
    /// Messages sent since the time that was asked for.
    public var sent: Int
    /// When the last message was sent, whenever that was; nil for none that is kept.
    public var lastSentAt: Timestamp?
    /// When the newest of the dead messages died; nil when none is dead.
    public var lastDeadAt: Timestamp?
    /// Why that one died.
    public var lastDeadReason: String?

    public init(
        sink: String, sent: Int = 0, lastSentAt: Timestamp? = nil, lastDeadAt: Timestamp? = nil,
        lastDeadReason: String? = nil
    ) {
        (self.sink, self.sent, self.lastSentAt) = (sink, sent, lastSentAt)
        (self.lastDeadAt, self.lastDeadReason) = (lastDeadAt, lastDeadReason)
    }
}
