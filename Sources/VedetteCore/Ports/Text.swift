// SPDX-License-Identifier: Apache-2.0

/// A user's regular expression, compiled.
public protocol Pattern: Sendable {
    /// Returns whether a match is anywhere in `text`.
    /// - Throws: when the match limit is hit; whether the text matches is then unknown.
    func matches(_ text: String) throws(PatternError) -> Bool
}

/// A pattern that cannot be compiled or matched.
public struct PatternError: Error, Sendable, Hashable {
    /// What is wrong, in one sentence.
    public var detail: String
    /// The offset of a compile error in the pattern, in characters.
    public var offset: Int?

    /// Creates an error.
    public init(_ detail: String, offset: Int? = nil) { (self.detail, self.offset) = (detail, offset) }
}

/// A user's template for a title or text, compiled.
public protocol Template: Sendable {
    /// Returns the text for these values.
    func render(_ context: TemplateContext) -> String
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
