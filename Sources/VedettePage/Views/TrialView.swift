// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The forms that try an address and a rule, with the result of the one that was sent. Without a script they work the same.
struct TrialView: Sendable {
    /// What was tried, and what came of it.
    enum Outcome: Sendable {
        case address(Result<AddressTrial, TrialProblem>)
        case rule(Result<RuleTrial, TrialProblem>)
    }

    let render: Render
    /// What the forms show again.
    var address = ""
    var rule = ""
    var period = TrialService.usualPeriod
    var outcome: Outcome?

    /// A rule to begin with.
    static func example(_ configuration: ConfigurationFacts) -> String {
        let source = configuration.sourceNames.first.map { "source: \($0), " } ?? ""
        return """
            name: example
            when: {\(source)appears: true}
            notify: [\(configuration.sinks.first?.name ?? "SINK")]
            """
    }

    private static let periods = [("1h", "1 hour"), ("24h", "24 hours"), ("7d", "7 days"), ("30d", "30 days")]

    var content: HTML {
        """
        <h1>Try</h1><p>Nothing is written here: copy what you want to keep into a file of the configuration, which \
        <code>vedette check</code> reads.</p>\(addressForm)\(addressOutcome)\(ruleForm)\(ruleOutcome)
        """
    }

    // MARK: An address

    private var addressForm: HTML {
        """
        <h2 id="of-address">An address</h2><p id="about-address">It is requested without passwords, twice, a second apart. A private \
        address is requested only where a source has its host and port already.</p>\
        <form method="post" action="/try" class="trial" aria-labelledby="of-address">\(hidden("address"))<label for="address">Address</label>\
        <input id="address" name="address" type="url" inputmode="url" autocomplete="off" placeholder="https://" value="\(
            address)" aria-describedby="about-address" required> <button>Try the address</button></form>
        """
    }

    private var addressOutcome: HTML? {
        guard case .address(let result) = outcome else { return nil }
        switch result {
        case .failure(let problem): return TrialView.failure(problem)
        case .success(let trial): return found(trial)
        }
    }

    private func found(_ trial: AddressTrial) -> HTML {
        let notes = trial.notes.map { "<li>\($0)</li>" as HTML }
        let rows = trial.items.map { item -> HTML in
            let fields = item.fields.map {
                "<li><span class=\"faint\">\($0.name)</span> \($0.value.description)</li>" as HTML
            }
            return """
                <tr><td class="any">\(item.key)</td><td>\(item.state.map { render.state($0, kind: trial.kind) })</td><td class="any">\(item.title ?? "")</td>\
                <td class="any"><ul class="plain">\(fields)</ul></td></tr>
                """
        }
        let left = trial.count - trial.items.count
        let more: HTML? = left > 0 ? "<p class=\"faint\">and \(left) more</p>" : nil
        let heads: [HTML] = ["<th>Key</th>", "<th>State</th>", "<th>Title</th>", "<th>Fields</th>"]
        return """
            <p role="status">\(trial.summary)</p><ul class="plain busy">\(notes)</ul><h3>What the kind \(
                trial.kind) reads</h3>\(Render.table(heads, rows, empty: "No item."))\(more)<h3>How to watch it</h3>\
            <pre id="yaml" role="region" tabindex="0" aria-label="YAML">\(trial.yaml)</pre><p><button type="button" data-copy="yaml" hidden>Copy</button></p>
            """
    }

    // MARK: A rule

    private var ruleForm: HTML {
        let options = TrialView.periods.map { value, text -> HTML in
            let mark: HTML = value == period ? " selected" : ""
            return "<option value=\"\(value)\"\(mark)>\(text)</option>"
        }
        return """
            <h2 id="of-rule">A rule</h2><p id="about-rule">The events that are stored are played against it, as <code>vedette test \
            --since</code> does. Nothing is sent. It replaces no other rule, and no other rule counts.</p>\
            <form method="post" action="/try" class="trial" aria-labelledby="of-rule">\(hidden("rule"))<label for="rule">Rule</label>\
            <textarea id="rule" name="rule" rows="10" spellcheck="false" aria-describedby="about-rule" required>\n\(
                rule)</textarea><label for="since">Events of the last</label> <select id="since" name="since">\(
                options)</select> <button>Try the rule</button></form>
            """
    }

    private var ruleOutcome: HTML? {
        guard case .rule(let result) = outcome else { return nil }
        switch result {
        case .failure(let problem): return TrialView.failure(problem)
        case .success(let trial): return played(trial)
        }
    }

    private func played(_ trial: RuleTrial) -> HTML {
        let end: HTML? = trial.end.map { " until \(render.time($0)), the most that one trial plays," }
        let counts = trial.counts.map { count -> HTML in
            "<li><b>\(count.rule)</b> to \(count.sink): \(count.sent) sent, \(count.suppressed) suppressed</li>"
        }
        let none: HTML? = trial.counts.isEmpty ? "<li>no message would have been sent</li>" : nil
        let rows = trial.messages.map { message -> HTML in
            let outcome: HTML =
                message.reason.map {
                    "<span class=\"faint\">suppressed: \(render.text.localized($0, render.now))</span>"
                }
                ?? "sent"
            return """
                <tr><td class="when">\(render.time(message.time))</td><td>\(message.sink)</td><td class="any">\(message.title)</td>\
                <td class="any">\(outcome)</td></tr>
                """
        }
        let left = trial.count - trial.messages.count
        let more: HTML? = left > 0 ? "<p class=\"faint\">and \(left) more</p>" : nil
        let heads: [HTML] = ["<th>Time</th>", "<th>Sink</th>", "<th>Message</th>", "<th>Outcome</th>"]
        let table = rows.isEmpty ? nil : Render.table(heads, rows, empty: "")
        let others = (trial.notes + trial.waiting).map { "<li>\($0)</li>" as HTML }
        return """
            <p role="status">\(trial.events) events\(end) were played.</p><ul class="plain">\(counts)\(none)</ul>\(table)\(more)\
            <ul class="plain">\(others)</ul>
            """
    }

    // MARK: Both

    private func hidden(_ what: HTML) -> HTML {
        "<input type=\"hidden\" name=\"form\" value=\"\(render.formToken)\"><input type=\"hidden\" name=\"what\" value=\"\(what)\">"
    }

    private static func failure(_ problem: TrialProblem) -> HTML {
        "<p class=\"bad\" role=\"alert\">\(problem.sentence).</p>"
    }
}

extension StatusPage {
    /// Shows the forms; on a page without a token, why there are none.
    func trialForms() async -> PageResponse {
        guard await hasToken else {
            return trialPage("<h1>Try</h1><p>\(RequestGuard.tokenless)</p>", status: 403)
        }
        let configuration = await sources.configuration()
        return trialPage(TrialView(render: trialRender, rule: TrialView.example(configuration)).content)
    }

    /// Tries what a form has. Whether there is a token was checked.
    func tried(_ request: PageRequest) async -> PageResponse {
        let form = request.form
        var view = TrialView(render: trialRender, rule: TrialView.example(await sources.configuration()))
        if form["what"] == "rule" {
            view.rule = (form["rule"] ?? "").replacing("\r\n", with: "\n")
            view.period = form["since"] ?? view.period
            view.outcome = .rule(
                await Result(of: { [view] () async throws(TrialProblem) in
                    try await trials.rule(view.rule, since: view.period)
                }))
        } else {
            view.address = form["address"] ?? ""
            view.outcome = .address(
                await Result(of: { [view] () async throws(TrialProblem) in
                    try await trials.address(view.address)
                }))
        }
        return trialPage(view.content)
    }

    private var trialRender: Render {
        Render(now: sources.clock.now().wall, text: sources.text, formToken: formToken, back: "/try")
    }

    private func trialPage(_ content: HTML, status: Int = 200) -> PageResponse {
        // It must not be loaded again by itself: that would empty a form in which a person writes.
        let layout = Layout(title: "Try", section: .try, isReloaded: false, now: sources.clock.now().wall)
        return .html(layout.page(content), status: status)
    }
}
