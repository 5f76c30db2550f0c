// SPDX-License-Identifier: Apache-2.0

/// How a source's health changed, as far as messages about sources of one server are grouped.
enum HealthChange: String {
    case failing, stale, recovered

    init?(_ event: Event) {
        switch event.kind {
        case .failing: self = .failing
        case .stale: self = .stale
        case .recovered: self = .recovered
        // The end of a match about a source.
        case .resolved where event.item == nil && event.error != nil: self = .recovered
        default: return nil
        }
    }

    /// Whether one of them takes back the other.
    func contradicts(_ other: HealthChange) -> Bool { (self == .recovered) != (other == .recovered) }
}
