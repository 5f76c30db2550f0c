// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore

/// Tells people that the journal cannot be written, without the journal: the log, the service manager, and the sinks that
/// need no network.
struct JournalAnnouncer: Sendable {
    /// The kinds of sinks that get the announcements.
    private static let kinds = ["desktop", "stdout"]
    /// A sink that does not take the message holds nothing up.
    private static let limit = Duration.seconds(2)

    let log: any Log
    let notifier: ServiceNotifier
    let clock: any Clock
    let random: any RandomGenerator

    /// Returns when every sink has the message, or after two seconds.
    func tell(_ announcement: JournalAlarm.Announcement, sinks: [String: any Sink], of configuration: Configuration)
        async
    {
        let message: (String) -> Message
        switch announcement {
        case .failing(let error):
            log.log(.error, "\(error.detail). Nothing is stored meanwhile; it is tried again")
            notifier.status("The journal cannot be written: \(error.detail)")
            message = { self.message(.failing, error, to: $0) }
        case .recovered(let error):
            log.log(.notice, "the journal can be written again")
            notifier.status("Watching \(counted(configuration.sources.count, "source"))")
            message = { self.message(.recovered, error, to: $0) }
        }
        let receivers = configuration.sinks.filter { JournalAnnouncer.kinds.contains($0.kindName) }
        await withTaskGroup(of: Void.self) { group in
            for definition in receivers {
                guard let sink = sinks[definition.name] else { continue }
                let message = message(definition.name)
                group.addTask { _ = await within(JournalAnnouncer.limit) { await sink.deliver(message) } }
            }
        }
    }

    private func message(_ kind: Event.Kind, _ error: JournalError, to sink: String) -> Message {
        let now = clock.now().wall
        let event = Event(
            id: random.identifier(at: now), kind: kind, time: now, source: "journal", sourceKind: Event.watcher,
            poll: "",
            error: Event.Problem(failure: "journal", detail: error.detail))
        return Message(
            id: "\(Message.idPrefix)\(random.identifier(at: now))", rule: Event.watcher, sink: sink, event: event,
            title: kind == .failing ? "The journal cannot be written" : "The journal can be written again",
            text: MessageText.of(event), priority: kind == .failing ? .high : .normal)
    }
}
