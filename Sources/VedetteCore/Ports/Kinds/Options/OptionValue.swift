// SPDX-License-Identifier: Apache-2.0

/// The value of an option; the cases are those of `OptionType`.
public indirect enum OptionValue: Sendable {
    /// `text`, `choice` and a literal `textOrSecret`.
    case text(String)
    /// `flag`.
    case flag(Bool)
    /// `integer`.
    case integer(Int)
    /// `duration`.
    case duration(Duration)
    /// `secret` and `textOrSecret`.
    case secret(Secret)
    /// `list`, `oneOrMany` and `body`.
    case list([OptionValue])
    /// `map` and `body`, in the order in which it is written.
    case map([(name: String, value: OptionValue)])
    /// `pattern`.
    case pattern(any Pattern)
    /// `template` and `body`.
    case template(any Template)
    /// `headers`.
    case headers([Header])
    /// `tls`.
    case tls(TLSPolicy)
    /// `json` and `body`.
    case json(JSON)
}
