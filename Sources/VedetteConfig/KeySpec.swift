// SPDX-License-Identifier: Apache-2.0

/// One key of the configuration, as data. The parser accepts no other key; documentation and schema are made from the same
/// rows.
public struct KeySpec: Sendable, Hashable {
    /// The key.
    public var name: String
    /// The type of its value, in words.
    public var type: String
    /// One sentence for the documentation.
    public var summary: String
    /// The default as the documentation has it; nil for none.
    public var documentedDefault: String?
    /// Whether it must be given.
    public var isRequired: Bool
    /// Whether it is reserved for a later version, which is an error of its own.
    public var isPlanned: Bool

    init(
        _ name: String, _ type: String, _ summary: String, default: String? = nil, required: Bool = false,
        planned: Bool = false
    ) {
        (self.name, self.type, self.summary) = (name, type, summary)
        (documentedDefault, isRequired, isPlanned) = (`default`, required, planned)
    }

    static func planned(_ name: String, _ type: String, _ summary: String) -> KeySpec {
        KeySpec(name, type, summary, planned: true)
    }
}
