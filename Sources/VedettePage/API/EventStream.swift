// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The events of a journal as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), from a
/// seq on: the id of each is its seq, so that a client that comes back goes on where it was, also after a restart of the
/// watcher. The journal is read when the client has taken what was sent before, so a slow client needs no memory.
actor EventStream: PageStream {
    static let contentType = "text/event-stream; charset=utf-8"
    /// A comment is sent after a silence of this length, so that proxies keep the connection.
    static let keepAlive = Duration.seconds(15)
    /// Events that are sent at once, at most.
    private static let batch = 64
    /// After events were sent, those of this time are sent together, so that not every commit makes every client's stream
    /// read the journal.
    private static let pause = Duration.milliseconds(100)

    private let clock: any Clock
    private var cursor: JournalCursor
    /// Yields when the journal may have changed, and when a comment may be due.
    private let wakes: AsyncStream<Void>
    private let feeders: [Task<Void, Never>]
    private var quietSince: BootTime
    /// When the journal is read again, after all that it had was sent; nil for at once.
    private var nextRead: BootTime?
    private var hasStarted = false

    /// - Parameter last: the seq after which it begins.
    init(
        _ journal: any JournalAccess, after last: Int64, _ filter: EventFilter, clock: any Clock
    ) throws(JournalError) {
        self.clock = clock
        cursor = JournalCursor(journal, after: last, filter, limit: EventStream.batch)
        quietSince = clock.now().boot
        // Before the first read, so that no commit falls between the two.
        let changes = try journal.changes()
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        feeders = [
            Task { for await _ in changes { continuation.yield() } },
            Task {
                while (try? await clock.sleep(until: clock.now().boot.advanced(by: EventStream.keepAlive))) != nil {
                    continuation.yield()
                }
            },
        ]
    }

    deinit { for feeder in feeders { feeder.cancel() } }

    func next() async -> [UInt8]? {
        guard hasStarted else {
            hasStarted = true
            // The client shows at once that it is connected, and comes back within three seconds.
            return Array("retry: 3000\n: connected\n\n".utf8)
        }
        while !Task.isCancelled {
            if let nextRead { try? await clock.sleep(until: nextRead) }
            nextRead = nil
            var cursor = cursor
            guard let events = try? await cursor.next() else { return nil }
            self.cursor = cursor
            let now = clock.now().boot
            if !events.isEmpty {
                quietSince = now
                nextRead = events.count < EventStream.batch ? now.advanced(by: EventStream.pause) : nil
                return events.flatMap(EventStream.bytes)
            }
            if quietSince.advanced(by: EventStream.keepAlive) <= now {
                quietSince = now
                return Array(": still connected\n\n".utf8)
            }
            guard await hasWoken() else { return nil }
        }
        return nil
    }

    private func hasWoken() async -> Bool {
        for await _ in wakes { return true }
        return false
    }

    private static func bytes(of event: Event) -> [UInt8] {
        Array("id: \(event.seq)\ndata: ".utf8) + event.json.bytes + Array("\n\n".utf8)
    }
}
