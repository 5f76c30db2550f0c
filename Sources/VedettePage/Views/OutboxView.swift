// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The messages that were not sent: pending, retrying, paused and dead, the oldest first.
struct OutboxView: Sendable {
    static let perPage = 50

    let render: Render
    let deliveries: [DeliveryStatus]
    let sink: String?
    /// The id after which the next page begins; nil on the last page.
    let next: Int64?

    var content: HTML {
        let title: HTML = sink.map { "Outbox of \($0)" } ?? "Outbox"
        let rows = deliveries.map { status -> HTML in
            let (delivery, message) = (status.delivery, status.delivery.message)
            let id = String(delivery.id)
            let canRetry = status.state != .pending
            let retry: HTML = canRetry ? render.button(.retry, "Retry", [("id", id)]) : ""
            let drop: HTML =
                status.state.isPending ? render.confirmed(.drop, "Drop…", "Drop this message", [("id", id)]) : ""
            let reason: HTML? = delivery.reason.map {
                "<p class=\"faint\">\(render.text.localized($0, render.now))</p>"
            }
            let due: HTML? =
                status.state.isPending && delivery.due > render.now ? ", due \(render.age(delivery.due))" : nil
            let tone = status.state.meaning?.tone.rawValue ?? "word"
            // The event of a digest is not in the journal, and has no number.
            let event = message.event.seq > 0 ? String(message.event.seq) : message.event.id.description
            return """
                <tr><td class="any"><a href="\(PagePath("events", event).text)">\(message.title)</a>\(reason)</td>\
                <td>\(message.sink)</td><td class="wide">\(message.rule)</td><td><span class="\(tone)">\(status.state.rawValue)</span>\(due)</td>\
                <td class="wide">\(render.age(delivery.created))</td><td><div class="buttons">\(retry)\(drop)</div></td></tr>
                """
        }
        let all: HTML? =
            deliveries.isEmpty
            ? nil
            : sink.map {
                "<div class=\"buttons\">\(render.button(.retry, "Retry every message", [("sink", $0)]))</div>"
            }
        let pages: HTML? = next.map { next in
            let path = PagePath("outbox", query: [("sink", sink), ("after", String(next))])
            return "<nav class=\"pages\" aria-label=\"Pages\"><a rel=\"next\" href=\"\(path.text)\">Next</a></nav>"
        }
        return "<h1>\(title)</h1>\(all)"
            + Render.live(
                "outbox",
                Render.table(
                    [
                        "<th>Message</th>", "<th>Sink</th>", "<th class=\"wide\">Rule</th>", "<th>State</th>",
                        "<th class=\"wide\">Made</th>", "<th>Do</th>",
                    ], rows, empty: "Every message was sent.") + (pages ?? ""))
    }
}

/// Reads what the view shows.
extension StatusPage {
    func outbox(_ request: PageRequest, _ render: Render) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let sink = request.query["sink"]
        let after = request.query["after"].flatMap { Int64($0) } ?? 0
        let size = OutboxView.perPage
        let found = try await reader.deliveries(DeliveryFilter(.unsent, sink: sink), after: after, limit: size + 1)
        let shown = Array(found.prefix(size))
        let view = OutboxView(
            render: render, deliveries: shown, sink: sink, next: found.count > size ? shown.last?.delivery.id : nil)
        return (sink.map { "Outbox of \($0)" } ?? "Outbox", view.content)
    }
}
