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
        private var cursor: JournalCursor
        private var changes: AsyncStream<Void>.AsyncIterator?

        fileprivate init(journal: any JournalAccess, last: Int64, filter: EventFilter, limit: Int) {
            self.journal = journal
            cursor = JournalCursor(journal, after: last, filter, limit: limit)
        }

        public mutating func next() async throws(JournalError) -> [Event]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError) -> [Event]? {
            // Before the first read, so that no commit falls between the two.
            if changes == nil { changes = try journal.changes().makeAsyncIterator() }
            while !Task.isCancelled {
                let batch = try await cursor.next()
                if !batch.isEmpty { return batch }
                guard await changes?.next(isolation: actor) != nil else { break }
            }
            return nil
        }
    }
}
