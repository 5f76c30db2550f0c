// SPDX-License-Identifier: Apache-2.0

/// A user's template for a title or text, compiled.
public protocol Template: Sendable {
    /// Returns the text for these values.
    func render(_ context: TemplateContext) -> String
    /// The names that it uses.
    var names: Set<String> { get }
}

/// The values of dotted template names. An unknown name is refused at compile time; a known one without a value renders as
/// nothing.
public struct TemplateContext: Sendable {
    private let lookUp: @Sendable (String) -> Value?

    /// Creates a context.
    public init(lookUp: @escaping @Sendable (String) -> Value?) { self.lookUp = lookUp }

    /// The value of a name; nil for none.
    public subscript(name: String) -> Value? { lookUp(name) }
}
