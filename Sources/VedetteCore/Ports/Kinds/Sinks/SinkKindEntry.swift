// SPDX-License-Identifier: Apache-2.0

/// A row of the table of sink kinds.
public struct SinkKindEntry: Sendable {
    /// Makes the sink of a name.
    public typealias Factory = @Sendable (_ name: String, SinkServices) -> any Sink

    /// The value of `kind`.
    public var name: String
    /// One sentence for the documentation.
    public var summary: String
    /// The options of the kind.
    public var options: [OptionSpec]
    /// Whether it shows a message's title and text. Other kinds pass the event on, and a rule may not give texts for them.
    public var showsTexts: Bool
    /// Whether a program takes its messages, so that it gets each event in order; a person is told what is true now.
    public var isEventSink: Bool
    /// Whether its messages stay on the machine of the watcher, so that it matters which of several watchers delivers them.
    public var isLocal: Bool
    /// Validates the options. The factory that it returns makes the sink when the watcher starts.
    public var make: @Sendable (Options) throws(OptionProblem) -> Factory

    /// Creates a row.
    public init(
        name: String, summary: String, options: [OptionSpec], showsTexts: Bool = true,
        isEventSink: Bool = false, isLocal: Bool = false,
        make: @escaping @Sendable (Options) throws(OptionProblem) -> Factory
    ) {
        (self.name, self.summary, self.options) = (name, summary, options)
        (self.showsTexts, self.isEventSink, self.isLocal, self.make) = (showsTexts, isEventSink, isLocal, make)
    }
}
