// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rules, with what each waits for and when it matched last.
struct RulesView: Sendable {
    static let perPage = 50

    struct Row: Sendable {
        var rule: Rule
        /// The newest event that it made a message of.
        var last: Event?
        /// What it made; nil where there is no journal.
        var count: RuleCount?
        var waiting: [RuleMemory]
        var silences: [Silence]
        /// Why it may never match.
        var warning: String?
    }

    let render: Render
    let rows: [Row]
    let page: Int
    let hasNext: Bool

    /// `120 matched, 118 sent, 2 suppressed`
    static func numbers(_ count: RuleCount) -> HTML {
        guard count.matched > 0 else { return "<span class=\"faint\">none</span>" }
        let suppressed: HTML = count.suppressed > 0 ? ", \(count.suppressed) suppressed" : ""
        let part: HTML = count.isPartial ? " <span class=\"faint\">of the newest \(RuleCount.limit)</span>" : ""
        return "\(count.matched) matched, \(count.sent) sent\(suppressed)\(part)"
    }

    var content: HTML {
        let body = rows.map { row -> HTML in
            let waiting = row.waiting.prefix(5).map { memory -> HTML in
                let due: HTML? = memory.waitingUntil.map { ", \(render.age($0))" }
                let text = memory.waitingText(of: row.rule, at: render.now) ?? ""
                return "<li>\(text)\(due) \(render.acknowledging(memory))</li>"
            }
            let more: HTML = row.waiting.count > 5 ? "<li class=\"faint\">and \(row.waiting.count - 5) more</li>" : ""
            let last: HTML? = row.last.map { event in
                "<a href=\"\(PagePath("events", String(event.seq)).text)\">\(render.age(event.time))</a>"
            }
            let silenced: HTML =
                !row.silences.contains { $0.hasBegun(at: render.now) } ? "" : " <span class=\"busy\">silenced</span>"
            let warning: HTML? = row.warning.map { "<p class=\"busy\">\($0)</p>" }
            return """
                <tr><td><b>\(row.rule.name)</b>\(silenced)\(warning)</td><td class="wide">\(row.rule.notify.map(\.sink).joined(separator: ", "))</td>\
                <td>\(last)</td><td>\(row.count.map(RulesView.numbers))</td><td class="any"><ul class="plain">\(Array(waiting))\(more)</ul></td>\
                <td>\(render.silencingMenu([("rule", row.rule.name)]))</td></tr>
                """
        }
        return "<h1>Rules</h1>"
            + Render.live(
                "rules",
                Render.table(
                    [
                        "<th>Rule</th>", "<th class=\"wide\">Notifies</th>", "<th>Last message</th>",
                        "<th>Messages</th>", "<th>Waits for</th>", "<th>Silence</th>",
                    ],
                    body, empty: "No rule is configured.")
                    + render.pages(page, hasNext: hasNext) { PagePath("rules", query: [("page", String($0))]) })
    }
}

/// Reads what the view shows.
extension StatusPage {
    func rules(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let facts = try await self.facts.facts(of: configuration)
        let (first, size) = ((request.page - 1) * RulesView.perPage, RulesView.perPage)
        let waiting = Dictionary(grouping: facts.timers, by: \.key.rule)
        var rows: [RulesView.Row] = []
        let reader = facts.hasJournal ? try await sources.journal.reader() : nil
        for rule in facts.rules.dropFirst(first).prefix(size) {
            let last = try await reader?.lastEvents(1, EventFilter(rule: rule.name)).last
            rows.append(
                RulesView.Row(
                    rule: rule, last: last, count: try await reader?.ruleCount(of: rule.name),
                    waiting: waiting[rule.name] ?? [],
                    silences: facts.silences.filter { $0.rule != nil && $0.covers(rule) },
                    warning: facts.unmatched.first { $0.rule == rule.name }?.text))
        }
        let view = RulesView(
            render: render, rows: rows, page: request.page, hasNext: facts.rules.count > first + size)
        return ("Rules", view.content)
    }
}
