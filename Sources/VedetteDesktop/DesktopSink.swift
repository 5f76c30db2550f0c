// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// Bubbles of the desktop: one per item, replaced in place.
public enum DesktopKind {
    public static let entry = SinkKindEntry(
        name: "desktop", summary: "Shows each message as a desktop notification.", options: [],
        make: { _ throws(OptionProblem) in
            { _, services in DesktopSink(clock: services.clock) }
        })
}

/// Shows messages through libnotify. Where no session bus or daemon is, it asks for another try and nobody else waits.
/// Closing it needs nothing: bubbles stay, and their thread sleeps until the process ends.
public final class DesktopSink: Sink {
    private let clock: any VedetteCore.Clock
    private let notifier: Notifier
    private let outage = Mutex(Outage())

    /// After this long a missing daemon is asked again.
    static let pause = Duration.seconds(30)

    public init(clock: any VedetteCore.Clock) {
        (self.clock, notifier) = (clock, .shared)
    }

    public func deliver(_ message: Message) async -> Outcome {
        let bubble = bubble(for: message)
        // A stopped daemon holds the notifier's thread for up to 25 s. A stream, because waiting for one ends at once
        // when this task is cancelled; the bubble may then still appear.
        let (outcomes, outcome) = AsyncStream<Outcome>.makeStream()
        Task {
            outcome.yield(await show(bubble, of: message))
            outcome.finish()
        }
        var iterator = outcomes.makeAsyncIterator()
        return await iterator.next() ?? .retry(reason: "stopped before the bubble was shown", after: nil)
    }

    private func bubble(for message: Message) -> Bubble {
        let (time, now) = (message.event.time, clock.now().wall)
        return outage.withLock { outage in
            outage.outlasted(eventAt: time, now: now) ? outage.summary(adding: message.title) : Bubble(message)
        }
    }

    private func show(_ bubble: Bubble, of message: Message) async -> Outcome {
        let problem = await notifier.show(bubble)
        let now = clock.now().wall
        return outage.withLock { outage in
            guard let problem else {
                outage.ended(now: now)
                return .delivered
            }
            outage.refused(eventAt: message.event.time, now: now)
            return .retry(reason: problem.description, after: DesktopSink.pause)
        }
    }
}
