// SPDX-License-Identifier: Apache-2.0

/// A small error that was corrected. The document is complete, but its author should know.
public enum DocumentWarning: String, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    case badEncoding = "bytes that do not fit the character encoding were replaced by U+FFFD"
    case windowsBytes = "bytes of windows-1252 in a text that is UTF-8 by name were read as such"
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
