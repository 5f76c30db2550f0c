// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Server-sent events for the script of the page: `changed` at most once a second, and comments in between, so that a
/// browser that is gone is noticed.
actor ChangeStream: PageStream {
    private static let pause = Duration.seconds(1)

    private let hub: ChangeHub
    private let clock: any Clock
    private var signals: AsyncStream<ChangeHub.Signal>.Iterator?
    private var shown: Int?
    private var next = BootTime(milliseconds: 0)

    init(_ hub: ChangeHub, clock: any Clock) { (self.hub, self.clock) = (hub, clock) }

    func next() async -> [UInt8]? {
        if signals == nil { signals = await hub.signals().makeAsyncIterator() }
        // An iterator cannot be used in place across the suspension of an actor.
        guard var iterator = signals else { return nil }
        guard let version = await iterator.next(isolation: self)?.changes else { return nil }
        signals = iterator
        guard let shown else {
            self.shown = version
            return Array("retry: 2000\n\n".utf8)
        }
        guard version > shown else { return Array(":\n\n".utf8) }
        // Changes within the pause come as one.
        guard (try? await clock.sleep(until: next)) != nil else { return nil }
        next = clock.now().boot.advanced(by: Self.pause)
        self.shown = version
        return Array("event: changed\ndata: \(version)\n\n".utf8)
    }
}
