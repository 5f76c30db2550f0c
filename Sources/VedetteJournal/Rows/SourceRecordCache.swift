// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The records of sources as they were read before. The page reads all of them each second while it is looked at, and most
/// are as they were: of 10,000, decoding takes ten times as long as comparing. A minute after the last reading they are
/// forgotten.
final class SourceRecordCache: Sendable {
    private struct Entry {
        /// Of the row. Two rows of one source with the same digest are one in 2^64.
        var digest: UInt64
        var record: SourceRecord
    }

    private struct State {
        /// False before the first reading: a command, which reads once, keeps nothing.
        var isKept = false
        var entries: [String: Entry] = [:]
        var readings = 0
        /// Whether a task waits to forget them.
        var isWatched = false
    }

    private let state = Mutex(State())
    private let pause: @Sendable () async -> Void

    /// - Parameter pause: returns after the time for which records are kept without a reading.
    init(pause: @escaping @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(60)) }) {
        self.pause = pause
    }

    /// Returns the record of each row, in their order.
    /// - Parameters:
    ///   - next: the name and the content of the next row; nil at the end.
    ///   - decode: makes the record of a row that is new or changed.
    func records(
        next: () throws -> (name: String, row: [UInt8])?, decode: (String, [UInt8]) throws -> SourceRecord
    ) throws -> [SourceRecord] {
        try state.withLock { state in
            var records: [SourceRecord] = []
            records.reserveCapacity(state.entries.count)
            while let (name, row) = try next() {
                guard state.isKept else {
                    records.append(try decode(name, row))
                    continue
                }
                let digest = StableHash.of(row)
                if let known = state.entries[name], known.digest == digest {
                    records.append(known.record)
                } else {
                    let record = try decode(name, row)
                    state.entries[name] = Entry(digest: digest, record: record)
                    records.append(record)
                }
            }
            state.isKept = true
            state.readings += 1
            if state.entries.count > records.count {
                let names = Set(records.map(\.name))
                state.entries = state.entries.filter { names.contains($0.key) }
            }
            if !state.entries.isEmpty, !state.isWatched {
                state.isWatched = true
                forgetWhenUnread()
            }
            return records
        }
    }

    private func forgetWhenUnread() {
        Task { [weak self, pause] in
            var last: Int?
            repeat {
                last = self?.state.withLock { $0.readings }
                await pause()
            } while self?.forget(unreadSince: last) == false
        }
    }

    /// Forgets the records unless they were read again.
    private func forget(unreadSince last: Int?) -> Bool {
        state.withLock { state in
            guard state.readings == last else { return false }
            (state.isKept, state.entries, state.isWatched) = (false, [:], false)
            return true
        }
    }
}
