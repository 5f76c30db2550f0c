// SPDX-License-Identifier: Apache-2.0

/// A user's template for a title or text, compiled.
public protocol Template: Sendable {
    /// Returns the text for these values.
    func render(_ context: TemplateContext) -> String
    /// The names that it uses.
    var names: Set<String> { get }
}
