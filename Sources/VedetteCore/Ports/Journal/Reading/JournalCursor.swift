// SPDX-License-Identifier: Apache-2.0

/// Reads the events of a journal in batches, without gap or repeat: over restarts of the watcher, and from the first event
/// on where another journal takes its place. See `JournalFollower`, which also waits.
public struct JournalCursor: Sendable {
    /// A place between two events of a journal.
    public struct Position: Sendable, Hashable {
        /// The seq of the last event before it; 0 for the start.
        public var seq: Int64
        /// The id of that event, which tells this journal from another one that gave the same seq; nil when it is unknown.
        public var id: Identifier?

        /// Creates a position behind an event.
        public init(seq: Int64, id: Identifier? = nil) { (self.seq, self.id) = (seq, id) }
    }

    /// Behind the last event that was read.
    public private(set) var position: Position
    /// How often another journal took the place of the one that was read.
    public private(set) var restarts = 0

    private let open: @Sendable () async throws(JournalError) -> any JournalReader
    private let filter: EventFilter
    private let limit: Int
    private var reader: (any JournalReader)?
    /// The newest event of the journal when all up to it had been read; nil when that is unknown. A filter that few events
    /// pass leaves `position` far behind it.
    private var scanned: Position?

    /// - Parameters:
    ///   - last: the seq after which it begins.
    ///   - limit: events that are read at once, at most.
    public init(_ journal: any JournalAccess, after last: Int64, _ filter: EventFilter = .init(), limit: Int = 256) {
        self.init(after: Position(seq: last), filter, limit: limit) { () async throws(JournalError) in
            try await journal.reader()
        }
    }

    /// - Parameters:
    ///   - position: where it begins.
    ///   - limit: events that are read at once, at most.
    ///   - open: returns a reader of the journal that is in its place now.
    public init(
        after position: Position, _ filter: EventFilter = .init(), limit: Int = 256,
        open: @escaping @Sendable () async throws(JournalError) -> any JournalReader
    ) {
        (self.position, self.filter, self.limit, self.open) = (position, filter, limit, open)
    }

    /// Reads the next events and moves behind them; empty where there is nothing to read yet.
    public mutating func next() async throws(JournalError) -> [Event] {
        let events = try await read()
        if let last = events.last { position = Position(seq: last.seq, id: last.id) }
        return events
    }

    private mutating func read() async throws(JournalError) -> [Event] {
        do throws(JournalError) {
            // Checked before the read: events that the old journal got before it was replaced are still read from it.
            if let reader, reader.isCurrent { return try await readOnce(reader) }
            if let reader {
                let rest = try await readOnce(reader)
                if !rest.isEmpty { return rest }
                self.reader = nil
                restart()
            }
            let reader = try await open()
            // A journal that never gave the last seq is another one.
            if position.id == nil, try await reader.lastSeq() < position.seq { restart() }
            self.reader = reader
            return try await readOnce(reader)
        } catch {
            switch error.reason {
            case .missing, .older, .busy: return []
            default: throw error
            }
        }
    }

    /// Reads the next events, without those again that the filter did not pass.
    private mutating func readOnce(_ reader: any JournalReader) async throws(JournalError) -> [Event] {
        guard filter != EventFilter() else { return try await read(reader) }
        // Read first: an event that is committed meanwhile is not taken for one that was read.
        let newest = try await reader.lastEvents(1, EventFilter()).last.map { Position(seq: $0.seq, id: $0.id) }
        if let newest, newest == scanned { return [] }
        let events =
            if let scanned, try await isStored(scanned, reader) {
                try await reader.events(after: scanned.seq, filter, limit: limit)
            } else {
                try await read(reader)
            }
        scanned = events.count < limit ? newest : nil
        return events
    }

    /// Whether an event is still the one that the journal has at its seq, or was pruned.
    private func isStored(_ event: Position, _ reader: any JournalReader) async throws(JournalError) -> Bool {
        let stored = try await reader.events(after: event.seq - 1, EventFilter(), limit: 1).first
        if let stored, stored.seq == event.seq { return stored.id == event.id }
        return try await reader.lastSeq() >= event.seq
    }

    /// Reads the last event again with those that follow it: a database that was restored, or whose standby took over
    /// before it had every commit, stays in its place and gives the same seq to other events.
    private mutating func read(_ reader: any JournalReader) async throws(JournalError) -> [Event] {
        guard let id = position.id else { return try await reader.events(after: position.seq, filter, limit: limit) }
        let events = try await reader.events(after: position.seq - 1, filter, limit: limit + 1)
        if let first = events.first, first.seq == position.seq {
            if first.id == id { return Array(events.dropFirst()) }
        } else if try await reader.lastSeq() >= position.seq {
            // It was pruned, or the filter no longer accepts it.
            return Array(events.prefix(limit))
        }
        restart()
        return try await reader.events(after: 0, filter, limit: limit)
    }

    private mutating func restart() {
        position = Position(seq: 0)
        scanned = nil
        restarts += 1
    }
}
