// SPDX-License-Identifier: Apache-2.0

/// A rule that matched no event although there was time.
public struct UnmatchedRule: Sendable, Hashable {
    /// The name of the rule.
    public var rule: String
    /// What is known about it, in one sentence.
    public var text: String

    /// Creates a finding.
    public init(rule: String, text: String) { (self.rule, self.text) = (rule, text) }
}
