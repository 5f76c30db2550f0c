// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Renders what several views show: times, states, buttons, the pages of a list.
struct Render: Sendable {
    let now: Timestamp
    let text: PageText
    let formToken: String
    /// Where a button leads back to.
    let back: String

    /// `10:42:07`
    func time(_ time: Timestamp) -> HTML {
        "<time datetime=\"\(time.rfc3339)\">\(text.clock(time, now))</time>"
    }

    /// `4 min ago`, `in 12 s`; the script keeps it up to date.
    func age(_ time: Timestamp) -> HTML {
        "<time data-age datetime=\"\(time.rfc3339)\" title=\"\(text.clock(time, now))\">\(Render.age(time, at: now))</time>"
    }

    /// `in 12 s`, then `now`. It shows no time of the past, unlike `age`: a poll that is due or under way is not over.
    func due(_ time: Timestamp) -> HTML {
        let text = time <= now ? "now" : Render.age(time, at: now)
        return """
            <time data-age data-due datetime="\(time.rfc3339)" title="\(self.text.clock(time, now))">\(text)</time>
            """
    }

    static func age(_ time: Timestamp, at now: Timestamp) -> String {
        let seconds = time.seconds(since: now)
        if abs(seconds) < 1 { return "now" }
        return seconds < 0
            ? "\(DurationText.long(seconds: -seconds)) ago"
            : "in \(DurationText.long(seconds: seconds))"
    }

    /// `25 ms`, `4 min 12 s`
    static func duration(_ seconds: Double) -> String {
        seconds < 1 ? "\(Int((seconds * 1000).rounded())) ms" : DurationText.long(seconds: seconds)
    }

    func state(_ state: String, kind: String) -> HTML {
        let tone = text.meaning(state, kind).map { " " + $0.tone.rawValue } ?? ""
        return "<span class=\"state\(tone)\">\(state)</span>"
    }

    func happening(_ event: Event) -> HTML {
        let parts = text.happening(event).map { piece -> HTML in
            guard let tone = piece.tone else { return "\(piece.text)" }
            return "<span class=\"\(tone.rawValue)\">\(piece.text)</span>"
        }
        return "\(parts)"
    }

    func source(_ name: String) -> HTML { "<a href=\"\(PagePath("sources", name).text)\">\(name)</a>" }

    /// - Parameter title: nil shows the key.
    func item(_ key: String, title: String?, of source: String) -> HTML {
        "<a href=\"\(PagePath("sources", source, "item", query: [("key", key)]).text)\">\(title ?? key)</a>"
    }

    /// Returns a form with one button.
    func button(_ action: PageAction, _ label: HTML, _ fields: [(name: String, value: String?)]) -> HTML {
        """
        <form method="post" action="\(PagePath("do", action.rawValue).text)"><input type="hidden" name="form" value="\(
            formToken)"><input type="hidden" name="back" value="\(back)">\(hidden(fields))<button>\(label)</button></form>
        """
    }

    /// Returns a button that asks first, without a script: the second one appears when the first is opened.
    func confirmed(
        _ action: PageAction, _ label: HTML, _ question: HTML, _ fields: [(name: String, value: String?)]
    ) -> HTML {
        "<details class=\"confirm\"><summary>\(label)</summary>\(button(action, question, fields))</details>"
    }

    private func hidden(_ fields: [(name: String, value: String?)]) -> [HTML] {
        fields.compactMap { field in
            field.value.map { "<input type=\"hidden\" name=\"\(field.name)\" value=\"\($0)\">" }
        }
    }

    /// Returns links to the pages before and after one.
    /// - Parameter link: the address of a page, from 1.
    func pages(_ page: Int, hasNext: Bool, _ link: (Int) -> PagePath) -> HTML {
        guard page > 1 || hasNext else { return "" }
        let before: HTML = page > 1 ? "<a rel=\"prev\" href=\"\(link(page - 1).text)\">Previous</a>" : ""
        let after: HTML = hasNext ? "<a rel=\"next\" href=\"\(link(page + 1).text)\">Next</a>" : ""
        return "<nav class=\"pages\" aria-label=\"Pages\">\(before)<span>Page \(page)</span>\(after)</nav>"
    }

    /// Returns a part of the page that the script replaces when something changed.
    static func live(_ id: StaticString, _ content: HTML) -> HTML {
        "<div id=\"\(id.description)\" data-live>\(content)</div>"
    }

    /// Returns a table, or a sentence where it has no rows.
    static func table(_ heads: [HTML], _ rows: [HTML], empty: HTML) -> HTML {
        guard !rows.isEmpty else { return "<p class=\"faint\">\(empty)</p>" }
        return "<table><thead><tr>\(heads)</tr></thead><tbody>\(rows)</tbody></table>"
    }
}
