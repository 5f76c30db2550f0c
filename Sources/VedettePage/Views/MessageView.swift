// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One message whose own event is not stored, such as a digest: what it is about, and its deliveries.
struct MessageView: Sendable {
    struct Subject: Sendable {
        /// Nil when it is not stored any more.
        var event: Event?
        var text: String
    }

    /// Subjects beyond these are only counted.
    static let mostSubjects = 100

    let render: Render
    let message: Message
    /// Whether its rule is still configured.
    let isConfigured: Bool
    /// The first ones of `message.event.summary`.
    let subjects: [Subject]
    /// One for each sink.
    let deliveries: [(status: DeliveryStatus, attempts: [Attempt])]

    var content: HTML {
        let event = message.event
        let end: HTML = isConfigured ? "made this message." : "made this message, and is no longer configured."
        return """
            <h1>\(message.title)</h1><p class="big">\(render.happening(event))</p>\
            <ul class="facts"><li>\(render.time(event.time)) (\(render.age(event.time)))</li>\
            <li class="faint">\(event.id.description)</li></ul><p>The rule <b>\(message.rule)</b> \(end)</p>\(about)\
            \(Render.live("rules", outcomes))
            """
    }

    private var outcomes: HTML {
        let entries = deliveries.map { DeliveryView.entry($0.status, $0.attempts, render) }
        return "<h2>Deliveries</h2><ul class=\"plain\">\(entries)</ul>"
    }

    private var about: HTML? {
        guard let count = message.event.summary?.count, !subjects.isEmpty else { return nil }
        let rows = subjects.map { subject -> HTML in
            guard let event = subject.event else { return "<li>\(subject.text)</li>" }
            let link = PagePath("events", String(event.seq)).text
            return """
                <li>\(render.time(event.time)) <a href="\(link)">\(event.item?.title ?? event.item?.key ?? event.source)</a> \
                \(render.happening(event))</li>
                """
        }
        let more: HTML? = count > rows.count ? "<p class=\"faint\">and \(count - rows.count) more</p>" : nil
        return "<h2>\(counted(count, "event"))</h2><ul class=\"plain\">\(rows)</ul>\(more)"
    }
}

/// Reads what the view shows.
extension StatusPage {
    /// Finds a message whose own event is not stored, by the id of that event.
    func message(
        _ id: String, _ reader: any JournalReader, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let made = try await reader.deliveries(ofMessage: id)
        guard let message = made.first?.delivery.message,
            made.allSatisfy({ $0.delivery.message.event.id == message.event.id })
        else { return nil }
        var subjects: [MessageView.Subject] = []
        for subject in message.event.summary?.subjects.prefix(MessageView.mostSubjects) ?? [] {
            let event = try await reader.events(matching: subject.event).first
            subjects.append(MessageView.Subject(event: event, text: subject.text))
        }
        var deliveries: [(status: DeliveryStatus, attempts: [Attempt])] = []
        for status in made { deliveries.append((status, try await reader.attempts(of: status.delivery.id))) }
        let view = MessageView(
            render: render, message: message,
            isConfigured: configuration.rules.contains { $0.name == message.rule }, subjects: subjects,
            deliveries: deliveries)
        return (message.title, view.content)
    }
}
