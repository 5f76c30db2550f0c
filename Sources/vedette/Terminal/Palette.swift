// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// The colours of every command: a role is what the text means, its value the SGR parameter of ECMA-48.
struct Palette: Sendable {
    enum Role: String {
        case strong = "1"
        case faint = "2"
        case bad = "31"
        case good = "32"
        case doubtful = "33"
        case name = "36"
    }

    static let plain = Palette(isOn: false)

    let isOn: Bool

    /// Returns the text in the colour of its role; control characters in it are escaped.
    func paint(_ text: String, _ role: Role) -> StyledText {
        let safe = TerminalText.safe(text, limit: .max)
        return isOn
            ? StyledText(painted: "\u{1B}[\(role.rawValue)m\(safe)\u{1B}[0m", width: CellWidth.of(safe))
            : StyledText(safe)
    }

    /// Returns the role of what is good, busy or bad; nil when nobody can tell.
    static func role(of meaning: StateMeaning?) -> Role? {
        switch meaning {
        case .good: .good
        case .busy: .doubtful
        case .bad: .bad
        case nil: nil
        }
    }

    /// Returns the role of a piece of an event's line; nil for text without a colour.
    /// - Parameter kind: the kind of the event's source.
    static func role(of piece: EventLine.Piece, kind: String) -> Role? {
        switch piece.role {
        case .plain: nil
        case .time: .faint
        case .source: .name
        case .removed: .bad
        case .added: .good
        case .state(let state): role(ofState: state, kind: kind) ?? .strong
        case .happening(.appeared): .good
        case .happening(.disappeared): .bad
        case .happening(let kind): role(of: kind.meaning) ?? .strong
        }
    }

    /// Returns the role of an item's state; nil when nobody can tell what it means.
    /// - Parameter kind: the kind of its source.
    static func role(ofState state: String, kind: String) -> Role? {
        role(of: KindRegistry.meaning(ofState: state, kind: kind))
    }

    /// Returns pieces of an event's line in their colours.
    func paint(_ pieces: some Sequence<EventLine.Piece>, kind: String) -> StyledText {
        .joined(
            pieces.map { piece in
                let width = CellWidth.of(piece.text)
                guard isOn, let role = Palette.role(of: piece, kind: kind) else {
                    return StyledText(painted: piece.text, width: width)
                }
                return StyledText(painted: "\u{1B}[\(role.rawValue)m\(piece.text)\u{1B}[0m", width: width)
            })
    }

    /// Returns the line that `explain`, `outbox` and `replay` print for an event.
    func line(of event: Event) -> StyledText {
        let now = SystemClock().now().wall
        return paint(EventLine { LocalTime.text($0, now: now) }.pieces(of: event), kind: event.sourceKind)
    }
}
