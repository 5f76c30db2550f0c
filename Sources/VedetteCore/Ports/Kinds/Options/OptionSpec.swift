// SPDX-License-Identifier: Apache-2.0

/// One key of the configuration, as data: its reading, suggestions, documentation and the schema all come from it.
public struct OptionSpec: Sendable, Hashable {
    /// The key.
    public var name: String
    /// The type of the value.
    public var type: OptionType
    /// One sentence for the documentation.
    public var summary: String
    /// Whether it must be given.
    public var isRequired: Bool
    /// The default as the documentation has it; nil for none. A kind applies its own.
    public var documentedDefault: String?
    /// Whether the default is no value, but words about what applies without the key.
    public var isDefaultInWords: Bool

    /// Creates a specification.
    /// - Parameters:
    ///   - default: as a file of the configuration has it.
    ///   - otherwise: what applies without the key, in words.
    public init(
        _ name: String, _ type: OptionType, _ summary: String, required: Bool = false, default: String? = nil,
        otherwise: String? = nil
    ) {
        (self.name, self.type, self.summary, isRequired) = (name, type, summary, required)
        (documentedDefault, isDefaultInWords) = (`default` ?? otherwise, otherwise != nil)
    }
}
