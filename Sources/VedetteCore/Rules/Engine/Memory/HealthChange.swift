// SPDX-License-Identifier: Apache-2.0

/// How a source's health changed, as far as messages about sources of one server are grouped.
enum HealthChange: String {
    case failing, stale, recovered

    init?(_ event: Event) {
        // The end of a match about a source.
        let isEnd = event.kind == .resolved && event.item == nil && event.error != nil
        self.init(isEnd ? .recovered : event.kind)
    }

    init?(_ kind: Event.Kind) {
        switch kind {
        case .failing: self = .failing
        case .stale: self = .stale
        case .recovered: self = .recovered
        default: return nil
        }
    }

    /// Whether one of them takes back the other.
    func contradicts(_ other: HealthChange) -> Bool { (self == .recovered) != (other == .recovered) }
}
