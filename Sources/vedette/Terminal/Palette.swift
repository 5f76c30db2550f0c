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

    static func role(of health: SourceHealth) -> Role {
        switch health {
        case .ok: .good
        case .failing: .bad
        case .suspect, .retrying: .doubtful
        case .new: .faint
        }
    }

    static func role(of part: EventLine.Part) -> Role {
        switch part {
        case .time: .faint
        case .source: .name
        case .removed: .bad
        case .added: .good
        case .happening(let kind):
            switch kind {
            case .appeared, .recovered, .online: .good
            case .disappeared, .failing, .offline, .paused, .disabled: .bad
            case .stale, .suspect: .doubtful
            default: .strong
            }
        }
    }
}

extension Palette {
    /// Returns the line that `tail`, `show`, `explain` and `replay` print for an event.
    func line(of event: Event) -> StyledText {
        let (palette, now) = (self, SystemClock().now().wall)
        let line = EventLine(
            paint: { text, part in palette.paint(text, Palette.role(of: part)).text },
            time: { LocalTime.text($0, now: now) })
        return StyledText(
            painted: line.text(event), width: CellWidth.of(EventLine { LocalTime.text($0, now: now) }.text(event)))
    }
}
