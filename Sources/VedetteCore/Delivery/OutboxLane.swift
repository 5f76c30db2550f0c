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
    /// Of `waiting`, those under way; one at most where order matters.
    private var inFlight = Set<Int64>()
    /// Of `waiting`, those that were attempted here and stay owed.
    private var failed = Set<Int64>()
    /// Of `waiting`, those that the receiver itself put off.
    private var putOff = Set<Int64>()
    var isLoading = false
    /// Stands in the outbox's list of lanes to judge.
    var isReady = false
    /// Stands in its sink's queue.
    var isQueued = false
    /// When its next delivery is due, while it waits for that.
    var waitsUntil: Timestamp?
    /// Something was committed while the journal was read: the reading may have missed it.
    private var hasGrown = false
    private var mustReread = false

    var isBusy: Bool { !inFlight.isEmpty }
    var isEmpty: Bool { waiting.isEmpty && !hasMore && !isLoading }

    /// The delivery whose turn is next, whenever it is due; none while order wants the one under way to end first.
    func next(inOrder: Bool) -> Delivery? {
        if inOrder { return isBusy ? nil : waiting.first }
        return waiting.lazy.filter { !inFlight.contains($0.id) }.min { $0.due < $1.due }
    }

    mutating func started(_ id: Int64) { inFlight.insert(id) }

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

    /// - Parameter isPutOff: the receiver itself said when.
    mutating func attempted(_ attempt: Attempt, isPutOff: Bool) {
        inFlight.remove(attempt.delivery)
        if let at = waiting.firstIndex(where: { $0.id == attempt.delivery }) {
            if attempt.state.isPending {
                failed.insert(attempt.delivery)
                if isPutOff { putOff.insert(attempt.delivery) } else { putOff.remove(attempt.delivery) }
                waiting[at].attempts = attempt.attempts
                waiting[at].due = attempt.due
                waiting[at].reason = attempt.reason
            } else {
                forget(at)
            }
        }
        if mustReread { reread() }
    }

    /// It ended without an attempt.
    mutating func ended(_ id: Int64) {
        // What is being read may bring it back.
        if isLoading { mustReread = true }
        if let at = waiting.firstIndex(where: { $0.id == id }), !inFlight.contains(id) { forget(at) }
    }

    private mutating func forget(_ at: Int) {
        let id = waiting.remove(at: at).id
        failed.remove(id)
        putOff.remove(id)
    }

    /// Forgets what it holds and reads the journal from its start: now, or when what is under way ends.
    mutating func reread() {
        mustReread = isBusy || isLoading
        if mustReread { return }
        (waiting, lastSeen, hasMore, hasGrown, failed, putOff) = ([], 0, true, false, [], [])
        waitsUntil = nil
    }

    /// What waits for its time is due now, but for what was attempted here and failed.
    mutating func hurried() { hurry { [failed] in !failed.contains($0.id) } }

    /// The receiver is back: what it did not put off itself is due now.
    mutating func receiverIsBack() { hurry { [putOff] in $0.attempts > 0 && !putOff.contains($0.id) } }

    private mutating func hurry(_ isMeant: (Delivery) -> Bool) {
        for at in waiting.indices where isMeant(waiting[at]) {
            waiting[at].due = Timestamp(milliseconds: .min)
            waitsUntil = nil
        }
    }
}
