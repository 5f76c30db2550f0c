// SPDX-License-Identifier: Apache-2.0

/// A place in the events of a journal. It moves on as they are read; where another journal takes the place of this one,
/// to the first event of that.
public struct JournalCursor: Sendable {
    private let journal: any JournalAccess
    private let filter: EventFilter
    private let limit: Int
    private var last: Int64
    private var reader: (any JournalReader)?

    /// - Parameters:
    ///   - last: the seq after which it begins.
    ///   - limit: events that are read at once, at most.
    public init(_ journal: any JournalAccess, after last: Int64, _ filter: EventFilter = .init(), limit: Int = 256) {
        (self.journal, self.last, self.filter, self.limit) = (journal, last, filter, limit)
    }

    /// Reads the next events and moves behind them; empty where there is nothing to read yet.
    public mutating func next() async throws(JournalError) -> [Event] {
        let events = try await read()
        last = events.last?.seq ?? last
        return events
    }

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
