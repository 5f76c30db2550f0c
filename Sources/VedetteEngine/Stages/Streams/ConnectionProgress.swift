// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What one connection of a stream has shown so far, and what that proves about its source (I12).
///
/// A server that cannot serve the stream often sends a status line and some good records first. So a connection proves
/// something when a record of it is stored, or after ten seconds; and that records can be read again, only by both, or by a
/// stored record and an orderly end.
struct ConnectionProgress {
    /// A connection that has been open for this long works. A response that ends sooner was no stream.
    static let shortest = Duration.seconds(10)

    private let openedAt: BootTime
    /// Whether records were stored, and none behind them in their batch was unreadable.
    var hasStored = false

    init(openedAt: BootTime) { self.openedAt = openedAt }

    func isLong(at now: BootTime) -> Bool { now >= openedAt.advanced(by: ConnectionProgress.shortest) }

    /// - Parameter isComplete: the server has ended the response in an orderly way.
    func evidence(at now: BootTime, isComplete: Bool = false) -> PollEvidence {
        let isLong = isLong(at: now)
        if hasStored, isLong || isComplete { return .content }
        return hasStored || isLong ? .connection : .nothing
    }

    /// When the passing of time alone proves something; nil when it already has.
    func deadline(after now: BootTime) -> BootTime? {
        isLong(at: now) ? nil : openedAt.advanced(by: ConnectionProgress.shortest)
    }
}
