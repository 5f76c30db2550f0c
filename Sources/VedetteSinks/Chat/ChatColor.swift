// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The colour of a message in a chat: whether the news is good or bad. Each chat renders it in its own way.
enum ChatColor: Sendable, Hashable, CaseIterable {
    case good, bad, warning, neutral

    /// Chooses the colour for a source's event by its kind, and for an item's by the words of its state.
    init(of event: Event) {
        let kind = event.summary?.cause ?? event.kind
        self.init(kind.meaning ?? (kind == .disappeared ? nil : event.item?.state.flatMap(StateMeaning.init(of:))))
    }

    init(_ meaning: StateMeaning?) {
        switch meaning {
        case .good: self = .good
        case .busy: self = .warning
        case .bad: self = .bad
        case nil: self = .neutral
        }
    }

    var rgb: Int {
        switch self {
        case .good: 0x2E_A043
        case .bad: 0xD1_242F
        case .warning: 0xD4_A72C
        case .neutral: 0x57_606A
        }
    }

    /// `#2ea043`
    var hex: String {
        let digits = String(rgb, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
