// SPDX-License-Identifier: Apache-2.0

/// What an outbox knows of one lane: its first deliveries, and whether the journal holds more.
struct OutboxLane: Sendable {
    private(set) var waiting: [Delivery] = []
    /// More is in the journal than `waiting` holds.
    private(set) var hasMore = false
    /// The highest id that stood in `waiting`.
    private(set) var lastSeen: Int64 = 0
    /// A commit may be read from the journal before it is announced. A lane that was ever loaded is kept, so that its
    /// `lastSeen` tells such a delivery from a new one.
    private(set) var wasLoaded = false
    /// The first delivery was attempted here and stays owed.
    private(set) var firstHasFailed = false
    var isBusy = false
    var isLoading = false
    /// Stands in the outbox's list of lanes to judge.
    var isReady = false
    /// Stands in its sink's queue.
    var isQueued = false
    /// When its first delivery is due, while it waits for that.
    var waitsUntil: Timestamp?
    /// Something was committed while the journal was read: the reading may have missed it.
    private var hasGrown = false
    private var mustReread = false

    var isEmpty: Bool { waiting.isEmpty && !hasMore && !isBusy && !isLoading }

    mutating func mustLoad() {
        hasMore = true
        hasGrown = isLoading
    }

    mutating func committed(_ delivery: Delivery) {
        if hasMore || isLoading || waiting.count >= Outbox.ahead {
            mustLoad()
        } else if delivery.id > lastSeen {
            waiting.append(delivery)
            lastSeen = delivery.id
        }
    }

    mutating func loaded(_ deliveries: [Delivery], ended: Set<Int64>) {
        (isLoading, wasLoaded) = (false, true)
        if mustReread { return reread() }
        hasMore = !deliveries.isEmpty || hasGrown
        hasGrown = false
        for delivery in deliveries where delivery.id > lastSeen {
            lastSeen = delivery.id
            if !ended.contains(delivery.id) { waiting.append(delivery) }
        }
    }

    mutating func loadFailed() {
        isLoading = false
        if mustReread { reread() }
    }

    mutating func attempted(_ attempt: Attempt) {
        isBusy = false
        if let first = waiting.first, first.id == attempt.delivery {
            firstHasFailed = attempt.state.isOwed
            if attempt.state.isOwed {
                waiting[0].attempts = attempt.attempts
                waiting[0].due = attempt.due
                waiting[0].reason = attempt.reason
            } else {
                waiting.removeFirst()
            }
        }
        if mustReread { reread() }
    }

    /// Forgets what it holds and reads the journal from its start: now, or when the attempt or reading under way ends.
    mutating func reread() {
        mustReread = isBusy || isLoading
        if mustReread { return }
        (waiting, lastSeen, hasMore, hasGrown, firstHasFailed) = ([], 0, true, false, false)
        waitsUntil = nil
    }

    mutating func hurried() {
        waitsUntil = nil
        if !waiting.isEmpty { waiting[0].due = Timestamp(milliseconds: .min) }
    }
}
