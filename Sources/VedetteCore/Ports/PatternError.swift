// SPDX-License-Identifier: Apache-2.0

/// A pattern that cannot be compiled or matched.
public struct PatternError: Error, Sendable, Hashable {
    /// What is wrong, in one sentence.
    public var detail: String
    /// The offset of a compile error in the pattern, in characters.
    public var offset: Int?

    /// Creates an error.
    public init(_ detail: String, offset: Int? = nil) { (self.detail, self.offset) = (detail, offset) }
}
