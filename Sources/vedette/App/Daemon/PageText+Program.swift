// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedettePage
import VedetteSinks

extension PageText {
    /// The words and times that the commands print.
    static let program = PageText(
        clock: { LocalTime.text($0, now: $1) }, localized: { LocalTime.localized($0, now: $1) },
        happening: { event in
            EventLine.happening(of: event).map { Piece($0.text, tone(of: $0, kind: event.sourceKind)) }
        },
        meaning: { KindRegistry.meaning(ofState: $0, kind: $1) }, outcome: { DeliverySentence($0, now: $1).parts })

    private static func tone(of piece: EventLine.Piece, kind: String) -> Tone? {
        switch Palette.role(of: piece, kind: kind) {
        case .good: piece.role == .added ? .added : .good
        case .doubtful: .busy
        case .bad: piece.role == .removed ? .removed : .bad
        case .strong: .strong
        default: nil
        }
    }
}
