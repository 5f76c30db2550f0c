// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The events of a journal as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), from a
/// seq on: the id of each is its seq, so that a client that comes back goes on where it was, also after a restart of the
/// watcher. The next part is made when the client has taken the one before, so a slow client needs no memory.
actor EventStream: PageStream {
    static let contentType = "text/event-stream; charset=utf-8"
    /// The longest time for which events are gathered.
    private static let longestPause: Int64 = 250

    private let filter: EventFilter
    private let hub: ChangeHub
    private let shared: EventWindow
    private let clock: any Clock
    private var membership: EventWindow.Membership?
    private var place: EventWindow.Place
    /// Nil while the events come from the window.
    private var cursor: JournalCursor?
    private var signals: AsyncStream<ChangeHub.Signal>.Iterator?
    private var signal = ChangeHub.Signal()
    /// When events are read again, after all that were known were sent; nil for at once.
    private var nextRead: BootTime?

    /// - Parameters:
    ///   - last: the seq after which it begins.
    ///   - hub: signals that the journal may have changed, and when a comment is due.
    ///   - shared: the events of streams without a filter, and the reader of the others.
    init(after last: Int64, _ filter: EventFilter, _ hub: ChangeHub, shared: EventWindow, clock: any Clock) {
        (self.filter, self.hub, self.shared, self.clock) = (filter, hub, shared, clock)
        place = EventWindow.Place(position: JournalCursor.Position(seq: last))
    }

    func next() async -> [UInt8]? {
        if signals == nil {
            membership = await shared.join()
            // Before the first read, so that no commit falls between the two.
            var signals = await hub.signals().makeAsyncIterator()
            signal = await signals.next(isolation: self) ?? signal
            self.signals = signals
            // The client shows at once that it is connected, and comes back within three seconds.
            return Array("retry: 3000\n: connected\n\n".utf8)
        }
        var mustShowLife = false
        while !Task.isCancelled {
            if let nextRead { try? await clock.sleep(until: nextRead) }
            nextRead = nil
            guard let part = await read() else { return nil }
            place = part.end
            if part.isLast { nextRead = await pauseEnd() }
            if !part.bytes.isEmpty { return part.bytes }
            // Proxies close a connection that is silent for long, and a client that is gone is noticed.
            if mustShowLife { return Array(":\n\n".utf8) }
            // It cannot be used in place across the suspension of an actor.
            guard var signals else { return nil }
            guard let newest = await signals.next(isolation: self) else { return nil }
            self.signals = signals
            mustShowLife = newest.signsOfLife > signal.signsOfLife
            signal = newest
        }
        return nil
    }

    /// Returns the events after the last one; nil when the journal cannot be read.
    private func read() async -> EventWindow.Part? {
        if filter == EventFilter(), let part = await shared.events(after: place, signal: signal.count) {
            cursor = nil
            return part
        }
        var cursor =
            cursor
            ?? JournalCursor(after: place.position, filter, limit: EventWindow.batch) {
                [shared] () async throws(JournalError) in try await shared.openReader()
            }
        guard let events = try? await cursor.next() else { return nil }
        self.cursor = cursor
        return EventWindow.Part(
            bytes: events.flatMap(EventStream.bytes), end: EventWindow.Place(position: cursor.position),
            isLast: events.count < EventWindow.batch)
    }

    /// Returns the time before which nothing is read; nil for none. A few streams send each commit at once. The more there
    /// are, the longer each gathers, so that all of them together send about 4,000 times a second and query the journal
    /// 1,000 times.
    private func pauseEnd() async -> BootTime? {
        let readers = Int64(await shared.readers)
        let pause = min(cursor == nil ? readers / 4 : readers - 1, EventStream.longestPause)
        return pause > 0 ? clock.now().boot.advanced(by: .milliseconds(pause)) : nil
    }

    static func bytes(of event: Event) -> [UInt8] {
        Array("id: \(event.seq)\ndata: ".utf8) + event.json.bytes + Array("\n\n".utf8)
    }
}
