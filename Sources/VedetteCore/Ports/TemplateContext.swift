// SPDX-License-Identifier: Apache-2.0

/// The values of dotted template names. An unknown name is refused at compile time; a known one without a value renders as
/// nothing.
public struct TemplateContext: Sendable {
    private let lookUp: @Sendable (String) -> Value?

    /// Creates a context.
    public init(lookUp: @escaping @Sendable (String) -> Value?) { self.lookUp = lookUp }

    /// The value of a name; nil for none.
    public subscript(name: String) -> Value? { lookUp(name) }
}
