// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The newest events as their streams send them. They are read and written as JSON once for all streams that have come
/// this far; else 200 readers of 1,000 events a second would keep every processor busy, and polls would start late.
actor SharedEvents {
    /// A part of the newest events.
    struct Part {
        /// As they are sent; empty where nothing is new.
        var bytes: [UInt8] = []
        /// The seq of the last one; that which was asked for where nothing is new.
        var last: Int64
        /// Whether no more are known.
        var isLast = true
    }

    private struct Entry {
        var seq: Int64
        var bytes: [UInt8]
    }

    /// Bytes of one part, at most, unless it is one event.
    private static let partLimit = 64 << 10
    /// Batches of the cursor that are read at once; streams that are further behind read on their own.
    private static let maximumBatches = 8

    private let journal: any JournalAccess
    /// Bytes that are kept, at most.
    private let limit: Int
    private var cursor: JournalCursor?
    private var entries: [Entry] = []
    private var size = 0
    /// Every event with a greater seq is in `entries`, up to the last that was read.
    private var start: Int64 = 0
    /// The version of the journal up to which was read.
    private var version = -1
    private var reading: Task<Void, Never>?

    init(_ journal: any JournalAccess, limit: Int = 1 << 20) { (self.journal, self.limit) = (journal, limit) }

    /// Returns the events after `seq`.
    /// - Parameter version: the newest that the caller knows of; the journal is read when nobody did since then.
    /// - Returns: nil for a caller that must read the journal itself: it is behind what is kept, or the journal cannot be
    ///   read.
    func events(after seq: Int64, version: Int) async -> Part? {
        while self.version < version {
            if let reading {
                await reading.value
                continue
            }
            let task = Task { await read(from: seq, version) }
            reading = task
            await task.value
        }
        guard cursor != nil, seq >= start, seq <= entries.last?.seq ?? start else { return nil }
        var part = Part(last: seq)
        for entry in entries.drop(while: { $0.seq <= seq }) {
            guard part.bytes.isEmpty || part.bytes.count + entry.bytes.count <= SharedEvents.partLimit else {
                part.isLast = false
                break
            }
            part.bytes += entry.bytes
            part.last = entry.seq
        }
        return part
    }

    /// - Parameter seq: where to begin when nothing is kept.
    private func read(from seq: Int64, _ version: Int) async {
        // A commit during the reading makes a new version.
        defer { (self.version, reading) = (version, nil) }
        if cursor == nil { start = seq }
        var next = cursor ?? JournalCursor(journal, after: seq)
        for _ in 0..<SharedEvents.maximumBatches {
            // A seq that was given before is of another journal.
            guard let events = try? await next.next(), events.first.map({ $0.seq > entries.last?.seq ?? start }) ?? true
            else { break }
            for event in events { keep(Entry(seq: event.seq, bytes: EventStream.bytes(of: event))) }
            guard !events.isEmpty else {
                cursor = next
                return
            }
        }
        (cursor, entries, size) = (nil, [], 0)
    }

    private func keep(_ entry: Entry) {
        entries.append(entry)
        size += entry.bytes.count
        guard size > limit, entries.count > 1 else { return }
        // Half of it at once, since the rest moves.
        var count = 0
        while size > limit / 2, count < entries.count - 1 {
            size -= entries[count].bytes.count
            count += 1
        }
        start = entries[count - 1].seq
        entries.removeFirst(count)
    }
}
