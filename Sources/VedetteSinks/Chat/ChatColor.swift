// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The colour of a message in a chat: whether the news is good or bad. Each chat renders it in its own way.
enum ChatColor: Sendable, Hashable, CaseIterable {
    case good, bad, warning, neutral

    /// Chooses the colour for a source's event by its kind, and for an item's by the words of its state.
    /// Of several, the worst of their latest states counts.
    init(of event: Event) {
        let parts = event.summary?.parts.latest ?? []
        guard parts.isEmpty else {
            let colors = parts.map { part in
                // The state of a source is the reason why it fails.
                ChatColor(Event.Kind.allCases.first { $0.word == part.kind }, part.key == nil ? nil : part.state)
            }
            self = [.bad, .warning, .neutral].first(where: colors.contains) ?? .good
            return
        }
        self.init(event.summary?.cause ?? event.kind, event.item?.state)
    }

    private init(_ kind: Event.Kind?, _ state: String?) {
        let end = kind == .resolved ? StateMeaning.good : nil
        self.init(kind?.meaning ?? (kind == .disappeared ? nil : state.map(StateMeaning.init(of:)) ?? end))
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
