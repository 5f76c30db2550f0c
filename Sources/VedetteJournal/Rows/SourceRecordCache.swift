// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The records of sources as they were read before. The page reads all of them each second while it is looked at, and most
/// are as they were: of 10,000, decoding takes ten times as long as comparing. A minute after the last reading they are
/// forgotten.
final class SourceRecordCache: Sendable {
    private struct State {
        /// False before the first reading: a command, which reads once, keeps nothing.
        var isKept = false
        /// In the order of the rows.
        var records: [SourceRecord] = []
        /// Of each row. Two rows of one source with the same digest are one in 2^64.
        var digests: [UInt64] = []
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
            let old = (records: state.records, digests: state.digests)
            // They share their memory with the old ones until a row differs.
            var (records, digests, count) = (old.records, old.digests, 0)
            var places: [String: Int]?
            while let (name, row) = try next() {
                let digest = StableHash.of(row)
                if count < records.count, records[count].name == name {
                    if digests[count] != digest { (records[count], digests[count]) = (try decode(name, row), digest) }
                } else {
                    // A source came or went: the rest moves.
                    if count < records.count {
                        records.removeSubrange(count...)
                        digests.removeSubrange(count...)
                    }
                    let known = places ?? SourceRecordCache.places(old.records)
                    places = known
                    if let place = known[name], old.digests[place] == digest {
                        records.append(old.records[place])
                    } else {
                        records.append(try decode(name, row))
                    }
                    digests.append(digest)
                }
                count += 1
            }
            if count < records.count {
                records.removeSubrange(count...)
                digests.removeSubrange(count...)
            }
            if state.isKept { (state.records, state.digests) = (records, digests) }
            state.isKept = true
            state.readings += 1
            if !state.records.isEmpty, !state.isWatched {
                state.isWatched = true
                forgetWhenUnread()
            }
            return records
        }
    }

    private static func places(_ records: [SourceRecord]) -> [String: Int] {
        Dictionary(records.indices.map { (records[$0].name, $0) }) { _, last in last }
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
            (state.isKept, state.isWatched) = (false, false)
            (state.records, state.digests) = ([], [])
            return true
        }
    }
}
