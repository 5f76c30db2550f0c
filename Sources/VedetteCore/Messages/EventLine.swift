// SPDX-License-Identifier: Apache-2.0

/// Formats an event as one line for people: `10:42:07  lab-systems  prod-1  Starting → Ready for use (after 4 min 12 s)`.
/// The line has no line break and no character that a terminal obeys.
public struct EventLine: Sendable {
    /// A part of the line, escaped, which a terminal may show in a colour of its own.
    public struct Piece: Sendable, Hashable {
        /// What a piece means.
        public enum Role: Sendable, Hashable {
            case plain, time, source
            /// What happened, in one word.
            case happening(Event.Kind)
            /// The state that the item has now.
            case state(String)
            /// Words of a text that are gone, and new ones.
            case removed, added
        }

        /// The escaped text.
        public var text: String
        /// What it means.
        public var role: Role

        /// Escapes a text.
        init(_ text: String, _ role: Role = .plain, limit: Int = 500) {
            (self.text, self.role) = (TerminalText.safe(text, limit: limit), role)
        }
    }

    private let time: @Sendable (Timestamp) -> String

    /// - Parameter time: formats a time, for instance on the local clock.
    public init(time: @escaping @Sendable (Timestamp) -> String) { self.time = time }

    /// Returns the line of a message: its event with the change that the rule is about, and what was held back before.
    public func text(_ message: Message) -> String {
        let line = text(message.event, field: message.field)
        guard message.suppressed > 0 else { return line }
        return "\(line)  (\(counted(message.suppressed, "message")) held back before)"
    }

    /// Returns the line without a line break at its end.
    public func text(_ event: Event, field: String? = nil) -> String {
        pieces(of: event, field: field).map(\.text).joined()
    }

    /// Returns the parts of the line, which are the line when they are joined.
    public func pieces(of event: Event, field: String? = nil) -> [Piece] {
        let title = event.item.map { [Piece("  "), Piece($0.title ?? $0.key)] } ?? []
        return [Piece(time(event.time), .time), Piece("  "), Piece(event.source, .source)] + title + [Piece("  ")]
            + EventLine.happening(of: event, field: field)
    }

    /// Returns what happened, without time, source and item: `Starting → Ready for use (after 4 min 12 s)`.
    /// - Parameter field: the field that the rule is about; nil for the state, else all that changed.
    public static func happening(of event: Event, field: String? = nil) -> [Piece] {
        let word = { (text: String) in Piece(text, .happening(event.kind)) }
        // What is about several items, or about none, is in the title alone.
        let title = event.item == nil && MessageText.lines(of: event).isEmpty ? event.summary?.title : nil
        let happening =
            switch event.kind {
            case .elapsed, .reminder:
                title.map { [word($0)] } ?? still(event, field) + problem(of: event, as: ": ")
            case .resolved where title != nil && event.error == nil: [word("resolved"), Piece(": \(title ?? "")")]
            case .resolved where !event.changes.isEmpty: [word("resolved"), Piece(": ")] + changes(of: event, field)
            case .changed where !event.changes.isEmpty: changes(of: event, field)
            case .appeared: [word("appeared")] + (event.item?.state.map { [Piece(", "), Piece($0, .state($0))] } ?? [])
            case .disappeared: [word("disappeared")] + (event.item?.state.map { [Piece(", was \($0)")] } ?? [])
            case .recovered: [word("recovered")] + down(event) + problem(of: event, as: "; before: ")
            case .digest, .burst, .ruleFailed:
                [word("\(event.kind.word), \(counted(event.summary?.count ?? 0, "event"))")]
                    + problem(of: event, as: ": ")
            case .unknown: [word("event of the unknown type \(event.type)")] + problem(of: event, as: ": ")
            default: [word(event.kind.word)] + problem(of: event, as: ": ")
            }
        let lines = MessageText.lines(of: event)
        return lines.isEmpty ? happening : happening + [Piece(": " + lines.joined(separator: "; "), limit: 5000)]
    }

    /// `still Starting (for 30 min)`
    private static func still(_ event: Event, _ field: String?) -> [Piece] {
        let name = field.flatMap { $0 == "state" ? nil : $0 }
        let value = (name.flatMap { event.item?[$0] } ?? event.item?.state.map(Value.text))?.description
        let cause = event.summary?.cause.map(\.word) ?? "so"
        let gone = event.summary?.cause == .disappeared
        let what = gone ? "gone" : value.map { (name.map { "\($0) " } ?? "") + $0 } ?? cause
        let stood = event.summary?.stood.map { " (for \(DurationText.long(seconds: $0)))" } ?? ""
        return [Piece("still " + what, .happening(event.kind)), Piece(stood)]
    }

    private static func changes(of event: Event, _ field: String?) -> [Piece] {
        let (changes, more) = shown(event.changes, field)
        // In a text, the words that changed have colours of their own.
        if changes.count == 1, changes[0].isLong, let pieces = changes[0].excerpt {
            return [Piece(changes[0].field + ":", .happening(event.kind)), Piece(" ")] + pieces.map(Piece.init)
        }
        let rest = more > 0 ? [Piece(" and \(more) more")] : []
        return Array(changes.map(pieces).joined(separator: [Piece(", ")])) + rest
    }

    /// A message shows the change of its rule's field first. Where the state or a long text changed, a line has no room for the
    /// other changes.
    private static func shown(_ changes: [FieldChange], _ field: String?) -> (changes: [FieldChange], more: Int) {
        let main = changes.filter { $0.field == "state" || $0.field == "title" }
        let isOfState = main.contains { $0.field == "state" }
        if let field, let change = changes.first(where: { $0.field == field }) {
            let others = isOfState || change.isLong ? [] : changes.filter { $0.field != field && !$0.isLong }
            return ([change] + others.prefix(mostOthers), max(0, others.count - mostOthers))
        }
        return (isOfState ? main : changes, 0)
    }

    /// Changes that a message shows beside the one of its rule's field.
    private static let mostOthers = 2

    private static func pieces(of change: FieldChange) -> [Piece] {
        let isState = change.field == "state"
        let name = isState ? [] : [Piece(change.field + ": ", .happening(.changed))]
        let lasted = change.lasted.map { [Piece(" (after \(DurationText.long(seconds: $0)))")] } ?? []
        if change.isLong { return name + [Piece(change.summary, limit: 2000)] + lasted }
        let to = value(change.to)
        let values = [Piece("\(value(change.from)) → "), Piece(to, isState ? .state(to) : .plain)]
        return name + values + lasted
    }

    private static func value(_ value: Value?) -> String {
        guard let text = value?.description else { return "(none)" }
        return text.isEmpty ? "(empty)" : text
    }

    /// ` (after 12 min)`
    private static func down(_ event: Event) -> [Piece] {
        event.error?.lasted.map { [Piece(" (after \(DurationText.long(seconds: $0)))")] } ?? []
    }

    private static func problem(of event: Event, as prefix: String) -> [Piece] {
        event.error.map { [Piece("\(prefix)\($0.detail) [\($0.failure)]")] } ?? []
    }
}

extension EventLine.Piece {
    fileprivate init(_ piece: WordDiff.Piece) {
        switch piece {
        case .plain(let text): self.init(text)
        case .removed(let text): self.init(text, .removed)
        case .added(let text): self.init(text, .added)
        }
    }
}
