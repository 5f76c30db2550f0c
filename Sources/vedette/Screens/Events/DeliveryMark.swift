// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What became of the messages about an event, as one character.
enum DeliveryMark: String {
    /// No rule made a message, or each was suppressed.
    case none = " "
    /// A message was sent, or will be.
    case sent = "*"
    /// No message was sent, and none will be: each died.
    case dead = "!"

    /// - Parameter states: the states of the event's deliveries.
    init(_ states: Set<DeliveryState>) {
        if states.contains(where: { $0.isPending || $0 == .sent }) {
            self = .sent
        } else {
            self = states.contains(.dead) ? .dead : .none
        }
    }

    var role: Palette.Role {
        switch self {
        case .none, .sent: .name
        case .dead: .bad
        }
    }
}
