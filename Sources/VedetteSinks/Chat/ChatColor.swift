// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The colour of a message in a chat: whether the news is good or bad. Each chat renders it in its own way.
enum ChatColor: Sendable, Hashable, CaseIterable {
    case good, bad, warning, neutral

    /// Chooses the colour for a source's event by its kind, and for an item's by the words of its state.
    init(of event: Event) {
        switch event.summary?.cause ?? event.kind {
        case .recovered, .online, .equal: self = .good
        case .failing, .offline, .unequal, .paused, .disabled: self = .bad
        case .stale, .suspect: self = .warning
        case .disappeared: self = .neutral
        default: self = event.item?.state.map(Self.init(ofState:)) ?? .neutral
        }
    }

    private static let words: [(color: ChatColor, stems: [String])] = [
        (.bad, ["fail", "error", "down", "broken", "crash", "dead", "critical", "denied", "abort", "unhealthy"]),
        (.warning, ["warn", "degraded", "stale", "cancel", "timeout", "timed", "unknown", "expir"]),
        (.good, ["success", "ready", "started", "running", "healthy", "passed", "resolved", "complete", "active"]),
    ]

    /// Classifies a state by the stems of English words at the start of a word, the worst first: `completed/failure` is bad.
    init(ofState state: String) {
        let words = state.prefix(200).lowercased().split { !$0.isLetter }
        self =
            Self.words.first { row in row.stems.contains { stem in words.contains { $0.hasPrefix(stem) } } }?.color
            ?? (words.contains { ["up", "ok"].contains($0) } ? .good : .neutral)
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
