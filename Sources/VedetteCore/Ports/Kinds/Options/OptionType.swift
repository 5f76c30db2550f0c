// SPDX-License-Identifier: Apache-2.0

/// The type of a value in the configuration.
public indirect enum OptionType: Sendable, Hashable {
    /// Any text.
    case text
    /// One line of text without control characters, as a header holds it.
    case line
    /// An absolute URL with http or https, without a user in it.
    case url
    /// `true` or `false`.
    case flag
    /// A whole number in this range.
    case integer(ClosedRange<Int>)
    /// Any number.
    case number
    /// A duration as `15s`, and the shortest one.
    case duration(atLeast: Duration)
    /// A size in bytes as `500MB`; read as a whole number.
    case size
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
    /// The map `tls:`, as a server has it.
    case tls
    /// A map or list as JSON, in which a plain `true`, `1.5` or `null` is that value and a quoted one a text. A single value
    /// is a text.
    case json
    /// A map with these keys. Of this and the following types only the structure is declared; the part of the configuration
    /// that they belong to reads them.
    case object([OptionSpec])
    /// A value of the first type, or of the second one.
    case either(OptionType, OptionType)
    /// What a value must be, as `to` of a rule has it.
    case matcher
    /// The map of `when`.
    case condition

    /// Any duration.
    public static var duration: OptionType { .duration(atLeast: .zero) }

    /// Returns the type of the cases of an enumeration.
    public static func cases<Choice: RawRepresentable<String> & CaseIterable>(of _: Choice.Type) -> OptionType {
        .choice(Choice.allCases.map(\.rawValue))
    }
}
