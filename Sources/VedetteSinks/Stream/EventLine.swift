// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Formats an event as one line for people: `10:42:07  lab-systems  prod-1  Starting → Ready for use (after 4 min 12 s)`.
/// The line has no line break and no character that a terminal obeys but its own colours.
public struct EventLine: Sendable {
    /// A part that a terminal may show in a colour of its own.
    public enum Part: Sendable {
        case time, source, happening(Event.Kind)
        /// Words of a text that are gone, and new ones.
        case removed, added
    }

    private let paint: @Sendable (String, Part) -> String
    private let time: @Sendable (Timestamp) -> String

    /// - Parameters:
    ///   - paint: adds colour to a part; by default there is none.
    ///   - time: formats a time, for instance on the local clock.
    public init(
        paint: @escaping @Sendable (String, Part) -> String = { text, _ in text },
        time: @escaping @Sendable (Timestamp) -> String
    ) {
        (self.paint, self.time) = (paint, time)
    }

    /// Returns the line without a line break at its end.
    public func text(_ event: Event) -> String { text(event, field: nil, withheld: 0) }

    /// Returns the line of a message: its event with the change that the rule is about, and what was held back before.
    public func text(_ message: Message) -> String {
        text(message.event, field: message.field, withheld: message.suppressed)
    }

    private func text(_ event: Event, field: String?, withheld: Int) -> String {
        var columns = [paint(time(event.time), .time), paint(TerminalText.safe(event.source), .source)]
        if let item = event.item { columns.append(TerminalText.safe(item.title ?? item.key)) }
        columns.append(happening(of: event, field: field))
        if withheld > 0 { columns.append("(\(counted(withheld, "message")) held back before)") }
        return columns.joined(separator: "  ")
    }

    private func happening(of event: Event, field: String?) -> String {
        // In a text, the words that changed have colours of their own.
        let changes = event.kind == .changed ? EventLine.shown(event.changes, field) : []
        guard changes.count == 1, changes[0].isLong, let pieces = changes[0].excerpt else {
            return paint(EventLine.happening(of: event, field: field), .happening(event.kind))
        }
        let words = pieces.map { piece in
            let text = TerminalText.safe(piece.text)
            return switch piece {
            case .plain: text
            case .removed: paint(text, .removed)
            case .added: paint(text, .added)
            }
        }
        return paint(TerminalText.safe(changes[0].field) + ":", .happening(event.kind)) + " " + words.joined()
    }

    /// Returns what happened, without time, source and item: `Starting → Ready for use (after 4 min 12 s)`.
    /// - Parameter field: the field that the rule is about; nil for the state, else all that changed.
    public static func happening(of event: Event, field: String? = nil) -> String {
        let happening =
            switch event.kind {
            case .changed where !event.changes.isEmpty:
                shown(event.changes, field).map(change).joined(separator: ", ")
            case .appeared: "appeared" + state(of: event, as: ", ")
            case .disappeared: "disappeared" + state(of: event, as: ", was ")
            case .recovered: "recovered" + problem(of: event, as: "; before: ")
            case .elapsed, .reminder: still(event, field) + problem(of: event, as: ": ")
            case .digest, .burst, .ruleFailed:
                "\(event.kind.word), \(counted(event.summary?.count ?? 0, "event"))" + problem(of: event, as: ": ")
            default: event.kind.word + problem(of: event, as: ": ")
            }
        let lines = MessageFormatter.lines(of: event)
        return lines.isEmpty
            ? happening : happening + ": " + TerminalText.safe(lines.joined(separator: "; "), limit: 5000)
    }

    /// `still Starting (for 30 min)`
    private static func still(_ event: Event, _ field: String?) -> String {
        let name = field.flatMap { $0 == "state" ? nil : $0 }
        let value = (name.flatMap { event.item?[$0] } ?? event.item?.state.map(Value.text))?.description
        let cause = event.summary?.cause.map(\.word) ?? "so"
        let gone = event.summary?.cause == .disappeared
        let what = gone ? "gone" : value.map { (name.map { "\($0) " } ?? "") + $0 } ?? cause
        let stood = event.summary?.stood.map { " (for \(MessageFormatter.duration(seconds: $0)))" } ?? ""
        return "still " + TerminalText.safe(what) + stood
    }

    /// A message shows the change of its rule's field. Where the state changed, a line has no room for the other changes.
    private static func shown(_ changes: [FieldChange], _ field: String?) -> [FieldChange] {
        if let field, let change = changes.first(where: { $0.field == field }) { return [change] }
        let main = changes.filter { $0.field == "state" || $0.field == "title" }
        return main.contains { $0.field == "state" } ? main : changes
    }

    private static func change(_ change: FieldChange) -> String {
        let name = change.field == "state" ? "" : TerminalText.safe(change.field) + ": "
        let lasted = change.lasted.map { " (after \(MessageFormatter.duration(seconds: $0)))" } ?? ""
        let values = "\(value(change.from)) → \(value(change.to))"
        return name + (change.isLong ? TerminalText.safe(change.summary, limit: 2000) : values) + lasted
    }

    private static func value(_ value: Value?) -> String {
        guard let text = value?.description else { return "(none)" }
        return text.isEmpty ? "(empty)" : TerminalText.safe(text)
    }

    private static func state(of event: Event, as prefix: String) -> String {
        event.item?.state.map { prefix + TerminalText.safe($0) } ?? ""
    }

    private static func problem(of event: Event, as prefix: String) -> String {
        guard let error = event.error else { return "" }
        return TerminalText.safe("\(prefix)\(error.detail) [\(error.failure)]")
    }
}
