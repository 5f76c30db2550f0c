// SPDX-License-Identifier: Apache-2.0

/// The type of an option's value.
public indirect enum OptionType: Sendable, Hashable {
    /// Any text.
    case text
    /// `true` or `false`.
    case flag
    /// A whole number in this range.
    case integer(ClosedRange<Int>)
    /// A duration as `15s`.
    case duration
    /// One of these words.
    case choice([String])
    /// A secret: a literal only in a private file, else `env`, `file`, `credential` or `command`.
    case secret
    /// A literal in any file, or a secret: an address that may contain a token.
    case textOrSecret
    /// One value, or a list of them; read as a list.
    case oneOrMany(OptionType)
    /// A list.
    case list(OptionType)
    /// A map with names of the user's choice.
    case map(OptionType)
    /// A regular expression, compiled.
    case pattern
    /// A template whose names are validated.
    case template
    /// A template; or a map or list of templates, in which a plain `true`, `1.5` or `null` is that JSON value. Read as maps
    /// and lists of `.template` and `.json`.
    case body
    /// Request headers: name to text or secret.
    case headers
    /// The map `tls:`, as that of a server.
    case tls
    /// A map or list as JSON, in which a plain `true`, `1.5` or `null` is that value and a quoted one a text. A single value
    /// is a text.
    case json
}
