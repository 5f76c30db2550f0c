// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The events of the journal, the newest first.
struct EventsView: Sendable {
    static let perPage = 100
    /// Deeper pages would count through the whole journal each time.
    static let maximumPage = 100

    let render: Render
    /// Newest first.
    let events: [Event]
    let source: String?
    let page: Int
    let hasNext: Bool

    var content: HTML {
        let title: HTML = source.map { "Events of \(render.source($0))" } ?? "Events"
        let note: HTML =
            page == EventsView.maximumPage
            ? "<p class=\"faint\">Older events: <code>vedette tail --since 7d</code></p>" : ""
        return "<h1>\(title)</h1>" + Render.live("events", EventsView.table(events, render))
            + render.pages(page, hasNext: hasNext && page < EventsView.maximumPage) {
                PagePath("events", query: [("source", source), ("page", String($0))])
            } + note
    }

    /// - Parameter events: newest first.
    static func table(_ events: [Event], _ render: Render) -> HTML {
        let rows = events.map { event -> HTML in
            let isSource = !event.kind.isAboutWatcher && !event.kind.isAboutSink
            let source: HTML = isSource ? render.source(event.source) : "\(event.source)"
            let item: HTML? = event.item.map { "\(render.item($0.key, title: $0.title, of: event.source)) " }
            return """
                <tr id="e\(event.seq)"><td class="when"><a href="\(PagePath("events", String(event.seq)).text)">\(render.time(event.time))</a></td>\
                <td>\(source)</td><td class="any">\(item)\(render.happening(event))</td></tr>
                """
        }
        return Render.table(
            ["<th>Time</th>", "<th>Source</th>", "<th>What happened</th>"], rows, empty: "No event yet.")
    }
}

/// Reads what the view shows.
extension StatusPage {
    func events(_ request: PageRequest, _ render: Render) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let (source, page) = (request.query["source"], min(request.page, EventsView.maximumPage))
        let filter = EventFilter(source: source)
        let size = EventsView.perPage
        let start = try await reader.seq(before: page * size, filter)
        let end = page == 1 ? .max : try await reader.seq(before: (page - 1) * size, filter)
        let events = try await reader.events(after: start, filter, limit: size)
        let view = EventsView(
            render: render, events: events.filter { $0.seq <= end }.reversed(), source: source, page: page,
            hasNext: start > 0)
        return (source.map { "Events of \($0)" } ?? "Events", view.content)
    }
}
