// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Formats an event as one line for people: `10:42:07  lab-systems  prod-1  Starting → Ready for use (after 4 min 12 s)`.
/// The line has no line break and no character that a terminal obeys but its own colours.
public struct EventLine: Sendable {
    private let isColoured: Bool
    private let time: @Sendable (Timestamp) -> String

    /// - Parameter time: formats a time, for instance in the local time zone.
    public init(isColoured: Bool = false, time: @escaping @Sendable (Timestamp) -> String) {
        (self.isColoured, self.time) = (isColoured, time)
    }

    /// Returns the line without a line break at its end.
    public func text(_ event: Event) -> String {
        var columns = [paint(time(event.time), .dim), paint(TerminalText.safe(event.source), .cyan)]
        if let item = event.item { columns.append(TerminalText.safe(item.title ?? item.key)) }
        columns.append(paint(EventLine.happening(of: event), colour(of: event)))
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

    private enum Colour: String {
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
        case bold = "1"
    }

    private func colour(of event: Event) -> Colour {
        switch event.kind {
        case .appeared, .recovered, .online: .green
        case .disappeared, .failing, .offline, .paused, .disabled: .red
        case .stale, .suspect: .yellow
        default: .bold
        }
    }

    private func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
