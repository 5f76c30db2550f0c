// SPDX-License-Identifier: Apache-2.0

/// Which events count together.
public enum Grouping: Sendable, Hashable {
    /// All events of the rule.
    case rule
    /// The events of one item.
    case item
    /// The events of items with the same value of this field.
    case field(String)
}

extension Grouping {
    /// Returns the value that the event is counted under.
    func value(of event: Event) -> String {
        switch self {
        case .rule: ""
        case .item: Subject(event).text
        case .field(let name): event.item?[name].map { IndexedText.bounded($0.description) } ?? ""
        }
    }
}
