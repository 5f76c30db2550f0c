// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Shows messages as desktop notifications: one per item or group, replaced in place.
public enum DesktopKind {
    public static let entry = SinkKindEntry(
        name: "desktop", summary: "Shows each message as a desktop notification.",
        options: [
            OptionSpec(
                "icon", .text, "A name in the icon theme, or the absolute path of a picture.", default: "Vedette's own"
            )
        ],
        isLocal: true,
        make: { options throws(OptionProblem) in
            let icon = try options.text("icon").map(Icon.checked)
            return { _, services in
                DesktopSink(clock: services.clock, icon: icon, silencer: services.silencer)
            }
        })
}

/// Shows messages through libnotify. Without a session bus or daemon a delivery is retried, and no other sink waits.
/// Closing it does nothing: notifications stay, and their thread sleeps until the process ends.
public final class DesktopSink: Sink {
    private let clock: any VedetteCore.Clock
    private let icon: String?
    private let silencer: (any Silencer)?
    private let notifier: Notifier

    /// The time between two probes of `returned`. A probe costs a millisecond where there is no bus.
    static let probeInterval = Duration.seconds(10)

    /// - Parameters:
    ///   - icon: name or absolute path; nil for Vedette's own.
    ///   - silencer: carries out `Snooze` and `Mute`; without one there are no such buttons.
    public init(clock: any VedetteCore.Clock, icon: String? = nil, silencer: (any Silencer)? = nil) {
        (self.clock, self.icon, self.silencer, notifier) = (clock, icon, silencer, .shared)
    }

    public func deliver(_ message: Message) async -> Outcome {
        // A stopped daemon blocks the notifier's thread for seconds. Waiting for a stream ends at once when this task is
        // cancelled; the notification may then still appear.
        let (outcomes, outcome) = AsyncStream<Outcome>.makeStream()
        Task {
            let problem = await show(message)
            outcome.yield(problem.map { .retry(reason: $0.description, after: nil) } ?? .delivered)
            outcome.finish()
        }
        var iterator = outcomes.makeAsyncIterator()
        return await iterator.next() ?? .retry(reason: "stopped before the notification was shown", after: nil)
    }

    /// Returns true once a notification can be shown, for instance after log-in; false when the task was cancelled before.
    /// It waits before the first probe: a daemon that answers but refuses notifications would be asked without end.
    public func waitForReceiver() async -> Bool {
        repeat {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now().boot.advanced(by: DesktopSink.probeInterval))
            } catch {
                return false
            }
        } while await !notifier.isReady()
        return true
    }

    private func show(_ message: Message) async -> DesktopProblem? {
        guard !message.isMissed(at: clock.now().wall) else {
            return await notifier.show(missed: message, icon: icon)
        }
        var notification = DesktopNotification(message)
        notification.icon = icon
        if silencer == nil { notification.subject = nil }
        if silencer?.canAcknowledge(rule: message.rule) == true {
            notification.subject?.match = message.event.toldMatch
        }
        return await notifier.show(notification) { [notification, clock, silencer] button in
            if button == .open, let link = notification.link { Browser.open(link) }
            if button == .acknowledge, let subject = notification.subject, let match = subject.match {
                let about = VedetteCore.Subject(source: subject.source, key: subject.item)
                silencer?.acknowledge(rule: subject.rule, about, match: match)
            }
            if let silence = notification.silence(by: button, at: clock.now().wall) { silencer?.silence(silence) }
        }
    }
}
