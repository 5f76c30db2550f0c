// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The events of a journal as they are committed, in batches, without gap or repeat: over restarts of the watcher, and
/// from its first event on where the file is replaced by a new one. It waits where there is no journal yet. The sequence
/// ends when its task is cancelled.
public struct JournalFollower: AsyncSequence, Sendable {
    public typealias Element = [Event]
    public typealias Failure = JournalError

    private let directory: String
    private let last: Int64
    private let filter: EventFilter
    private let limit: Int

    /// - Parameters:
    ///   - last: the seq behind which it begins.
    ///   - limit: events per batch at most.
    public init(directory: String, after last: Int64, _ filter: EventFilter = .init(), limit: Int = 256) {
        (self.directory, self.last, self.filter, self.limit) = (directory, last, filter, limit)
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(directory: directory, last: last, filter: filter, limit: limit)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let directory: String
        private let filter: EventFilter
        private let limit: Int
        private var last: Int64
        private var reader: JournalReader?
        private var watch: JournalWatch?
        private var wakes: AsyncStream<Void>.AsyncIterator?

        fileprivate init(directory: String, last: Int64, filter: EventFilter, limit: Int) {
            (self.directory, self.last, self.filter, self.limit) = (directory, last, filter, limit)
        }

        public mutating func next() async throws(JournalError) -> [Event]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(JournalError) -> [Event]? {
            if watch == nil {
                // Before the first read, so that nothing falls between the two.
                let watch = try JournalWatch(directory: directory)
                (self.watch, wakes) = (watch, watch.wakes.makeAsyncIterator())
            }
            while !Task.isCancelled {
                let batch = try await read()
                if let newest = batch.last {
                    last = newest.seq
                    return batch
                }
                guard await wakes?.next(isolation: actor) != nil else { break }
            }
            return nil
        }

        /// What is there now behind `last`; empty where there is nothing to read yet.
        private mutating func read() async throws(JournalError) -> [Event] {
            do throws(JournalError) {
                // Asked before the read: what the old file got before it was replaced is still read from it.
                if let reader, reader.isCurrent { return try await reader.events(after: last, filter, limit: limit) }
                if let reader {
                    let rest = try await reader.events(after: last, filter, limit: limit)
                    if !rest.isEmpty { return rest }
                    (self.reader, last) = (nil, 0)
                }
                let reader = try JournalReader.open(directory: directory)
                // A journal that never gave the last seq is not the one it came from.
                if try await reader.lastSeq() < last { last = 0 }
                self.reader = reader
                return try await reader.events(after: last, filter, limit: limit)
            } catch {
                switch error.reason {
                case .missing, .busy: return []
                default: throw error
                }
            }
        }
    }
}
