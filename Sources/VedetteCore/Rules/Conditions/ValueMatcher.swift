// SPDX-License-Identifier: Apache-2.0

/// A test of one value. Values compare as text, as they are written.
public enum ValueMatcher: Sendable {
    /// Equal to one of these.
    case oneOf([String])
    /// Matches a glob as a whole.
    case glob(Glob)
    /// Contains a match of a regular expression; `text` is the expression.
    case regex(any Pattern, text: String)
    /// Contains this text.
    case contains(String)
    /// A number greater than this.
    case above(Double)
    /// A number less than this.
    case below(Double)
    /// Not this. An absent value is not compared.
    indirect case not(ValueMatcher)

    /// Returns whether the value matches. A list matches when one of its elements does, or all of them joined by `, `.
    /// - Parameter sign: the decimal sign of its field; see `Item.decimals`.
    /// - Throws: when a regular expression hits its match limit.
    public func matches(_ value: Value, decimal sign: Character? = nil) throws(PatternError) -> Bool {
        if case .not(let part) = self { return try !part.matches(value, decimal: sign) }
        switch value {
        case .text(let text): return try matches(text, sign)
        case .list(let list):
            for text in list where try matches(text, sign) { return true }
            return try matches(value.description, sign)
        }
    }

    private func matches(_ text: String, _ sign: Character?) throws(PatternError) -> Bool {
        switch self {
        case .oneOf(let values): values.contains(text)
        case .glob(let glob): glob.matches(text)
        case .regex(let pattern, _): try pattern.matches(text)
        case .contains(let part): text.contains(part)
        case .above(let bound): WrittenNumber.read(.text(text), decimal: sign).map { $0 > bound } ?? false
        case .below(let bound): WrittenNumber.read(.text(text), decimal: sign).map { $0 < bound } ?? false
        case .not(let part): try !part.matches(text, sign)
        }
    }

    /// The test as `explain` prints it.
    public var description: String {
        switch self {
        case .oneOf(let values): values.map { "'\($0)'" }.joined(separator: " or ")
        case .glob(let glob): "glob '\(glob.text)'"
        case .regex(_, let text): "regex '\(text)'"
        case .contains(let part): "contains '\(part)'"
        case .above(let bound): "above \(bound)"
        case .below(let bound): "below \(bound)"
        case .not(let part): "not \(part.description)"
        }
    }
}
