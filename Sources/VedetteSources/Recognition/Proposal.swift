// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A way to watch a resource: a kind with its options, as a person would write them.
public struct Proposal: Sendable, Hashable {
    public indirect enum Value: Sendable, Hashable {
        case text(String)
        case flag(Bool)
        case list([String])
        case map([Pair])
        /// A request's body, as it is sent; JSON is YAML, too.
        case body(String)
    }

    public struct Pair: Sendable, Hashable {
        public var name: String
        public var value: String

        /// Creates a pair.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    public struct Option: Sendable, Hashable {
        public var name: String
        public var value: Value
        /// The evidence for the value, as a comment.
        public var remark: String?

        /// Creates an option.
        public init(name: String, value: Value, remark: String? = nil) {
            (self.name, self.value, self.remark) = (name, value, remark)
        }
    }

    /// The events that a first rule should match.
    public enum RecognitionHint: Sendable, Hashable {
        /// Items have a state that changes.
        case state
        /// Items come and go.
        case presence
        /// Items come.
        case arrivals
        /// A text changes.
        case text
        /// Fields change.
        case fields([String])
    }

    public var kind: String
    public var options: [Option] = []
    /// How records are read that the server pushes; nil for a response that is complete.
    public var stream: StreamSettings?
    public var hint: RecognitionHint
    /// An empty list is normal, as one of alerts.
    public var isOftenEmpty = false
    /// What the resource is, as `a feed` or `12 objects below 'items'`.
    public var reason: String
    /// Sentences that a person should read before using it.
    public var remarks: [String] = []
    /// Better addresses for the same content that the resource names: the feeds of a page.
    public var alternates: [String] = []

    init(_ kind: String, _ hint: RecognitionHint, because reason: String) {
        (self.kind, self.hint, self.reason) = (kind, hint, reason)
    }

    /// A kind that a person names, with its defaults.
    public init(kind: String) { self.init(kind, .presence, because: "the kind that you named") }

    mutating func set(_ name: String, _ value: Value, _ remark: String? = nil) {
        options.append(Option(name: name, value: value, remark: remark))
    }

    /// Returns the options as the configuration would pass them to the kind; nil when the kind has no such option or type.
    /// - Parameter pattern: compiles a regular expression; nil for a wrong one.
    public func options(for entry: SourceKindEntry, pattern: (String) -> (any Pattern)?) -> Options? {
        var values: [String: OptionValue] = [:]
        for option in options {
            guard let spec = entry.options.first(where: { $0.name == option.name }),
                let value = Proposal.convert(option.value, spec.type, pattern)
            else { return nil }
            values[option.name] = value
        }
        return Options(values, stream: stream)
    }

    private static func convert(
        _ value: Value, _ type: OptionType, _ pattern: (String) -> (any Pattern)? = { _ in nil }
    ) -> OptionValue? {
        switch (value, type) {
        case (.text(let text), .text): .text(text)
        case (.text(let text), .pattern): pattern(text).map { .pattern($0) }
        case (.text(let text), .choice(let choices)): choices.contains(text) ? .text(text) : nil
        case (.flag(let flag), .flag): .flag(flag)
        case (.body(let text), .json): .json((try? JSON(parsing: Array(text.utf8))) ?? .string(text))
        case (.text(let text), .oneOrMany(let inner)): convert(.text(text), inner).map { .list([$0]) }
        case (.list(let texts), .oneOrMany(let inner)), (.list(let texts), .list(let inner)): list(texts, inner)
        case (.map(let pairs), .map(let inner)): map(pairs, inner)
        default: nil
        }
    }

    private static func list(_ texts: [String], _ inner: OptionType) -> OptionValue? {
        let values = texts.compactMap { convert(.text($0), inner) }
        return values.count == texts.count ? .list(values) : nil
    }

    private static func map(_ pairs: [Pair], _ inner: OptionType) -> OptionValue? {
        let values = pairs.compactMap { pair in convert(.text(pair.value), inner).map { (name: pair.name, value: $0) } }
        return values.count == pairs.count ? .map(values) : nil
    }
}
