// SPDX-License-Identifier: Apache-2.0

/// A compiled regular expression of a user.
public protocol Pattern: Sendable {
    /// Whether it is found anywhere in `text`. Throws when the match limit is hit: that is an error to show, not "no match".
    func matches(_ text: String) throws(PatternError) -> Bool
}

public struct PatternError: Error, Sendable, Hashable {
    public var detail: String
    /// Of a compile error: the offset in the pattern, in characters.
    public var offset: Int?

    public init(_ detail: String, offset: Int? = nil) { (self.detail, self.offset) = (detail, offset) }
}

/// A compiled text of a message.
public protocol Template: Sendable {
    func render(_ context: TemplateContext) -> String
}

/// What a template can name: dotted names to values. An unknown name was refused at compile time; a known one without
/// a value renders as nothing.
public struct TemplateContext: Sendable {
    private let lookUp: @Sendable (String) -> Value?

    public init(lookUp: @escaping @Sendable (String) -> Value?) { self.lookUp = lookUp }

    public subscript(name: String) -> Value? { lookUp(name) }
}
