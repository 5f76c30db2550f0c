// SPDX-License-Identifier: Apache-2.0

/// One option of a kind, as data: validation, suggestions, documentation and the schema all come from it.
public struct OptionSpec: Sendable {
    /// The key in the configuration.
    public var name: String
    /// The type of the value.
    public var type: OptionType
    /// One sentence for the documentation.
    public var summary: String
    /// Whether it must be given.
    public var isRequired: Bool
    /// The default as the documentation has it; nil for none. The kind itself applies it.
    public var documentedDefault: String?

    /// Creates a specification.
    public init(
        _ name: String, _ type: OptionType, _ summary: String, required: Bool = false, default: String? = nil
    ) {
        (self.name, self.type, self.summary) = (name, type, summary)
        (isRequired, documentedDefault) = (required, `default`)
    }
}
