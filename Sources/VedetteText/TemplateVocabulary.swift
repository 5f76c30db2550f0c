// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The names that a template may use. An unknown one is refused when the template is read, since at midnight it would
/// render as nothing.
public struct TemplateVocabulary: Sendable {
    /// The names that are suggested for a wrong one.
    public var known: [String]
    /// Also good, though nobody can list them (`item.X`: any field of an item).
    public var isKnown: @Sendable (String) -> Bool

    public init(_ known: [String], isKnown: @escaping @Sendable (String) -> Bool = { _ in false }) {
        (self.known, self.isKnown) = (known, isKnown)
    }

    /// What the texts of a message may name: the event, its item with any field, and the change.
    public static let message = TemplateVocabulary(TemplateNames.item + TemplateNames.fixed) { $0.hasPrefix("item.") }

    func contains(_ name: String) -> Bool { known.contains(name) || isKnown(name) }
}

/// A text that is not a template.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Of the tag at fault, from 1.
    public var line: Int
    /// From 1, in Unicode scalars, as the columns of YAML count.
    public var column: Int
    /// What is wrong, and the remedy.
    public var detail: String

    public var description: String { "\(line):\(column): \(detail)" }
}
