// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One item: its state, the bar of its states, every field, and its history with what was sent.
struct ItemView: Sendable {
    /// Events of the history.
    static let mostEvents = 100
    /// Deliveries of an event of the history.
    static let mostDeliveries = 20
    /// The time that the timeline shows at most.
    static let span = Duration.seconds(30 * 86_400)

    struct Past: Sendable {
        var event: Event
        var deliveries: [DeliveryStatus]
    }

    let render: Render
    let source: String
    let kind: String
    let item: Item
    /// When it got its state.
    let since: Timestamp?
    /// When a list stopped showing it; nil while it is there.
    let absentSince: Timestamp?
    /// What rules told of it that is true.
    let matches: [RuleMemory]
    /// Oldest first.
    let history: [Past]
    let timeline: StateTimeline

    var content: HTML {
        let link: HTML? = item.url.map { HTML.external($0, "\($0)") }
        let subject: [(name: String, value: String?)] = [("source", source), ("item", item.key)]
        return """
            <p class="path">\(render.source(source))</p><h1>\(item.title ?? item.key)</h1>\(Render.live("state", state))\
            <div class="buttons">\(render.silencing(subject))</div>\(Render.live("matches", told))<p>\(link)</p>\(Render.live("history", past))\
            <h2>Fields</h2>\(fields)
            """
    }

    private var state: HTML {
        let words: HTML? = item.state.map { state in
            let since: HTML? = since.map { " since \(render.time($0)) (\(render.age($0)))" }
            return "<p class=\"big\">\(render.state(state, kind: kind))\(since)</p>"
        }
        let gone: HTML? = absentSince.map {
            "<p class=\"busy\">The source has not shown it since \(render.time($0)).</p>"
        }
        let bar: HTML? =
            timeline.segments.isEmpty
            ? nil
            : """
            <figure>\(ItemView.picture(timeline, label: "States since \(render.text.clock(timeline.start, render.now))", kind, render))\
            <figcaption><span>\(render.time(timeline.start))</span><span>now</span></figcaption></figure>
            """
        return "\(words)\(gone)\(bar)"
    }

    private var told: HTML {
        let rows = matches.map { memory -> HTML in
            let text = memory.waitingText(of: nil, at: render.now) ?? "told, and still true"
            return "<li><b>\(memory.key.rule)</b> \(text) \(render.acknowledging(memory))</li>"
        }
        return rows.isEmpty ? "" : "<ul class=\"plain\">\(rows)</ul>"
    }

    private var past: HTML {
        let rows = history.reversed().map { past -> HTML in
            let sent = past.deliveries.map { "<li>\(DeliveryView.sentence($0, render))</li>" as HTML }
            return """
                <tr id="e\(past.event.seq)"><td class="when"><a href="\(PagePath("events", String(past.event.seq)).text)">\(
                    render.time(past.event.time))</a></td><td class="any">\(render.happening(past.event))\
                <ul class="plain faint">\(sent)</ul></td></tr>
                """
        }
        return "<h2>History</h2>"
            + Render.table(
                ["<th>Time</th>", "<th>What happened</th>"], rows, empty: "Nothing has changed since the baseline.")
    }

    private var fields: HTML {
        var rows: [(name: String, value: String)] = [("key", item.key)]
        if let time = item.time { rows.append(("time", time.rfc3339)) }
        for field in Array(item.fields) + Array(item.measures) + Array(item.notes) {
            rows.append((field.name, field.value.description))
        }
        let body = rows.map { row -> HTML in
            let line = Sparkline.svg(numbers(row.name), label: "\(row.name) over the last changes")
            return """
                <tr><th scope="row">\(row.name)</th><td class="value">\(HTML.external(row.value, "\(row.value)")) \(line)</td></tr>
                """
        }
        return "<table class=\"fields\"><tbody>\(body)</tbody></table>"
    }

    /// The values that a field had at each change, oldest first, and has now; none unless each is a number.
    private func numbers(_ name: String) -> [Double] {
        let values = history.compactMap { $0.event.item?[name] } + [item[name]].compactMap { $0 }
        let numbers = values.compactMap { Double($0.description) }.filter(\.isFinite)
        return numbers.count == values.count && Set(numbers).count > 1 ? numbers : []
    }

    static func picture(_ timeline: StateTimeline, label: String, _ kind: String, _ render: Render) -> HTML {
        TimelinePicture.svg(
            timeline, label: label, tone: { render.text.meaning($0, kind)?.tone },
            time: { render.text.clock($0, render.now) })
    }
}

/// Reads what the view shows.
extension StatusPage {
    func item(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let (name, key) = (request.parameters["source"] ?? "", request.query["key"] ?? "")
        guard let source = configuration.sources.first(where: { $0.name == name }) else { return nil }
        let reader = try await sources.journal.reader()
        let events = try await reader.history(source: name, key: key, limit: ItemView.mostEvents)
        let stored = try await reader.items(of: name, withKeys: [key])[key]
        guard let item = stored?.item ?? events.last?.item else { return nil }
        var history: [ItemView.Past] = []
        for event in events {
            let deliveries = try await reader.deliveries(
                DeliveryFilter(event: event.seq), after: 0, limit: ItemView.mostDeliveries)
            history.append(ItemView.Past(event: event, deliveries: deliveries))
        }
        let matches = try await reader.ruleMemories().filter {
            $0.firingMatch.map { $0.source == name && $0.item?.key == key } ?? false
        }.sorted { $0.key.rule < $1.key.rule }
        let isThere = stored != nil && stored?.absentSince == nil
        let current: (state: String, since: Timestamp)? =
            isThere ? item.state.flatMap { state in stored.map { (state, $0.stateSince) } } : nil
        let start = max(
            events.first?.time ?? stored?.stateSince ?? render.now, render.now.advanced(by: .zero - ItemView.span))
        let view = ItemView(
            render: render, source: name, kind: source.kindName, item: item, since: stored?.stateSince,
            absentSince: isThere ? nil : stored?.absentSince ?? events.last?.time, matches: matches, history: history,
            timeline: StateTimeline(events, current: current, from: start, to: render.now))
        return (item.title ?? item.key, view.content)
    }
}
