// SPDX-License-Identifier: Apache-2.0

/// A user's regular expression, compiled.
public protocol Pattern: Sendable {
    /// The expression as it is written.
    var source: String { get }
    /// Returns whether a match is anywhere in `text`.
    /// - Throws: when the match limit is hit; whether the text matches is then unknown.
    func matches(_ text: String) throws(PatternError) -> Bool
    /// The names of its groups, in the order of the groups.
    var groupNames: [String] { get }
    /// Returns for each text the named groups of its first match that took part in it; nil where there is no match.
    /// - Throws: when the match limit, which all texts share, is hit.
    func groups(inEach texts: [String]) throws(PatternError) -> [[String: String]?]
    /// Returns the text with each match replaced. `$1`, `$name` and `${name}` stand for what a group matched, `$$` for `$`.
    /// - Throws: when the budget is used up, or the text grows beyond measure.
    func replacing(
        in text: String, with replacement: String, _ budget: inout MatchBudget
    ) throws(PatternError) -> String
    /// Throws what is wrong with a replacement.
    func check(replacement: String) throws(PatternError)
}

extension Pattern {
    /// Nothing.
    public var source: String { "" }
    /// No names.
    public var groupNames: [String] { [] }
    /// Returns no group of any match.
    public func groups(inEach texts: [String]) throws(PatternError) -> [[String: String]?] {
        var found: [[String: String]?] = []
        for text in texts { found.append(try matches(text) ? [:] : nil) }
        return found
    }
    /// Returns the text as it is.
    public func replacing(
        in text: String, with replacement: String, _ budget: inout MatchBudget
    ) throws(PatternError) -> String { text }
    /// Accepts any replacement.
    public func check(replacement: String) throws(PatternError) {}
}
