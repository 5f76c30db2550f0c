// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The names that a template may use. An unknown name is refused when the template is read, because a message would silently
/// lack it.
public struct TemplateVocabulary: Sendable {
    /// The names that are suggested for a wrong one.
    public var known: [String]
    /// Accepts further names that cannot be listed (`item.X`: any field of an item).
    public var isKnown: @Sendable (String) -> Bool

    public init(_ known: [String], isKnown: @escaping @Sendable (String) -> Bool = { _ in false }) {
        (self.known, self.isKnown) = (known, isKnown)
    }

    /// The names for the texts of a message: the event, its item with any field, and the change.
    public static let message = TemplateVocabulary(TemplateNames.item + TemplateNames.fixed) { $0.hasPrefix("item.") }

    func contains(_ name: String) -> Bool { known.contains(name) || isKnown(name) }
}

/// An error in the text of a template.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the wrong tag, from 1.
    public var line: Int
    /// The column from 1, in Unicode scalars, as the columns of YAML count.
    public var column: Int
    /// The error and the remedy.
    public var detail: String

    public var description: String { "\(line):\(column): \(detail)" }
}
