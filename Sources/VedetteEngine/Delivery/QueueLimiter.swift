// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when the dispatcher looks for deliveries that have expired, and for queues whose bounds were lowered: while
/// anything is pending. A commit keeps the bounds of the queues that it adds to.
struct QueueLimiter {
    static let interval = Duration.seconds(60)

    private var due: BootTime?
    private(set) var isRunning = false
    /// Dropped deliveries that are not reported yet.
    private var dropped = 0
    private var nextReport: BootTime?
    /// By sink, the highest id that ended without an attempt.
    private var lastEvicted: [String: Int64] = [:]

    /// Something is pending.
    mutating func pending(at now: BootTime) {
        if due == nil, !isRunning { due = now.advanced(by: QueueLimiter.interval) }
    }

    /// The pending deliveries or the bounds changed in another way than by a commit: they are checked at once.
    mutating func changed(at now: BootTime) { due = now }

    /// When the dispatcher must wake for a check or a report.
    var wake: BootTime? { [isRunning ? nil : due, dropped > 0 ? nextReport : nil].compactMap { $0 }.min() }

    /// - Returns: whether a check begins now.
    mutating func begin(at now: BootTime) -> Bool {
        guard !isRunning, let due, due <= now else { return false }
        (isRunning, self.due) = (true, nil)
        return true
    }

    /// - Parameters:
    ///   - isPending: whether anything is pending, as far as is known.
    ///   - hasMore: the step may have left more.
    mutating func ended(isPending: Bool, hasMore: Bool, at now: BootTime) {
        isRunning = false
        if hasMore { due = now } else if isPending { pending(at: now) }
    }

    mutating func dropped(_ count: Int) { dropped += count }

    /// Notes a delivery that ended without an attempt.
    mutating func evicted(_ delivery: DeliveryPlace) {
        let sink = delivery.lane.sink
        lastEvicted[sink] = max(lastEvicted[sink] ?? 0, delivery.id)
    }

    /// Returns whether a delivery may have ended before its commit was announced. One with a lower id than another that
    /// ended may be pending: what is behind a message under way is not passed on.
    func mayBeEvicted(_ delivery: Delivery) -> Bool { delivery.id <= lastEvicted[delivery.message.sink] ?? 0 }

    /// Returns how many dropped deliveries to report now: all since the last report, at most once per interval.
    /// - Parameter isLast: no later report follows.
    mutating func report(at now: BootTime, isLast: Bool = false) -> Int? {
        guard dropped > 0, isLast || nextReport.map({ $0 <= now }) ?? true else { return nil }
        defer { (dropped, nextReport) = (0, now.advanced(by: QueueLimiter.interval)) }
        return dropped
    }
}
