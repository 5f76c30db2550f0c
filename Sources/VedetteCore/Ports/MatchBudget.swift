// SPDX-License-Identifier: Apache-2.0

/// The work that the replacements on all texts of one page may take together.
public struct MatchBudget: Sendable {
    /// Steps that are left; what a step is, the pattern knows.
    public var steps: Int

    /// Creates a budget.
    /// - Parameter steps: about a second's work with the patterns of PCRE2.
    public init(steps: Int = 50_000_000) { self.steps = steps }
}
