// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One event with its explanation: each rule, whether it matched, and what became of the message.
struct EventView: Sendable {
    struct Verdict: Sendable {
        var rule: String
        var result: RuleSet.Evaluation.Result
        var waiting: [String]
        var deliveries: [(status: DeliveryStatus, attempts: [Attempt])]
    }

    /// Rules that did not match beyond these are only counted.
    static let mostUnmatched = 200
    static let mostDeliveries = 200

    let render: Render
    let event: Event
    let verdicts: [Verdict]
    /// Deliveries of rules that are no longer configured.
    let orphans: [DeliveryStatus]

    var content: HTML {
        let isSource = !event.kind.isAboutWatcher && !event.kind.isAboutSink
        let source: HTML = isSource ? render.source(event.source) : "\(event.source)"
        let title: HTML? = event.item.map { render.item($0.key, title: $0.title, of: event.source) }
        // Without an item the heading is the source.
        let path: HTML? = title == nil ? nil : "<p class=\"path\">\(source)</p>"
        let link: HTML? = event.item?.url.map { "<p>\(HTML.external($0, "\($0)"))</p>" }
        return """
            \(path)<h1>\(title ?? source)</h1><p class="big">\(render.happening(event))</p>\
            <ul class="facts"><li>\(render.time(event.time)) (\(render.age(event.time)))</li><li>event \(event.seq)</li>\
            <li class="faint">\(event.id.description)</li></ul>\(link)\(Render.live("rules", rules))
            """
    }

    private var rules: HTML {
        let matched = verdicts.filter { $0.result == .matched || !$0.deliveries.isEmpty || !$0.waiting.isEmpty }
        let others = verdicts.filter { $0.result != .matched && $0.deliveries.isEmpty && $0.waiting.isEmpty }
        let orphaned = orphans.map {
            """
            <li>\(DeliveryView.sentence($0, render)) <span class="faint">(the rule \($0.delivery.message.rule) is no longer \
            configured)</span></li>
            """ as HTML
        }
        let first: HTML =
            matched.isEmpty && orphaned.isEmpty
            ? "<p>No rule made a message of it.</p>" : "<ul class=\"verdicts\">\(matched.map(verdict))\(orphaned)</ul>"
        guard !others.isEmpty else { return "<h2>Messages</h2>\(first)" }
        let isOpen: HTML = matched.isEmpty ? " open" : ""
        let rest = others.prefix(EventView.mostUnmatched).map(verdict)
        let more: HTML = others.count > rest.count ? "<p class=\"faint\">and \(others.count - rest.count) more</p>" : ""
        return """
            <h2>Messages</h2>\(first)<details\(isOpen)><summary>\(counted(others.count, matched.isEmpty ? "rule" : "other rule"))</summary>\
            <ul class="verdicts">\(Array(rest))</ul>\(more)</details>
            """
    }

    private func verdict(_ verdict: Verdict) -> HTML {
        let words: HTML =
            switch verdict.result {
            case .matched: "<span class=\"good\">matches</span>"
            case .unmatched(let reason): "does not match: \(render.text.localized(reason, render.now))"
            case .stopped(let rule): "not evaluated: \(rule) matches and stops the list"
            case .failed(let detail): "<span class=\"bad\">failed to evaluate</span>: \(detail)"
            }
        let waiting = verdict.waiting.map { "<li>\(render.text.localized($0, render.now))</li>" as HTML }
        let sent = verdict.deliveries.map { DeliveryView.entry($0.status, $0.attempts, render) }
        return "<li><b>\(verdict.rule)</b> \(words)<ul class=\"plain\">\(waiting)\(sent)</ul></li>"
    }
}

/// Reads what the view shows.
extension StatusPage {
    func event(
        _ request: PageRequest, _ render: Render, _ configuration: ConfigurationFacts
    ) async throws(JournalError) -> Found {
        let reader = try await sources.journal.reader()
        let id = request.parameters["event"] ?? ""
        let found = try await reader.events(matching: id)
        guard found.count == 1, let event = found.first else {
            return found.isEmpty ? try await message(id, reader, render, configuration) : nil
        }
        let deliveries = try await reader.deliveries(
            DeliveryFilter(event: event.seq), after: 0, limit: EventView.mostDeliveries)
        let memories = try await reader.ruleMemories().filter {
            $0.concerns(event)
        }
        var verdicts: [EventView.Verdict] = []
        for evaluation in RuleSet(configuration.rules).evaluateAll(event) {
            let rule = evaluation.rule
            var made: [(status: DeliveryStatus, attempts: [Attempt])] = []
            for status in deliveries where status.delivery.message.rule == rule.name {
                made.append((status, try await reader.attempts(of: status.delivery.id)))
            }
            let waiting = memories.filter { $0.key.rule == rule.name }.compactMap {
                $0.waitingText(of: rule, at: render.now)
            }
            verdicts.append(
                EventView.Verdict(rule: rule.name, result: evaluation.result, waiting: waiting, deliveries: made))
        }
        let known = Set(configuration.rules.map(\.name))
        let view = EventView(
            render: render, event: event, verdicts: verdicts,
            orphans: deliveries.filter { !known.contains($0.delivery.message.rule) })
        return ("Event \(event.seq)", view.content)
    }
}
