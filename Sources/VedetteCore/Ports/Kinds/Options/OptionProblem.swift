// SPDX-License-Identifier: Apache-2.0

/// An option that a kind refuses. The configuration adds file, line and column.
public struct OptionProblem: Error, Sendable, Hashable {
    /// The option, then keys or elements inside it: `["codes", "RM01901"]`, `["items"]`.
    public var path: [String]
    /// What is wrong and the remedy, as the end of `file:line:column: `.
    public var detail: String

    /// Creates a problem.
    public init(_ path: String..., detail: String) { (self.path, self.detail) = (path, detail) }
}
