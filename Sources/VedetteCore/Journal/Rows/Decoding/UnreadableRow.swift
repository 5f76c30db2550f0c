// SPDX-License-Identifier: Apache-2.0

/// A row that holds what no Vedette writes: its journal is damaged.
public struct UnreadableRow: Error, Hashable {
    /// What is unreadable, without the place of the journal.
    public var text: String

    /// - Parameter text: what is unreadable.
    public init(_ text: String) { self.text = text }

    /// - Parameter column: the number of a column that has no value or one of another type, from 0.
    public init(column: Int) { text = "column \(column + 1) of a row is unreadable" }
}
