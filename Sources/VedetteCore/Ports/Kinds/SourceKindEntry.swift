// SPDX-License-Identifier: Apache-2.0

/// A row of the table of source kinds.
public struct SourceKindEntry: Sendable {
    /// The value of `kind`.
    public var name: String
    /// One sentence for the documentation.
    public var summary: String
    /// The options of the kind.
    public var options: [OptionSpec]
    /// The default of `every`.
    public var every: Duration
    /// What states of the kind mean, where their words alone tell nothing or something else.
    public var meanings: [String: StateMeaning]
    /// Which records of a stream it can read.
    public var streams: Streams
    /// Validates the options and makes the kind.
    public var make: @Sendable (Options) throws(OptionProblem) -> any SourceKind

    /// Which records of a stream a kind can read.
    public enum Streams: Sendable {
        /// None: it is only polled.
        case none
        /// Those that are a document of the kind.
        case documents
        /// The same, and it finds values in a record by their paths.
        case paths
    }

    /// Creates a row.
    public init(
        name: String, summary: String, options: [OptionSpec], every: Duration = PollInterval.usual,
        meanings: [String: StateMeaning] = [:], streams: Streams = .none,
        make: @escaping @Sendable (Options) throws(OptionProblem) -> any SourceKind
    ) {
        (self.name, self.summary, self.options, self.every, self.make) = (name, summary, options, every, make)
        (self.meanings, self.streams) = (meanings, streams)
    }

    /// Returns what a state of this kind means; nil for nothing.
    public func meaning(of state: String) -> StateMeaning? { meanings[state] ?? StateMeaning(of: state) }
}
