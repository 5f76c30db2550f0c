// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// When the courier looks whether more is owed than sinks may be owed: while anything is.
struct Audit {
    static let pace = Duration.seconds(60)
    /// After so many new deliveries it looks at once.
    static let burst = 1000
    /// Deliveries that die in one step.
    static let batch = 500

    private(set) var due: BootTime?
    private var fresh = 0
    private(set) var isRunning = false

    mutating func owed(_ count: Int, at now: BootTime) {
        fresh += count
        if fresh >= Audit.burst {
            due = now
        } else if due == nil, !isRunning {
            due = now.advanced(by: Audit.pace)
        }
    }

    mutating func began() { (isRunning, due, fresh) = (true, nil, 0) }

    /// - Parameter next: nil when nothing is owed.
    mutating func ended(next: BootTime?) { (isRunning, due) = (false, due ?? next) }
}

/// Bounds of what is owed (I8): by count, bytes and age.
extension Courier {
    func auditIfDue() {
        guard !audit.isRunning, !isOnce, let due = audit.due, due <= surroundings.clock.now().boot else { return }
        audit.began()
        Task { await self.trim() }
    }

    /// Ends what is owed beyond the bounds, in steps, each written before the next.
    private func trim() async {
        var owed = 0
        do throws(JournalError) {
            let overflow = try await surroundings.journal.overflow(limits(), most: Audit.batch)
            owed = overflow.owed
            if end(overflow.excess) { audit.owed(Audit.burst, at: surroundings.clock.now().boot) }
        } catch {
            owed = 1
            surroundings.log.log(.warning, "what is owed was not counted: \(error.detail)")
        }
        audit.ended(next: owed > 0 ? surroundings.clock.now().boot.advanced(by: Audit.pace) : nil)
        work()
    }

    private func limits() -> [OutboxLimit] {
        let now = time.moment(surroundings.clock.now()).wall
        let resting = outbox.resting
        return sinks.keys.map { sink in
            let manners = manners(of: sink)
            return OutboxLimit(
                sink: sink, bound: manners.queue,
                oldest: resting.contains(sink) ? now.advanced(by: .zero - manners.giveUp) : nil)
        }
    }

    /// - Returns: whether anything ended.
    private func end(_ excess: [(delivery: Delivery, by: Overflow.Excess)]) -> Bool {
        let done = unwrittenEnds
        let now = time.moment(surroundings.clock.now()).wall
        var hasEnded = false
        for (delivery, cause) in excess where attempts[delivery.id] == nil && !done.contains(delivery.id) {
            let reason = manners(of: delivery.message.sink).reason(cause, delivery)
            outbox.ended(delivery)
            settled(
                delivery,
                Attempt(
                    delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: now,
                    reason: reason))
            hasEnded = true
        }
        startWriting()
        return hasEnded
    }
}

extension SinkManners {
    /// Why a delivery that was not attempted is dead.
    fileprivate func reason(_ cause: Overflow.Excess, _ delivery: Delivery) -> String {
        let which = queue.policy == .dropOldest ? "the oldest" : "the newest"
        switch cause {
        case .age:
            let last = delivery.reason.map { ": " + $0 } ?? ""
            return "gave up after \(Wording.duration(seconds: giveUp.inSeconds))\(last)"
        case .count: return "more than \(queue.count) messages were owed to the sink: \(which) is given up"
        case .bytes: return "more than \(queue.bytes) bytes were owed to the sink: \(which) is given up"
        }
    }
}
