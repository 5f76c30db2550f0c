// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The silences in force, with the buttons that end them.
struct SilencesView: Sendable {
    let render: Render
    let silences: [Silence]

    var content: HTML {
        let rows = silences.map { silence -> HTML in
            let end: HTML =
                silence.until.map { "\(render.time($0)) (\(render.age($0)))" as HTML }
                ?? silence.untilState.map { "until \($0)" as HTML } ?? "until it is ended"
            let start: HTML? = silence.from.map { "from \(render.time($0)) " }
            let names: [(String, String?)] = [
                ("rule", silence.rule), ("source", silence.source), ("item", silence.item), ("sink", silence.sink),
            ]
            let parts =
                names.compactMap { name, value -> HTML? in
                    value.map { "<span class=\"faint\">\(name)</span> \($0) " }
                }
                + silence.fields.map { "<span class=\"faint\">where</span> \($0.text) " as HTML }
            let subject: HTML = parts.isEmpty ? "everything" : "\(parts)"
            return """
                <tr><td>\(subject)</td><td>\(start)\(end)</td><td class="wide">\(render.age(silence.created))</td>\
                <td>\(render.button(.unsilence, "End", [("id", String(silence.id))]))</td></tr>
                """
        }
        return "<h1>Silences</h1>"
            + Render.live(
                "silences",
                Render.table(
                    ["<th>Silenced</th>", "<th>Until</th>", "<th class=\"wide\">Set</th>", "<th>End it</th>"], rows,
                    empty: "No silence is set. The buttons of sources, items and rules set one."))
    }
}

/// Reads what the view shows.
extension StatusPage {
    func silences(_ render: Render) async throws(JournalError) -> Found {
        let silences = try await sources.journal.reader().silences().filter { !$0.isOver(at: render.now) }
        return ("Silences", SilencesView(render: render, silences: silences).content)
    }
}
