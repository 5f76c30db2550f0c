// SPDX-License-Identifier: Apache-2.0

/// The usual text of a message, which a rule without one of its own has.
public enum MessageText {
    /// Returns the text: a line with source, duration or cause, then the lines of a digest or group; empty when there is
    /// none.
    /// - Parameters:
    ///   - field: the field that the rule is about.
    ///   - withheld: earlier messages that were withheld.
    public static func of(_ event: Event, field: String? = nil, withheld: Int = 0) -> String {
        let more = withheld > 0 ? ["\(counted(withheld, "message")) held back before"] : []
        let first = (details(of: event, field) + more).joined(separator: " · ")
        let excerpt =
            event.kind == .changed ? event.mainChange(of: field).flatMap { $0.isLong ? $0.summary : nil } : nil
        return ([first] + (excerpt.map { [$0] } ?? []) + lines(of: event)).filter { !$0.isEmpty }.joined(
            separator: "\n")
    }

    private static func details(of event: Event, _ field: String?) -> [String] {
        let stood = event.summary?.stood.map { ["for \(DurationText.long(seconds: $0))"] } ?? []
        if let problem = event.error {
            let detail = [.recovered, .resolved].contains(event.kind) ? "before: \(problem.detail)" : problem.detail
            let down = problem.lasted.map { ["down for \(DurationText.long(seconds: $0))"] } ?? []
            return (problem.server.map { ["server \($0)"] } ?? []) + down + [detail] + stood
        }
        guard event.item != nil, event.kind != .test else { return stood }
        var parts = [event.source]
        if event.kind == .changed, let lasted = event.mainChange(of: field)?.lasted {
            parts.append("after \(DurationText.long(seconds: lasted))")
        }
        if event.kind == .appeared { parts.append("new") }
        parts += stood
        if let message = event.item?["message_text"] { parts.append(message.description) }
        return parts
    }

    /// Returns a line for each event that a digest or group names, and the number of the others.
    public static func lines(of event: Event) -> [String] {
        guard let summary = event.summary, !summary.lines.isEmpty else { return [] }
        let more = summary.count - summary.lines.count
        return summary.lines + (more > 0 ? ["and \(more) more"] : [])
    }
}
