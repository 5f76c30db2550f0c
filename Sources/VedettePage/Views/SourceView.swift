// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One source: its health, and its items with their latest states.
struct SourceView: Sendable {
    static let perPage = 50
    /// A source with more items is shown in the order of keys, since sorting it would read all of it.
    static let mostSorted = 2000

    struct Row: Sendable {
        var item: Item
        var since: Timestamp
        var timeline: StateTimeline
    }

    let render: Render
    let status: SourceStatus
    /// Seconds that each of the last polls took, the oldest first.
    let durations: [Double]
    let isWatched: Bool
    let rows: [Row]
    /// Where the bars of the items begin.
    let start: Timestamp
    let page: Int
    let hasNext: Bool

    var content: HTML {
        let events = PagePath("events", query: [("source", status.name)])
        return """
            <h1>\(status.name) <span class="faint">\(status.kindName)</span></h1>\(Render.live("state", health))\
            <div class="buttons">\(render.button(.poll, "Poll now", [("source", status.name)]))\(
                render.silencing([("source", status.name)]))<a href="\(events.text)">Events</a></div>\
            \(Render.live("items", items))
            """
    }

    private var health: HTML {
        let times = PollTimes(status, isWatching: isWatched, now: render.now)
        let good: HTML? = status.record?.snapshot.map {
            "<li>\(counted($0.count, "item")), read \(render.age(times.lastGood ?? $0.goodAt))</li>"
        }
        let next: HTML? =
            times.isPushed
            ? "<li>the server pushes over an open connection</li>"
            : times.next.map { time -> HTML in
                let words = times.isDelayedByServer ? "next poll (Retry-After)" : "next poll"
                return "<li>\(words) \(render.due(time))</li>"
            }
        let problem: HTML? = status.record?.health.problem.map { problem in
            let since: HTML? = status.troubledSince.map { " since \(render.time($0))" }
            return "<p class=\"bad\">\(status.health.rawValue)\(since): \(problem.detail) [\(problem.failure)]</p>"
        }
        let emptiness = status.health == .suspect ? status.record?.snapshot?.emptiness : nil
        let suspect: HTML? = emptiness.map { emptiness in
            """
            <p class="bad">\(status.health.rawValue): \(emptiness.summary); what it had is kept.</p>\(
                render.button(.accept, "Accept what was read", [("source", status.name)]))
            """
        }
        let remarks = status.remarks(now: render.now).map { "<li class=\"busy\">\($0)</li>" as HTML }
        let took: HTML? = durations.last.map { last -> HTML in
            let label = "Time of the last \(counted(durations.count, "poll")), at most \(longest)"
            let line = Sparkline.svg(durations, label: label)
            return "<li>last poll took \(Render.duration(last)) \(line)</li>"
        }
        let every = Render.duration(status.every.inSeconds)
        return """
            <ul class="facts"><li>\(status.health.rawValue)</li>\(good)<li>\(status.polled(every: every))</li>\(next)\(took)\(remarks)</ul>\(problem)\(suspect)
            """
    }

    private var longest: String { Render.duration(durations.max() ?? 0) }

    private var items: HTML {
        let body = rows.map { row -> HTML in
            let key = row.item.key
            let state: HTML? = row.item.state.map { render.state($0, kind: status.kindName) }
            let age: HTML? = row.item.state == nil ? row.item.time.map(render.age) : render.age(row.since)
            return """
                <tr><td class="any">\(render.item(key, title: row.item.title, of: status.name))</td><td>\(state)</td><td>\(age)</td>\
                <td class="wide bar">\(row.timeline.segments.isEmpty ? nil : picture(row.timeline, of: row.item))</td></tr>
                """
        }
        return Render.table(
            [
                "<th>Item</th>", "<th>State</th>", "<th>Since</th>",
                "<th class=\"wide\">States since \(render.time(start))</th>",
            ], body,
            empty: status.record == nil ? "It was never polled." : "It has no items.")
            + render.pages(page, hasNext: hasNext) {
                PagePath("sources", status.name, query: [("page", String($0))])
            }
    }

    private func picture(_ timeline: StateTimeline, of item: Item) -> HTML {
        ItemView.picture(
            timeline, label: "States of \(item.title ?? item.key) since \(render.text.clock(start, render.now))",
            status.kindName, render)
    }
}

/// Reads what the view shows.
extension StatusPage {
    func source(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let name = request.parameters["source"] ?? ""
        guard let source = configuration.sources.first(where: { $0.name == name }) else { return nil }
        let reader = try await sources.journal.reader()
        let status = SourceStatus(source, try await reader.sourceRecord(of: name))
        let (first, size) = ((request.page - 1) * SourceView.perPage, SourceView.perPage)
        var count = status.record?.snapshot?.count ?? 0
        let stored: [StoredItem]
        if count > SourceView.mostSorted {
            stored = try await reader.items(of: name, from: first, limit: size)
        } else {
            let (mode, readAt) = (source.kind.mode, status.record?.snapshot?.goodAt ?? render.now)
            let shown = try await reader.items(of: name).values.filter { $0.isShown(in: mode, readAt: readAt) }
            count = shown.count
            stored = Array(sorted(shown, kind: source.kindName).dropFirst(first).prefix(size))
        }
        var read: [(item: Item, since: Timestamp, history: [Event])] = []
        for stored in stored {
            guard let item = stored.item else { continue }
            read.append(
                (
                    item, stored.stateSince,
                    try await reader.history(source: name, key: item.key, limit: StateTimeline.mostEvents)
                ))
        }
        func rows(from start: Timestamp) -> [SourceView.Row] {
            read.map { row in
                let current = row.item.state.map { ($0, row.since) }
                let timeline = StateTimeline(row.history, current: current, from: start, to: render.now)
                return SourceView.Row(item: row.item, since: row.since, timeline: timeline)
            }
        }
        // The bars of a source that is new would be empty for the most part.
        var (start, shown) = (render.now.advanced(by: .zero - StateTimeline.span), [SourceView.Row]())
        shown = rows(from: start)
        if let earliest = shown.compactMap(\.timeline.segments.first?.start).min(), earliest > start {
            (start, shown) = (earliest, rows(from: earliest))
        }
        let view = SourceView(
            render: render, status: status, durations: await sources.polls.durations(name),
            isWatched: await sources.journal.watcher() != nil, rows: shown,
            start: start, page: request.page, hasNext: count > first + size)
        return (name, view.content)
    }

    /// Returns the items in the order of the page: bad states first, then those on their way, then the newest.
    private func sorted(_ items: [StoredItem], kind: String) -> [StoredItem] {
        let ranked = items.map { stored -> (rank: Int, stored: StoredItem) in
            let meaning = stored.item?.state.flatMap { sources.text.meaning($0, kind) }
            let rank =
                switch meaning {
                case .bad: 0
                case .busy: 1
                case nil: 2
                case .good: 3
                }
            return (rank, stored)
        }
        return ranked.sorted { a, b in
            if a.rank != b.rank { return a.rank < b.rank }
            if a.stored.stateSince != b.stored.stateSince { return a.stored.stateSince > b.stored.stateSince }
            return a.stored.key < b.stored.key
        }.map(\.stored)
    }
}
