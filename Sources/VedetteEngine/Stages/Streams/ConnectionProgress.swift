// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What one connection of a stream has shown so far, and what that proves about its source (I12).
///
/// A server that cannot serve the stream often sends a status line and some good records first. So a connection proves
/// something when a record of it is stored, or after ten seconds; and that records can be read again, only by both, or by a
/// stored record and an orderly end. After an unreadable record that takes twice the time after which that record came:
/// a server may send good records first and take its time.
struct ConnectionProgress {
    /// A connection that has been open for this long works. A response that ends sooner was no stream.
    static let shortest = Duration.seconds(10)
    /// A connection that has been open for this long proves that records can be read, however late an unreadable one came.
    static let longest = Duration.seconds(600)

    private let openedAt: BootTime
    private let proof: Duration
    /// Whether records were stored, and none behind them in their batch was unreadable.
    var hasStored = false

    /// - Parameter unreadableAge: how long the last connection lasted that an unreadable record ended; nil for none.
    init(openedAt: BootTime, unreadableAge: Duration?) {
        self.openedAt = openedAt
        proof = max(ConnectionProgress.shortest, min(unreadableAge.map { $0 * 2 } ?? .zero, ConnectionProgress.longest))
    }

    func age(at now: BootTime) -> Duration { now.duration(since: openedAt) }

    func isLong(at now: BootTime) -> Bool { age(at: now) >= ConnectionProgress.shortest }

    /// - Parameter isComplete: the server has ended the response in an orderly way.
    func evidence(at now: BootTime, isComplete: Bool = false) -> PollEvidence {
        if hasStored, isComplete || age(at: now) >= proof { return .content }
        return hasStored || isLong(at: now) ? .connection : .nothing
    }

    /// When the passing of time alone proves something; nil when it already has.
    func deadline(after now: BootTime) -> BootTime? {
        [ConnectionProgress.shortest, proof].map(openedAt.advanced).first { $0 > now }
    }
}
