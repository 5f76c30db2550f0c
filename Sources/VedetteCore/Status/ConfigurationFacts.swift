// SPDX-License-Identifier: Apache-2.0

/// What `status` and the page need to know of the configuration.
public struct ConfigurationFacts: Sendable {
    /// A sink as it is configured.
    public struct Sink: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The name of the kind.
        public var kindName: String
        /// Whether the receiver's certificate is not verified.
        public var isInsecure: Bool

        /// Creates a sink.
        public init(name: String, kindName: String, isInsecure: Bool) {
            (self.name, self.kindName, self.isInsecure) = (name, kindName, isInsecure)
        }
    }

    /// The sources, in the order in which they are written.
    public let sources: [Source]
    /// The sinks, in the order in which they are written.
    public var sinks: [Sink]
    /// The rules, in the order of evaluation.
    public var rules: [Rule]
    /// How many errors its files have. With any, the other facts are unknown: what the journal has is shown.
    public var errors = 0
    /// When a file of the configuration was last changed.
    public var editedAt: Timestamp
    /// Made once: to copy 10,000 sources takes longer than to read their rows.
    private let unread: [SourceStatus]

    /// Creates the facts of a configuration.
    public init(sources: [Source], sinks: [Sink], rules: [Rule], editedAt: Timestamp) {
        (self.sources, self.sinks, self.rules, self.editedAt) = (sources, sinks, rules, editedAt)
        unread = sources.map { SourceStatus($0, nil) }
    }

    /// Creates the facts of files with errors.
    public init(errors: Int) {
        self.init(sources: [], sinks: [], rules: [], editedAt: Timestamp(milliseconds: 0))
        self.errors = errors
    }

    /// The names of the sources, in the order in which they are written.
    public var sourceNames: [String] { unread.indices.map { unread[$0].name } }

    /// Returns the status of each source, in the order in which they are written.
    /// - Parameter records: what the journal holds, also of others.
    public func statuses(_ records: [SourceRecord]) -> [SourceStatus] {
        guard errors == 0 else { return records.map { SourceStatus($0) }.sorted { $0.name < $1.name } }
        var places: [String: Int] = [:]
        places.reserveCapacity(records.count)
        for place in records.indices { places[records[place].name] = place }
        return unread.map { source in source.with(places[source.name].map { records[$0] }) }
    }
}
