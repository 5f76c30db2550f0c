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

    /// Returns a map without an entry, or a list without a text; nil where nothing is left, and for another value. A list
    /// keeps its numbers: it is no list without the element of a number.
    func without(_ entry: String) -> OptionValue? {
        switch self {
        case .map(let pairs):
            let rest = pairs.filter { $0.name != entry }
            return rest.isEmpty || rest.count == pairs.count ? nil : .map(rest)
        case .list(let values):
            let rest = values.filter { if case .text(entry) = $0 { false } else { true } }
            return rest.isEmpty || rest.count == values.count ? nil : .list(rest)
        default: return nil
        }
    }
}
