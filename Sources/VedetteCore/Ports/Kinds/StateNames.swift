// SPDX-License-Identifier: Apache-2.0

/// The states that the items of a source can have, for the validation of rules.
public struct StateNames: Sendable {
    /// The states with a name.
    public var known: [String]
    /// Accepts further states that cannot be listed; nil when there are none.
    public var isOther: (@Sendable (String) -> Bool)?

    /// Creates the states of a kind; none for a kind whose items have no state.
    public init(_ known: [String] = [], isOther: (@Sendable (String) -> Bool)? = nil) {
        (self.known, self.isOther) = (known, isOther)
    }

    /// Whether the items have no state at all.
    public var isNone: Bool { known.isEmpty && isOther == nil }
    /// Whether there are no states but the known ones.
    public var isClosed: Bool { isOther == nil }
    /// Returns whether an item can have that state.
    public func contains(_ state: String) -> Bool { known.contains(state) || isOther?(state) == true }
}
