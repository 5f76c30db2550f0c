// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One source: its health, and its items with their latest states.
struct SourceView: Sendable {
    static let perPage = 50
    /// A source with more items is shown in the order of keys, since sorting it would read all of it.
    static let mostSorted = 2000
    /// The time that a timeline shows.
    static let span = Duration.seconds(86_400)

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
        let times = PollTimes(status.record, isWatching: isWatched, now: render.now)
        let good: HTML? = status.record?.snapshot.map {
            "<li>\(counted($0.count, "item")), read \(render.age($0.goodAt))</li>"
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
        let suspect: HTML? =
            status.health == .suspect
            ? """
            <p class="bad">The list turned empty; what it had is kept.</p>\(
                render.button(.accept, "Accept the empty list", [("source", status.name)]))
            """ : nil
        let remarks = status.remarks(now: render.now).map { "<li class=\"busy\">\($0)</li>" as HTML }
        let took: HTML? = durations.last.map { last -> HTML in
            let line = Sparkline.svg(
                durations, label: "Time of the last \(counted(durations.count, "poll")), at most \(longest)")
            return "<li>last poll took \(Render.duration(last)) \(line)</li>"
        }
        let every = Render.duration(status.every.inSeconds)
        return """
            <ul class="facts"><li>\(status.health.rawValue)</li>\(good)<li>every \(every)</li>\(next)\(took)\(remarks)</ul>\(problem)\(suspect)
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
