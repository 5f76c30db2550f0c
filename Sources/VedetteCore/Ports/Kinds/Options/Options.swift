// SPDX-License-Identifier: Apache-2.0

/// The options of one source or sink, validated against the kind's specifications.
public struct Options: OptionValues, Sendable {
    private var values: [String: OptionValue]
    /// How the source reads records that its server pushes; nil for a source that is only polled.
    public let stream: StreamSettings?
    /// What the source changes in texts before they are compared.
    public var filter: TextFilter

    /// Creates options.
    public init(
        _ values: [String: OptionValue] = [:], stream: StreamSettings? = nil, filter: TextFilter = TextFilter()
    ) {
        (self.values, self.stream, self.filter) = (values, stream, filter)
    }

    /// The secrets among all values.
    public var secrets: [Secret] { values.values.flatMap(\.secrets) }

    /// The value of an option; nil when it is not given.
    public subscript(name: String) -> OptionValue? { values[name] }

    /// Returns the options without the one that a problem is about, or without the entry that its path names in a map or by
    /// its text in a list; nil where there is no such option.
    public func without(_ problem: OptionProblem) -> Options? {
        guard let name = problem.path.first, let value = values[name] else { return nil }
        var rest = self
        rest.values[name] = problem.path.count == 2 ? value.without(problem.path[1]) : nil
        return rest
    }
}

/// Values of options, by their names.
public protocol OptionValues {
    /// The value of an option; nil when it is not given.
    subscript(name: String) -> OptionValue? { get }
}

extension OptionValues {
    /// Returns the text of an option; nil when it is not given.
    public func text(_ name: String) -> String? {
        if case .text(let text) = self[name] { text } else { nil }
    }

    /// Returns the flag of an option; nil when it is not given.
    public func flag(_ name: String) -> Bool? {
        if case .flag(let flag) = self[name] { flag } else { nil }
    }

    /// Returns the number of an option; nil when it is not given.
    public func integer(_ name: String) -> Int? {
        if case .integer(let integer) = self[name] { integer } else { nil }
    }

    /// Returns the number of an option, whole or not; nil when it is not given.
    public func number(_ name: String) -> Double? {
        if case .decimal(let number) = self[name] { number } else { nil }
    }

    /// Returns the case of an enumeration that an option names; nil when it is not given.
    public func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        text(name).flatMap(Choice.init(rawValue:))
    }

    /// Returns the duration of an option; nil when it is not given.
    public func duration(_ name: String) -> Duration? {
        if case .duration(let duration) = self[name] { duration } else { nil }
    }

    /// Returns the secret of an option; nil when it is not given.
    public func secret(_ name: String) -> Secret? {
        if case .secret(let secret) = self[name] { secret } else { nil }
    }

    /// Returns the pattern of an option; nil when it is not given.
    public func pattern(_ name: String) -> (any Pattern)? {
        if case .pattern(let pattern) = self[name] { pattern } else { nil }
    }

    /// Returns the template of an option; nil when it is not given.
    public func template(_ name: String) -> (any Template)? {
        if case .template(let template) = self[name] { template } else { nil }
    }

    /// Returns the JSON value of an option; nil when it is not given.
    public func json(_ name: String) -> JSON? {
        if case .json(let json) = self[name] { json } else { nil }
    }

    /// Returns the headers of an option; none when it is not given.
    public func headers(_ name: String) -> [Header] {
        if case .headers(let headers) = self[name] { headers } else { [] }
    }

    /// Returns the TLS policy of an option; the usual one when it is not given.
    public func tls(_ name: String) -> TLSPolicy {
        if case .tls(let policy) = self[name] { policy } else { TLSPolicy() }
    }

    /// Returns the texts of a list; none when it is not given.
    public func texts(_ name: String) -> [String] {
        guard case .list(let list) = self[name] else { return [] }
        return list.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// Returns a map of texts or of lists of texts, in the order in which it is written.
    public func lists(_ name: String) -> [(name: String, values: [String])] {
        guard case .map(let map) = self[name] else { return [] }
        return map.map { entry in (entry.name, Options(["": entry.value]).texts("")) }
    }

    /// Returns a map of texts, in the order in which it is written.
    public func map(_ name: String) -> [(name: String, value: String)] {
        guard case .map(let map) = self[name] else { return [] }
        return map.compactMap { entry in
            if case .text(let text) = entry.value { (entry.name, text) } else { nil }
        }
    }
}
