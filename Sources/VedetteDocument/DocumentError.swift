// SPDX-License-Identifier: Apache-2.0

/// The reason why a document could not be read. Nothing of it may be used: a cut or broken document is a failed poll, never a
/// shorter list.
public struct DocumentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The class of the error, for counters and for the reason of a failed poll.
    public enum Kind: String, Sendable, CaseIterable {
        /// No bytes, or white space alone.
        case empty
        /// The document ends before its root is closed.
        case truncated
        /// The document breaks the grammar of its format.
        case syntax
        /// Nested deeper than the limit.
        case tooDeep = "too deep"
        /// Beyond a limit on rows, elements, attributes or text.
        case tooLarge = "too large"
        /// Well-formed, but not of the shape that was configured.
        case wrongShape = "wrong shape"
        /// Another format than the one asked for: a login page instead of JSON.
        case wrongType = "wrong type"
        /// Declares entities or default attributes, which are refused.
        case entityDeclared = "entity declared"
        /// Has a character encoding that is unknown or does not fit the bytes.
        case encoding
    }

    public let kind: Kind
    /// One clear sentence without the place.
    public let reason: String
    /// The place in the document in bytes from 0; nil when unknown.
    public let offset: Int?

    public init(_ kind: Kind, _ reason: String, offset: Int? = nil) {
        self.kind = kind
        self.reason = reason
        self.offset = offset
    }

    public var description: String {
        // A document that is wrong from its first byte is wrong as a whole.
        guard let offset, offset > 0 else { return reason }
        return "\(reason) (byte \(offset))"
    }
}

/// A small error that was corrected. The document is complete, but its author should know.
public enum DocumentWarning: String, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    case badEncoding = "bytes that do not fit the character encoding were replaced by U+FFFD"
    case loneSurrogate = "half a surrogate pair was replaced by U+FFFD"
    case controlCharacters = "control characters were removed"
    case bareAmpersand = "an '&' that begins no reference was read as text"
    case htmlEntity = "HTML entities that XML does not define were read as their characters"
    case charset = "the character encoding that was named does not fit; another was taken"
    case leadingSpace = "white space before the XML declaration was skipped"
    case leadingText = "text before the XML declaration was skipped"
    case trailingContent = "text after the root element was ignored"
    case namespace = "a namespace prefix is not declared"
    case duplicateAttribute = "attributes that were given twice were read once"
    case markup = "markup that is not well-formed was mended"

    public var description: String { rawValue }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
