// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The newest events as their streams send them. They are read and written as JSON once for all streams that have come
/// this far; else 200 readers of 1,000 events a second would keep every processor busy, and polls would start late.
///
/// The window slides: the oldest events leave it, and a stream that is behind it reads the journal, with the reader that
/// all of them share, until it is in the window again. Memory and reader are given back when the last stream has ended.
actor EventWindow {
    /// Where a stream is.
    struct Place: Sendable, Hashable {
        /// Behind the last event that was sent.
        var position: JournalCursor.Position
        /// The number in the window of the event that follows; nil for a stream that reads the journal itself. The window
        /// goes on over a journal that is replaced, so that streams inside of it get the rest of the old one.
        var number: Int?
    }

    /// A part of the events after a place.
    struct Part {
        /// As they are sent; empty where nothing is new.
        var bytes: [UInt8] = []
        /// Where the stream is when it has sent them.
        var end: Place
        /// Whether no more are known.
        var isLast = true
    }

    /// A stream, as long as it is kept.
    final class Membership: Sendable {
        private let events: EventWindow

        fileprivate init(_ events: EventWindow) { self.events = events }

        deinit { Task { [events] in await events.leave() } }
    }

    private struct Entry {
        /// Counted besides the text: its id and what the allocator adds.
        static let overhead = 128

        var position: JournalCursor.Position
        var bytes: [UInt8]

        var size: Int { bytes.count + Entry.overhead }
    }

    /// Events that are read at once, at most.
    static let batch = 256
    /// Bytes of one part, at most, unless it is one event.
    static let partLimit = 64 << 10
    /// Parts that several streams can take without a copy, at most.
    private static let maximumParts = 16
    /// Batches that are read so that the window reaches a stream that is in front of it; beyond that it begins again.
    private static let maximumBatches = 8

    private let journal: any JournalAccess
    /// Bytes of the events in the window, at most.
    private let limit: Int
    /// The streams that there are.
    private(set) var readers = 0
    private var reader: (any JournalReader)?
    private var cursor: JournalCursor?
    /// Those before `head` left the window.
    private var entries: [Entry] = []
    private var head = 0
    /// The number of the first of `entries`, and of the first one from the journal that is in its place now.
    private var base = 0
    private var firstOfJournal = 0
    /// Before the first entry of the window that is of the journal that is in its place now.
    private var start = JournalCursor.Position(seq: 0)
    /// Bytes of the events in the window.
    private(set) var size = 0
    /// The parts that were made since the last event was read, by the number of their first event.
    private var parts: [Int: Part] = [:]
    /// The signal of the hub up to which was read.
    private var signal = -1
    private var reading: Task<Void, Never>?

    init(_ journal: any JournalAccess, limit: Int = 4 << 20) { (self.journal, self.limit) = (journal, limit) }

    // MARK: Streams

    /// Adds a stream, until what is returned ends.
    func join() -> Membership {
        readers += 1
        return Membership(self)
    }

    private func leave() {
        readers -= 1
        if readers == 0 { giveBack() }
    }

    /// Returns a reader of the journal that is in its place now, the same for all streams.
    func openReader() async throws(JournalError) -> any JournalReader {
        if let reader, reader.isCurrent { return reader }
        let fresh = try await journal.reader()
        reader = readers > 0 ? fresh : nil
        return fresh
    }

    /// Returns the events after a place.
    /// - Parameter signal: the newest of the hub that the caller knows of; the journal is read when nobody did since then.
    /// - Returns: nil for a caller that must read the journal itself: it is behind the window, or the journal cannot be
    ///   read.
    func events(after place: Place, signal: Int) async -> Part? {
        var batches = 0
        while true {
            let next = number(after: place)
            if let next, next < end { return part(from: next, place.position) }
            guard self.signal < signal, next != nil || isReadFurther(for: place.position) else {
                return next.map { Part(end: Place(position: place.position, number: $0)) }
            }
            if let reading {
                await reading.value
                continue
            }
            if next == nil, cursor == nil || batches == EventWindow.maximumBatches { begin(at: place.position) }
            batches += 1
            // It is of another journal.
            guard batches <= 2 * EventWindow.maximumBatches else { return nil }
            let task = Task { await read(signal) }
            reading = task
            await task.value
        }
    }

    // MARK: The window

    /// The number of the event that is read next.
    private var end: Int { base + entries.count }

    /// Returns the number of the event after a place; nil where that is not known.
    private func number(after place: Place) -> Int? {
        if let number = place.number, number >= base + head { return number }
        guard cursor != nil, place.position.seq >= start.seq else { return nil }
        var (low, high) = (max(head, firstOfJournal - base), entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].position.seq <= place.position.seq { low = middle + 1 } else { high = middle }
        }
        let before = low > max(head, firstOfJournal - base) ? entries[low - 1].position : start
        // The same seq may be of another journal, and what is behind the last one may be missing here.
        if let id = place.position.id { return before.id == id ? base + low : nil }
        return low < entries.count || before.seq == place.position.seq ? base + low : nil
    }

    /// Whether a position that is not in the window may be when more was read: it is not behind it.
    private func isReadFurther(for position: JournalCursor.Position) -> Bool {
        cursor == nil || position.seq >= start.seq
    }

    private func part(from number: Int, _ position: JournalCursor.Position) -> Part {
        if let part = parts[number] { return part }
        var part = Part(end: Place(position: position, number: number))
        var index = number - base
        while index < entries.count {
            let entry = entries[index]
            guard part.bytes.isEmpty || part.bytes.count + entry.bytes.count <= EventWindow.partLimit else { break }
            // The first one shares its memory with the entry.
            if part.bytes.isEmpty { part.bytes = entry.bytes } else { part.bytes += entry.bytes }
            part.end.position = entry.position
            index += 1
        }
        part.end.number = base + index
        part.isLast = index == entries.count
        if parts.count == EventWindow.maximumParts { parts = [:] }
        parts[number] = part
        return part
    }

    private func begin(at position: JournalCursor.Position) {
        forget()
        start = position
        cursor = JournalCursor(after: position, limit: EventWindow.batch) {
            [weak self] () async throws(JournalError) in
            guard let self else { throw JournalError(.missing, "the page was closed") }
            return try await openReader()
        }
    }

    /// Reads the next batch; all streams that are at the end of the window wait for it.
    private func read(_ signal: Int) async {
        defer { reading = nil }
        guard var next = cursor else { return }
        guard let events = try? await next.next() else {
            forget()
            self.signal = max(self.signal, signal)
            return
        }
        // Meanwhile the last stream may have ended.
        guard let cursor else { return }
        if next.restarts > cursor.restarts {
            firstOfJournal = end
            start = JournalCursor.Position(seq: 0)
        }
        self.cursor = next
        for event in events {
            let position = JournalCursor.Position(seq: event.seq, id: event.id)
            entries.append(Entry(position: position, bytes: EventStream.bytes(of: event)))
            size += entries[entries.count - 1].size
        }
        if !events.isEmpty { parts = [:] }
        slide()
        // A commit during the reading makes a new signal; what follows the rest of a journal that was replaced does not.
        let isCaughtUp = events.count < EventWindow.batch && reader?.isCurrent != false
        if isCaughtUp || events.isEmpty { self.signal = max(self.signal, signal) }
    }

    /// Drops the oldest events beyond the limit, but not the newest one.
    private func slide() {
        while size > limit, head < entries.count - 1 {
            size -= entries[head].size
            if base + head >= firstOfJournal { start = entries[head].position }
            entries[head].bytes = []
            head += 1
        }
        // Seldom, since the rest moves.
        guard head > entries.count / 2 else { return }
        entries.removeFirst(head)
        (base, head) = (base + head, 0)
    }

    /// Empties the window. Numbers that were given are not given again.
    private func forget() {
        base = end + 1
        (cursor, entries, parts) = (nil, [], [:])
        (head, size, firstOfJournal) = (0, 0, base)
    }

    private func giveBack() {
        forget()
        (reader, signal) = (nil, -1)
    }
}
