// SPDX-License-Identifier: Apache-2.0

/// The values of dotted template names. An unknown name is refused at compile time; a known one without a value renders as
/// nothing.
public struct TemplateContext: Sendable {
    private let lookUp: @Sendable (String) -> Value?
    /// Escapes the text of a value where a template shows it.
    public let escape: @Sendable (String) -> String

    /// Creates a context that shows values as they are.
    public init(lookUp: @escaping @Sendable (String) -> Value?) { self.init(lookUp, escape: { $0 }) }

    private init(_ lookUp: @escaping @Sendable (String) -> Value?, escape: @escaping @Sendable (String) -> String) {
        (self.lookUp, self.escape) = (lookUp, escape)
    }

    /// Returns the same values with another escape. It gets a value as it is shown: a list is one text, whose commas are escaped
    /// like the rest.
    public func escaped(_ escape: @escaping @Sendable (String) -> String) -> TemplateContext {
        TemplateContext(lookUp, escape: escape)
    }

    /// The value of a name; nil for none.
    public subscript(name: String) -> Value? { lookUp(name) }
}
