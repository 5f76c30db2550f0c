// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The first page: does it work, what is wrong, what happened last, and every source and sink.
struct OverviewView: Sendable {
    /// What this watcher does now.
    struct Polls: Sendable {
        var inFlight: Int
        var streams: Int
    }

    static let sourcesPerPage = 100
    /// Events of the list of the newest.
    static let mostEvents = 20

    let render: Render
    let facts: StatusFacts
    let polls: Polls
    let events: [Event]
    let page: Int
    /// In order; kept, since it goes through every source.
    private let all: [StatusProblem]

    init(render: Render, facts: StatusFacts, polls: Polls, events: [Event], page: Int) {
        (self.render, self.facts, self.polls) = (render, facts, polls)
        (self.events, self.page) = (events, page)
        all = facts.problems
    }

    var content: HTML {
        Render.live("state", summary) + Render.live("problems", problems)
            + "<div class=\"columns\"><section aria-labelledby=\"h-sources\"><h2 id=\"h-sources\">Sources</h2>"
            + Render.live("sources", sources)
            + "</section><section aria-labelledby=\"h-events\"><h2 id=\"h-events\">Latest events</h2>"
            + Render.live("events", EventsView.table(events, render))
            + "<p><a href=\"/events\">All events</a></p><h2>Sinks</h2>" + Render.live("sinks", sinks)
            + Render.live("watchers", watchers) + Render.live("waiting", waiting) + "</section></div>"
    }

    private var summary: HTML {
        let counts = facts.healthCounts.map { count -> HTML in
            "<li><b class=\"\((count.health.meaning?.tone ?? .strong).rawValue)\">\(count.count)</b> \(count.health.rawValue)</li>"
        }
        let verdict: HTML
        if facts.watcher == nil {
            verdict = "<strong class=\"bad\">No watcher runs</strong>"
        } else if let since = facts.stalledSince {
            verdict = "<strong class=\"bad\">Nothing is stored</strong> since \(render.time(since))"
        } else if all.isEmpty {
            verdict = "<strong class=\"good\">All is well</strong>"
        } else if all.contains(where: \.isBad) {
            verdict = "<strong class=\"bad\">\(counted(all.count, "problem"))</strong>"
        } else {
            let itself = all.count == 1 ? "itself" : "themselves"
            verdict = "<strong class=\"busy\">\(counted(all.count, "problem")) that may pass by \(itself)</strong>"
        }
        let watcher: HTML? = facts.watcher.map { watcher in
            let since: HTML? = watcher.since.map { "<li>watching since \(render.time($0))</li>" }
            return "\(since)<li class=\"faint\">\(watcher.process.text)</li>"
        }
        let streams: HTML = polls.streams > 0 ? ", \(counted(polls.streams, "stream")) open" : ""
        let inFlight: HTML = "<li class=\"faint\">\(counted(polls.inFlight, "poll")) in flight\(streams)</li>"
        let lateness: HTML? = facts.lateness.values.max { $0.p99 < $1.p99 }.map { report in
            "<li class=\"faint\">99 % of polls start within \(Render.duration(report.p99))</li>"
        }
        return "<h1 class=\"verdict\">\(verdict)</h1><ul class=\"facts\">\(counts)\(watcher)\(inFlight)\(lateness)</ul>"
    }

    private var problems: HTML {
        guard !all.isEmpty else { return "" }
        let subjects = Set(all.prefix(50).map(\.subject))
        let names = Set(facts.sources.indices.map { facts.sources[$0].name }.filter(subjects.contains))
        let rows = all.prefix(50).map { problem -> HTML in
            let subject: HTML = names.contains(problem.subject) ? render.source(problem.subject) : "\(problem.subject)"
            let since: HTML? = problem.since.map { ", since \(render.time($0))" }
            let details = problem.details.map { detail -> HTML in
                switch detail {
                case .text(let text): "<li>\(text)</li>"
                case .past(let words, let time): "<li>\(words) \(render.time(time)) (\(render.age(time)))</li>"
                case .future(let words, let time): "<li>\(words) \(render.time(time)) (\(render.due(time)))</li>"
                }
            }
            let tone: HTML = problem.isBad ? "bad" : "busy"
            return """
                <li class="problem \(tone)"><b>\(subject)</b> <span class="\(tone)">\(problem.word)</span>\(since)\
                <p>\(render.text.localized(problem.cause, render.now))</p><ul class="facts">\(details)</ul>\(action(problem, names))</li>
                """
        }
        let more: HTML = all.count > 50 ? "<p>and \(all.count - 50) more</p>" : ""
        return "<section aria-label=\"Problems\"><ul class=\"problems\">\(Array(rows))</ul>\(more)</section>"
    }

    private func action(_ problem: StatusProblem, _ sources: Set<String>) -> HTML {
        if problem.word == "suspect" {
            return render.button(.accept, "Accept what was read", [("source", problem.subject)])
        }
        guard !sources.contains(problem.subject) else {
            return render.button(.poll, "Poll now", [("source", problem.subject)])
        }
        // A watcher that is late has no button.
        guard facts.sinks.contains(where: { $0.name == problem.subject }) else { return "" }
        return render.button(.retry, "Retry every message", [("sink", problem.subject)])
    }

    private var sources: HTML {
        let order: [SourceStatus.Health] = [.failing, .suspect, .retrying, .new, .ok]
        // Without copies of the whole facts of each.
        let keys = facts.sources.indices.map { index in
            (rank: order.firstIndex(of: facts.sources[index].health) ?? order.count, name: facts.sources[index].name)
        }
        let sorted = keys.indices.sorted { keys[$0] < keys[$1] }
        let first = (page - 1) * OverviewView.sourcesPerPage
        let shown = sorted.dropFirst(first).prefix(OverviewView.sourcesPerPage)
        let rows = shown.map { row(facts.sources[$0]) }
        let table = Render.table(
            [
                "<th>Source</th>", "<th>Health</th>", "<th>States</th>", "<th class=\"wide\">Last poll</th>",
                "<th>Next</th>",
            ],
            Array(rows), empty: "No source is configured.")
        return table
            + render.pages(page, hasNext: sorted.count > first + OverviewView.sourcesPerPage) {
                PagePath(query: [("page", String($0))])
            }
    }

    private func row(_ source: SourceStatus) -> HTML {
        let times = PollTimes(source, isWatching: facts.watcher != nil, now: facts.now)
        let states = (source.record?.snapshot?.states ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let words = states.prefix(4).map { state -> HTML in
            "<span class=\"count\">\(state.value) \(render.state(state.key, kind: source.kindName))</span> "
        }
        let count: HTML? =
            states.isEmpty
            ? source.record?.snapshot.map { "<span class=\"faint\">\(counted($0.count, "item"))</span>" } : nil
        let more: HTML = states.count > 4 ? "<span class=\"faint\">and \(states.count - 4) more</span>" : ""
        let next: HTML? = times.isPushed ? "<span class=\"faint\">stream</span>" : times.next.map(render.due)
        let tone = source.health.meaning?.tone ?? .strong
        return """
            <tr id="s-\(source.name)"><td>\(render.source(source.name)) <span class="faint wide">\(source.kindName)</span></td>\
            <td><span class="\(tone.rawValue)">\(source.health.rawValue)</span></td><td>\(words)\(count)\(more)</td>\
            <td class="wide">\(times.last.map(render.age))</td><td>\(next)</td></tr>
            """
    }

    private var sinks: HTML {
        let rows = facts.sinks.map { sink -> HTML in
            let stop: HTML? = sink.stop.map { "<span class=\"bad\">\($0.kind.word)</span>" }
            let dead: HTML = sink.count.dead > 0 ? "<span class=\"bad\">\(sink.count.dead)</span>" : "0"
            let outbox = PagePath("outbox", query: [("sink", sink.name)])
            return """
                <tr><td><a href="\(outbox.text)">\(sink.name)</a> \(stop)</td><td>\(sink.activity.sent)</td>\
                <td>\(sink.count.pending)</td><td>\(dead)</td><td class="wide">\(sink.activity.lastSentAt.map(render.age))</td></tr>
                """
        }
        return Render.table(
            [
                "<th>Sink</th>", "<th>Sent today</th>", "<th>Pending</th>", "<th>Dead</th>",
                "<th class=\"wide\">Last sent</th>",
            ], rows, empty: "No sink is configured.")
    }

    private var watchers: HTML {
        guard !facts.watchers.isEmpty else { return "" }
        let rows = facts.watchers.map { watcher -> HTML in
            let lateness: HTML? = facts.lateness[watcher.name].map { "\(Render.duration($0.p99))" }
            let late: HTML = watcher.isLate ? " <span class=\"busy\">late</span>" : ""
            return """
                <tr><td>\(watcher.name) <span class="faint wide">\(watcher.process.text)</span>\(late)</td>\
                <td>\(watcher.sources)</td><td>\(watcher.sinks)</td>\
                <td>\(lateness)</td>\
                <td>\(render.age(watcher.started))</td></tr>
                """
        }
        return "<h2>Watchers</h2>"
            + Render.table(
                [
                    "<th>Watcher</th>", "<th>Sources</th>", "<th>Sinks</th>", "<th>99 % start within</th>",
                    "<th>Started</th>",
                ], rows, empty: "")
    }

    private var waiting: HTML {
        guard !facts.timers.isEmpty else { return "" }
        let rules = Dictionary(facts.rules.map { ($0.name, $0) }) { first, _ in first }
        let rows = facts.timers.prefix(20).map { timer -> HTML in
            let text = timer.waitingText(of: rules[timer.key.rule], at: facts.now) ?? ""
            return
                "<li><a href=\"/rules\">\(timer.key.rule)</a> \(text)\(timer.waitingUntil.map { ", \(render.due($0))" as HTML })</li>"
        }
        return "<h2>Waiting</h2><ul class=\"plain\">\(Array(rows))</ul>"
    }
}

/// Reads what the view shows.
extension StatusPage {
    func overview(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let facts = try await self.facts.facts(of: configuration)
        let events =
            facts.hasJournal
            ? try await sources.journal.reader().lastEvents(OverviewView.mostEvents, EventFilter()) : []
        let polls = OverviewView.Polls(inFlight: sources.polls.inFlight(), streams: sources.polls.streams())
        let view = OverviewView(
            render: render, facts: facts, polls: polls, events: events.reversed(), page: request.page)
        return ("Overview", view.content)
    }
}
