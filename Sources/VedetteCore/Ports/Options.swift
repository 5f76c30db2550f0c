// SPDX-License-Identifier: Apache-2.0

/// One option of a kind, as data: validation, suggestions, documentation and the schema all come from it.
public struct OptionSpec: Sendable {
    public var name: String
    public var type: OptionType
    /// One sentence for the documentation.
    public var summary: String
    public var isRequired: Bool
    /// As it is written in the documentation; nil when absence has no stand-in.
    public var standard: String?

    public init(
        _ name: String, _ type: OptionType, _ summary: String, required: Bool = false, standard: String? = nil
    ) {
        (self.name, self.type, self.summary) = (name, type, summary)
        (isRequired, self.standard) = (required, standard)
    }
}

public indirect enum OptionType: Sendable, Hashable {
    case text
    case flag
    case integer(ClosedRange<Int>)
    case duration
    case choice([String])
    /// May be a literal only in a private file; else `env`, `file`, `credential` or `command`.
    case secret
    /// A literal anywhere, or a secret: an address that may hold a token.
    case textOrSecret
    /// One, or a list of them; read as a list.
    case oneOrMany(OptionType)
    case list(OptionType)
    /// Names of the user's choice.
    case map(OptionType)
    /// A template whose names are checked.
    case template
    /// A template; or a map or list, whose texts are templates and whose plain `true`, `1.5` and `null` are that:
    /// maps and lists of `.template` and `.json`.
    case body
    /// Request headers: name to text or secret.
    case headers
    /// The map `tls:` of a server: how its certificate is judged, and which one it is shown.
    case tls
    /// A map or list as the JSON value that it stands for: a plain `true`, `1.5` or `null` is that, a quoted one a text.
    /// A single value is a text.
    case json
}

public indirect enum OptionValue: Sendable {
    case text(String)
    case flag(Bool)
    case integer(Int)
    case duration(Duration)
    case secret(Secret)
    case list([OptionValue])
    case map([(name: String, value: OptionValue)])
    case template(any Template)
    case headers([Header])
    case tls(TLSPolicy)
    case json(JSON)
}

/// The options of one source or sink, already checked against the kind's specifications.
public struct Options: Sendable {
    private let values: [String: OptionValue]

    public init(_ values: [String: OptionValue] = [:]) { self.values = values }

    public subscript(name: String) -> OptionValue? { values[name] }

    public func text(_ name: String) -> String? {
        if case .text(let text) = values[name] { text } else { nil }
    }

    public func flag(_ name: String) -> Bool? {
        if case .flag(let flag) = values[name] { flag } else { nil }
    }

    public func integer(_ name: String) -> Int? {
        if case .integer(let integer) = values[name] { integer } else { nil }
    }

    public func duration(_ name: String) -> Duration? {
        if case .duration(let duration) = values[name] { duration } else { nil }
    }

    public func secret(_ name: String) -> Secret? {
        if case .secret(let secret) = values[name] { secret } else { nil }
    }

    public func template(_ name: String) -> (any Template)? {
        if case .template(let template) = values[name] { template } else { nil }
    }

    public func json(_ name: String) -> JSON? {
        if case .json(let json) = values[name] { json } else { nil }
    }

    public func headers(_ name: String) -> [Header] {
        if case .headers(let headers) = values[name] { headers } else { [] }
    }

    /// The usual judgement where nothing is said.
    public func tls(_ name: String) -> TLSPolicy {
        if case .tls(let policy) = values[name] { policy } else { TLSPolicy() }
    }

    public func texts(_ name: String) -> [String] {
        guard case .list(let list) = values[name] else { return [] }
        return list.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// A map of texts or of lists of texts, in the order in which it was written.
    public func lists(_ name: String) -> [(name: String, values: [String])] {
        guard case .map(let map) = values[name] else { return [] }
        return map.map { entry in (entry.name, Options(["": entry.value]).texts("")) }
    }

    /// A map of texts, in the order in which it was written.
    public func map(_ name: String) -> [(name: String, value: String)] {
        guard case .map(let map) = values[name] else { return [] }
        return map.compactMap { entry in
            if case .text(let text) = entry.value { (entry.name, text) } else { nil }
        }
    }
}

/// An option whose value a kind refuses; the configuration adds file, line and column.
public struct OptionProblem: Error, Sendable, Hashable {
    /// The option, and inside a map or list the place in it: `["codes", "RM01901"]`, `["items"]`.
    public var path: [String]
    /// What is wrong and the remedy, as the end of `file:line:column: `.
    public var detail: String

    public init(_ path: String..., detail: String) { (self.path, self.detail) = (path, detail) }
}

/// A row of the table of source kinds.
public struct SourceKindEntry: Sendable {
    public var name: String
    public var summary: String
    public var options: [OptionSpec]
    /// `every` when the source says none.
    public var every: Duration
    public var make: @Sendable (Options) throws(OptionProblem) -> any SourceKind

    public init(
        name: String, summary: String, options: [OptionSpec], every: Duration = .seconds(60),
        make: @escaping @Sendable (Options) throws(OptionProblem) -> any SourceKind
    ) {
        (self.name, self.summary, self.options, self.every, self.make) = (name, summary, options, every, make)
    }
}

/// What a sink is given to work with.
public struct SinkServices: Sendable {
    public var fetcher: any Fetcher
    public var clock: any Clock
    /// The User-Agent of this program.
    public var userAgent: String
    /// For sinks with buttons; nil where no watcher lives to heed it, as for a single test message.
    public var silencer: (any Silencer)?
    /// For mail; nil where there is none, as in tests of other sinks.
    public var mail: (any MailCarrier)?

    public init(
        fetcher: any Fetcher, clock: any Clock, userAgent: String, silencer: (any Silencer)? = nil,
        mail: (any MailCarrier)? = nil
    ) {
        (self.fetcher, self.clock, self.userAgent) = (fetcher, clock, userAgent)
        (self.silencer, self.mail) = (silencer, mail)
    }
}

/// A row of the table of sink kinds.
public struct SinkKindEntry: Sendable {
    public typealias Factory = @Sendable (_ name: String, SinkServices) -> any Sink

    public var name: String
    public var summary: String
    public var options: [OptionSpec]
    /// Whether it shows a message's title and text; else it passes on the event itself, and a rule may write none for it.
    public var showsTexts: Bool
    /// Judges the options; what it returns makes the sink when the watcher starts.
    public var make: @Sendable (Options) throws(OptionProblem) -> Factory

    public init(
        name: String, summary: String, options: [OptionSpec], showsTexts: Bool = true,
        make: @escaping @Sendable (Options) throws(OptionProblem) -> Factory
    ) {
        (self.name, self.summary, self.options) = (name, summary, options)
        (self.showsTexts, self.make) = (showsTexts, make)
    }
}
