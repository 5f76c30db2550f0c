// SPDX-License-Identifier: Apache-2.0

/// `if` and `unless`: what the last good snapshot of a source must show, or must not show.
public struct SourceCondition: Sendable {
    /// The source.
    public var source: String
    /// What an item must be, besides `field`.
    public var items: [(name: String, matcher: ValueMatcher)]
    /// The field that is compared.
    public var field: String
    /// What the field must be.
    public var matcher: ValueMatcher
    /// `unless`: whether no item may match.
    public var isExcluded: Bool
    /// Whether a state that it withholds is dropped, as news is; else it waits.
    public var drops: Bool

    /// Creates a condition.
    public init(
        source: String, items: [(name: String, matcher: ValueMatcher)] = [], field: String = "state",
        matcher: ValueMatcher, isExcluded: Bool = false, drops: Bool = false
    ) {
        (self.source, self.items, self.field, self.matcher) = (source, items, field, matcher)
        (self.isExcluded, self.drops) = (isExcluded, drops)
    }

    /// Returns whether the item matches. A pattern that hits its limit counts as no match.
    func matches(_ item: Item) -> Bool {
        do throws(PatternError) {
            for (name, matcher) in items {
                guard let value = item[name], try matcher.matches(value, decimal: item.decimals[name]) else {
                    return false
                }
            }
            guard let value = item[field] else { return false }
            return try matcher.matches(value, decimal: item.decimals[field])
        } catch {
            return false
        }
    }

    /// Why the condition suppresses a message, as `explain` prints it.
    var obstacle: String {
        let which = items.map { "\($0.name) \($0.matcher.description)" }.joined(separator: ", ")
        return (isExcluded ? "unless: an item" : "if: no item") + " of '\(source)'"
            + (which.isEmpty ? "" : " with \(which)") + " has \(field) \(matcher.description)"
    }
}
