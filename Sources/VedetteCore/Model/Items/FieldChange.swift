// SPDX-License-Identifier: Apache-2.0

/// One difference of one field between two good observations of an item; nil means absent.
public struct FieldChange: Sendable, Hashable {
    /// The field's name.
    public var field: String
    /// The value in the last good observation.
    public var from: Value?
    /// The value now.
    public var to: Value?
    /// Seconds for which the item had `from`; nil when unknown.
    public var lasted: Double?

    /// Creates a change.
    public init(field: String, from: Value?, to: Value?, lasted: Double? = nil) {
        (self.field, self.from, self.to, self.lasted) = (field, from, to, lasted)
    }
}
