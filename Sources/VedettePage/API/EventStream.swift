// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The events of a journal as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), from a
/// seq on: the id of each is its seq, so that a client that comes back goes on where it was, also after a restart of the
/// watcher. The journal is read when the client has taken what was sent before, so a slow client needs no memory.
actor EventStream: PageStream {
    static let contentType = "text/event-stream; charset=utf-8"
    /// Events that are sent at once, at most.
    private static let batch = 256
    /// After events were sent, those of this time are sent together, so that not every commit makes every client's stream
    /// read the journal.
    private static let pause = Duration.milliseconds(250)

    private let journal: any JournalAccess
    private let filter: EventFilter
    private let hub: ChangeHub
    /// Nil for a stream of some events only.
    private let shared: SharedEvents?
    private let clock: any Clock
    /// The seq of the last event that was sent.
    private var last: Int64
    /// Nil while the events are those of `shared`.
    private var cursor: JournalCursor?
    /// Whether all events that the journal had were sent.
    private var isCaughtUp = false
    private var versions: AsyncStream<Int>.Iterator?
    /// The version that was read last.
    private var version = 0
    /// When the journal is read again, after all that it had was sent; nil for at once.
    private var nextRead: BootTime?

    /// - Parameters:
    ///   - hub: tells when the journal may have changed, and when a comment is due.
    ///   - shared: what a stream of all events reads once it has caught up.
    ///   - last: the seq after which it begins.
    init(
        _ journal: any JournalAccess, after last: Int64, _ filter: EventFilter, _ hub: ChangeHub,
        shared: SharedEvents, clock: any Clock
    ) {
        (self.journal, self.last, self.filter) = (journal, last, filter)
        (self.hub, self.clock) = (hub, clock)
        self.shared = filter == EventFilter() ? shared : nil
    }

    func next() async -> [UInt8]? {
        if versions == nil {
            // Before the first read, so that no commit falls between the two.
            var versions = await hub.versions().makeAsyncIterator()
            version = await versions.next(isolation: self) ?? 0
            self.versions = versions
            // The client shows at once that it is connected, and comes back within three seconds.
            return Array("retry: 3000\n: connected\n\n".utf8)
        }
        var mustShowLife = false
        while !Task.isCancelled {
            if let nextRead { try? await clock.sleep(until: nextRead) }
            nextRead = nil
            // It cannot be used in place across the suspension of an actor.
            guard var versions else { return nil }
            guard let part = await read(mustShowLife: mustShowLife) else { return nil }
            last = part.last
            if !part.bytes.isEmpty {
                if part.isLast { nextRead = clock.now().boot.advanced(by: EventStream.pause) }
                return part.bytes
            }
            // Proxies close a connection that is silent for long, and a client that is gone is noticed.
            if mustShowLife { return Array(":\n\n".utf8) }
            nextRead = clock.now().boot.advanced(by: EventStream.pause)
            guard let newest = await versions.next(isolation: self) else { return nil }
            self.versions = versions
            mustShowLife = newest == version
            version = newest
        }
        return nil
    }

    /// Returns the events after the last one; nil when the journal cannot be read.
    /// - Parameter mustShowLife: whether nothing was heard of a commit for long. Then it reads the journal itself, since a
    ///   notification may have been lost.
    private func read(mustShowLife: Bool) async -> SharedEvents.Part? {
        if isCaughtUp, !mustShowLife, let part = await shared?.events(after: last, version: version) {
            cursor = nil
            return part
        }
        var cursor = cursor ?? JournalCursor(journal, after: last, filter, limit: EventStream.batch)
        guard let events = try? await cursor.next() else { return nil }
        self.cursor = cursor
        isCaughtUp = events.count < EventStream.batch
        return SharedEvents.Part(
            bytes: events.flatMap(EventStream.bytes), last: events.last?.seq ?? last, isLast: isCaughtUp)
    }

    static func bytes(of event: Event) -> [UInt8] {
        Array("id: \(event.seq)\ndata: ".utf8) + event.json.bytes + Array("\n\n".utf8)
    }
}
