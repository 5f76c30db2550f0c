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
    /// When and why the key goes; nil for one that stays.
    public var deprecation: Deprecation?

    /// Creates a specification.
    /// - Parameters:
    ///   - default: as a file of the configuration has it.
    ///   - otherwise: what applies without the key, in words.
    ///   - deprecated: when and why the key goes.
    public init(
        _ name: String, _ type: OptionType, _ summary: String, required: Bool = false, default: String? = nil,
        otherwise: String? = nil, deprecated: Deprecation? = nil
    ) {
        (self.name, self.type, self.summary, isRequired) = (name, type, summary, required)
        (documentedDefault, isDefaultInWords) = (`default` ?? otherwise, otherwise != nil)
        deprecation = deprecated
    }

    /// The end of a key that still works: `check` warns of it until the version that removes it.
    public struct Deprecation: Sendable, Hashable {
        /// The version that began to warn.
        public var since: String
        /// The version without the key.
        public var goes: String
        /// What to write instead, as the end of a sentence: `write 'select'`.
        public var remedy: String

        /// Creates a deprecation.
        public init(since: String, goes: String, remedy: String) {
            (self.since, self.goes, self.remedy) = (since, goes, remedy)
        }

        /// What `check` and the schema say of the key.
        public func sentence(_ key: String) -> String {
            "'\(key)' is deprecated since \(since) and goes with \(goes); \(remedy)"
        }
    }
}
