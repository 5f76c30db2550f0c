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

    /// The reason for a page that a person would see, where XML was asked for.
    static let pageInsteadOfXML =
        "XML was expected, but the response is an HTML page (a login page?)"

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
