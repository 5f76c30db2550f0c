// SPDX-License-Identifier: Apache-2.0

/// The value of an option, with the cases of `OptionType`.
public indirect enum OptionValue: Sendable {
    /// `text`, `line`, `url`, `choice` and a literal `textOrSecret`.
    case text(String)
    /// `flag`.
    case flag(Bool)
    /// `integer` and `size`.
    case integer(Int)
    /// `number`.
    case decimal(Double)
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
    /// `body`: a value that is to be a number.
    case number(any Template)
    /// `headers`.
    case headers([Header])
    /// `tls`.
    case tls(TLSPolicy)
    /// `json` and `body`.
    case json(JSON)
}

extension OptionValue {
    /// The secrets in it.
    var secrets: [Secret] {
        switch self {
        case .secret(let secret): [secret]
        case .list(let values): values.flatMap(\.secrets)
        case .map(let pairs): pairs.flatMap(\.value.secrets)
        case .headers(let headers):
            headers.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
        case .text, .flag, .integer, .decimal, .duration, .pattern, .template, .number, .tls, .json: []
        }
    }
}
