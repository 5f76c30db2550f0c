// SPDX-License-Identifier: Apache-2.0

/// The events of a journal as they are committed, in batches, without gap or repeat: over restarts of the watcher, and
/// from the first event on where another journal takes its place. It waits where there is no journal yet. The sequence
/// ends when its task is cancelled.
public struct JournalFollower: AsyncSequence, Sendable {
    public typealias Element = [Event]
    public typealias Failure = JournalError

    private let journal: any JournalAccess
    private let last: Int64
    private let filter: EventFilter
    private let limit: Int

    /// - Parameters:
    ///   - last: the seq after which it begins.
    ///   - limit: events per batch at most.
    public init(_ journal: any JournalAccess, after last: Int64, _ filter: EventFilter = .init(), limit: Int = 256) {
        (self.journal, self.last, self.filter, self.limit) = (journal, last, filter, limit)
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(journal: journal, last: last, filter: filter, limit: limit)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let journal: any JournalAccess
        private let filter: EventFilter
        private let limit: Int
        private var last: Int64
        private var reader: (any JournalReader)?
        private var changes: AsyncStream<Void>.AsyncIterator?

        fileprivate init(journal: any JournalAccess, last: Int64, filter: EventFilter, limit: Int) {
            (self.journal, self.last, self.filter, self.limit) = (journal, last, filter, limit)
        }

        public mutating func next() async throws(JournalError) -> [Event]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError) -> [Event]? {
            // Before the first read, so that no commit falls between the two.
            if changes == nil { changes = try journal.changes().makeAsyncIterator() }
            while !Task.isCancelled {
                let batch = try await read()
                if let newest = batch.last {
                    last = newest.seq
                    return batch
                }
                guard await changes?.next(isolation: actor) != nil else { break }
            }
            return nil
        }

        /// Reads the events after `last`; empty where there is nothing to read yet.
        private mutating func read() async throws(JournalError) -> [Event] {
            do throws(JournalError) {
                // Checked before the read: events that the old journal got before it was replaced are still read from it.
                if let reader, reader.isCurrent { return try await reader.events(after: last, filter, limit: limit) }
                if let reader {
                    let rest = try await reader.events(after: last, filter, limit: limit)
                    if !rest.isEmpty { return rest }
                    (self.reader, last) = (nil, 0)
                }
                let reader = try await journal.reader()
                // A journal that never gave the last seq is another one.
                if try await reader.lastSeq() < last { last = 0 }
                self.reader = reader
                return try await reader.events(after: last, filter, limit: limit)
            } catch {
                switch error.reason {
                case .missing, .older, .busy: return []
                default: throw error
                }
            }
        }
    }
}
