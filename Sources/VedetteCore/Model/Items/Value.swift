// SPDX-License-Identifier: Apache-2.0

/// The value of a field: a text as the server wrote it, or a list of texts.
public enum Value: Sendable, Hashable, ExpressibleByStringLiteral {
    /// One text.
    case text(String)
    /// Several texts.
    case list([String])

    /// Creates a text.
    public init(stringLiteral text: String) { self = .text(text) }

    /// The value as text for templates, comparisons and terminals; a list is joined by `, `.
    public var description: String {
        switch self {
        case .text(let text): text
        case .list(let list): list.joined(separator: ", ")
        }
    }
}
