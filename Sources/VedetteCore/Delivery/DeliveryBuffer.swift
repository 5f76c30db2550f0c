// SPDX-License-Identifier: Apache-2.0

/// The first deliveries of one lane, read ahead from the journal, and which of them is next. `DeliverySchedule` has one for
/// each lane.
struct DeliveryBuffer: Sendable {
    private(set) var waiting: [Delivery] = []
    /// Whether the journal has more than `waiting`.
    private(set) var hasMore = false
    /// The highest id that was ever in `waiting`.
    private(set) var lastSeen: Int64 = 0
    /// The highest id that was ever read from the journal.
    private var lastLoaded: Int64 = 0
    /// Whether the lane was ever loaded. A commit can be read from the journal before it is announced; such a lane is kept,
    /// so that its `lastSeen` tells a known delivery from a new one.
    private(set) var wasLoaded = false
    /// Ids of `waiting` with an attempt in flight; at most one where order matters.
    private var inFlight = Set<Int64>()
    /// Ids of `inFlight` that ended meanwhile.
    private var endedInFlight = Set<Int64>()
    /// Ids of `waiting` that were attempted and are still pending.
    private var failed = Set<Int64>()
    /// Ids of `waiting` that have a Retry-After of the receiver.
    private var postponed = Set<Int64>()
    var isLoading = false
    /// Whether it is in the schedule's list of lanes to look at.
    var isReady = false
    /// Whether it is in its sink's queue.
    var isQueued = false
    /// Whether its next delivery waits for an earlier one of its subject in another lane.
    var isBlocked = false
    /// The one that its next delivery waited for when it was last asked.
    var blocker: DeliveryPlace?
    /// Whether a delivery of `waiting` is about several subjects, or one was before the journal is read again.
    private(set) var isAboutSeveral = false
    /// When its next delivery is due; nil while it does not wait for that.
    var waitsUntil: Timestamp?
    /// Whether a delivery was committed while the journal was read; the read may have missed it.
    private var hasGrown = false
    private var mustReread = false

    var isBusy: Bool { !inFlight.isEmpty }
    var isEmpty: Bool { waiting.isEmpty && !isUnread }
    /// Whether the journal may have deliveries that were not read.
    var isUnread: Bool { hasMore || isLoading }
    /// Whether what is read now would be thrown away: all is read again when the attempts in progress have ended.
    var isOutdated: Bool { mustReread && isBusy }
    /// Whether more deliveries may be read. Those that wait for a retry have a bound of their own, so that many of them do
    /// not stop a lane without order.
    var hasRoom: Bool {
        waiting.count - failed.count < DeliverySchedule.ahead && failed.count < DeliverySchedule.maximumRetries
    }

    /// Returns the next delivery, due or not; nil while the order requires that the one in flight ends first.
    func next(inOrder: Bool) -> Delivery? {
        if inOrder { return isBusy ? nil : waiting.first }
        return waiting.lazy.filter { !inFlight.contains($0.id) }.min { $0.due < $1.due }
    }

    /// Returns the id of the last delivery that has to end before one of another lane, since it is an earlier one of its
    /// subject.
    /// - Parameter isKnown: whether the journal told what the other one is behind. Otherwise a lane that is read again may hold
    ///   anything until its first page is there.
    func lastPredecessor(of other: Delivery, isKnown: Bool) -> Int64? {
        if !isKnown, isUnread, lastSeen == 0 { return 1 }
        return waiting.last { $0.id < other.id && $0.message.sharesSubject(with: other.message) }?.id
    }

    /// Returns whether a delivery is here, or may be in what is not read yet.
    func mayHold(_ id: Int64) -> Bool { isUnread && lastSeen < id || waiting.contains { $0.id == id } }

    /// Returns whether a delivery was read from the journal.
    func isLoaded(_ id: Int64) -> Bool { id <= lastLoaded }

    mutating func started(_ id: Int64) { inFlight.insert(id) }

    private mutating func setHasMore() {
        hasMore = true
        hasGrown = isLoading
    }

    /// - Parameter id: the lowest one that the journal has and that was not announced.
    mutating func moreCommitted(from id: Int64) {
        if isMissed(id) { reread() } else { setHasMore() }
    }

    /// Whether an id was passed over: it is announced after a later one, and was never read from the journal.
    private func isMissed(_ id: Int64) -> Bool { id < lastSeen && id > lastLoaded }

    mutating func committed(_ delivery: Delivery) {
        if isMissed(delivery.id) {
            reread()
        } else if hasMore || isLoading || !hasRoom {
            setHasMore()
        } else if delivery.id > lastSeen {
            waiting.append(delivery)
            lastSeen = delivery.id
            isAboutSeveral = isAboutSeveral || delivery.message.subject.isEmpty
        }
    }

    mutating func loaded(_ deliveries: [Delivery], ended: Set<Int64>) {
        (isLoading, wasLoaded) = (false, true)
        if mustReread { return reread() }
        hasMore = !deliveries.isEmpty || hasGrown
        hasGrown = false
        for delivery in deliveries where delivery.id > lastSeen {
            (lastSeen, lastLoaded) = (delivery.id, delivery.id)
            if !ended.contains(delivery.id) { waiting.append(delivery) }
        }
        noteSeveral()
    }

    private mutating func noteSeveral() { isAboutSeveral = waiting.contains { $0.message.subject.isEmpty } }

    mutating func loadFailed() {
        isLoading = false
        if mustReread { reread() }
    }

    /// Records what came of an attempt.
    /// - Parameter isPostponed: whether the receiver sent a Retry-After.
    mutating func attempted(_ attempt: Attempt, isPostponed: Bool) {
        inFlight.remove(attempt.delivery)
        let hasEnded = endedInFlight.remove(attempt.delivery) != nil
        if let at = waiting.firstIndex(where: { $0.id == attempt.delivery }) {
            if attempt.state.isPending, !hasEnded {
                failed.insert(attempt.delivery)
                if isPostponed { postponed.insert(attempt.delivery) } else { postponed.remove(attempt.delivery) }
                waiting[at].attempts = attempt.attempts
                waiting[at].due = attempt.due
                waiting[at].reason = attempt.reason
            } else {
                forget(at)
            }
        }
        if mustReread { reread() }
    }

    /// Removes a delivery that ended without an attempt.
    mutating func ended(_ id: Int64) {
        // The read in progress may return it again.
        if isLoading { mustReread = true }
        if inFlight.contains(id) {
            endedInFlight.insert(id)
        } else if let at = waiting.firstIndex(where: { $0.id == id }) {
            forget(at)
        }
    }

    private mutating func forget(_ at: Int) {
        let id = waiting.remove(at: at).id
        failed.remove(id)
        postponed.remove(id)
        if isAboutSeveral { noteSeveral() }
    }

    /// Forgets everything and reads the journal from the start: now, or when attempts and reads in progress have ended.
    mutating func reread() {
        mustReread = isBusy || isLoading
        if mustReread { return }
        (waiting, lastSeen, lastLoaded, hasMore, hasGrown, failed, postponed) = ([], 0, 0, true, false, [], [])
        waitsUntil = nil
    }

    /// Makes every delivery due now, except those that were attempted and failed.
    mutating func makeDue() { makeDue { [failed] in !failed.contains($0.id) } }

    /// Makes retries due now, except those with a Retry-After: the receiver is back.
    mutating func receiverIsBack() { makeDue { [postponed] in $0.attempts > 0 && !postponed.contains($0.id) } }

    private mutating func makeDue(_ isIncluded: (Delivery) -> Bool) {
        for at in waiting.indices where isIncluded(waiting[at]) {
            waiting[at].due = Timestamp(milliseconds: .min)
            waitsUntil = nil
        }
    }
}
