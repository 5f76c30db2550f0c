// SPDX-License-Identifier: Apache-2.0

/// A sink that refused messages, and takes none until a person acts. The journal keeps it as the record of a source that
/// fails, so that it stays stopped over a restart.
public struct StoppedSink: Sendable, Hashable {
    /// The sink's name.
    public var sink: String
    /// `paused` or `disabled`.
    public var kind: Event.Kind
    /// Why, without a secret.
    public var reason: String
    /// When it refused.
    public var since: Timestamp
    /// A digest of the options that it had: with other options it is tried again.
    public var fingerprint: UInt64

    /// Creates a stopped sink.
    public init(sink: String, kind: Event.Kind, reason: String, since: Timestamp, fingerprint: UInt64) {
        (self.sink, self.kind, self.reason) = (sink, kind, reason)
        (self.since, self.fingerprint) = (since, fingerprint)
    }

    /// Returns the name of a sink's record in the journal. No source has such a name.
    public static func recordName(of sink: String) -> String { prefix + sink }

    /// Returns the name of the sink that a record is of; nil for the record of a source.
    public static func sink(ofRecord name: String) -> String? {
        name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil
    }

    private static let prefix = "/sinks/"

    /// Reads a record; nil for that of a source, and of a sink that takes messages.
    public init?(_ record: SourceRecord) {
        guard record.name.hasPrefix(StoppedSink.prefix), record.health.isFailing, let problem = record.health.problem,
            let since = record.health.lastPollAt, let snapshot = record.snapshot
        else { return nil }
        self.init(
            sink: String(record.name.dropFirst(StoppedSink.prefix.count)),
            kind: problem.failure == Event.Kind.disabled.word ? .disabled : .paused, reason: problem.detail,
            since: since, fingerprint: snapshot.identity)
    }

    /// The record to store.
    public var record: SourceRecord {
        var record = SourceRecord(name: StoppedSink.recordName(of: sink))
        record.health.isFailing = true
        record.health.lastPollAt = since
        record.health.problem = Event.Problem(failure: kind.word, detail: reason)
        record.snapshot = SnapshotHead(identity: fingerprint, fingerprints: [:], goodAt: since)
        return record
    }
}
