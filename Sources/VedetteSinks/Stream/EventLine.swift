// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Formats an event as one line for people: `10:42:07  lab-systems  prod-1  Starting → Ready for use (after 4 min 12 s)`.
/// The line has no line break and no character that a terminal obeys but its own colours.
public struct EventLine: Sendable {
    /// A part that a terminal may show in a colour of its own.
    public enum Part: Sendable { case time, source, happening(Event.Kind) }

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
    public func text(_ event: Event) -> String {
        var columns = [paint(time(event.time), .time), paint(TerminalText.safe(event.source), .source)]
        if let item = event.item { columns.append(TerminalText.safe(item.title ?? item.key)) }
        columns.append(paint(EventLine.happening(of: event), .happening(event.kind)))
        return columns.joined(separator: "  ")
    }

    /// Returns what happened, without time, source and item: `Starting → Ready for use (after 4 min 12 s)`.
    public static func happening(of event: Event) -> String {
        switch event.kind {
        case .changed where !event.changes.isEmpty:
            shown(event.changes).map(change).joined(separator: ", ")
        case .appeared: "appeared" + state(of: event, as: ", ")
        case .disappeared: "disappeared" + state(of: event, as: ", was ")
        case .recovered: "recovered" + problem(of: event, as: "; before: ")
        default: event.kind.word + problem(of: event, as: ": ")
        }
    }

    /// Where the state changed, a line has no room for the other changes.
    private static func shown(_ changes: [FieldChange]) -> [FieldChange] {
        let main = changes.filter { $0.field == "state" || $0.field == "title" }
        return main.contains { $0.field == "state" } ? main : changes
    }

    private static func change(_ change: FieldChange) -> String {
        let name = change.field == "state" ? "" : TerminalText.safe(change.field) + ": "
        let lasted = change.lasted.map { " (after \(MessageFormatter.duration(seconds: $0)))" } ?? ""
        return "\(name)\(value(change.from)) → \(value(change.to))\(lasted)"
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
