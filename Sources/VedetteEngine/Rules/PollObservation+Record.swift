// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension PollObservation {
    /// What a poll observed besides its events.
    init(_ record: PollRecord, _ source: Source, isGood: Bool) {
        self.init(isGood: isGood)
        server = source.failureGroup
        isDown = record.record?.snapshot.flatMap(source.isDown)
        (stored, deleted) = (record.writes, record.deletions)
        if record.isNewBaseline {
            baseline = record.writes
            return
        }
        let isList = source.kind.mode == .list || record.record?.snapshot?.isWhole == true
        if isList { missing = Set(record.writes.lazy.filter { $0.absentSince != nil }.map(\.key)) }
        let disappeared = record.events.lazy.filter { $0.kind == .disappeared }.compactMap(\.item?.key)
        forgotten = Set(record.deletions).subtracting(disappeared)
    }
}

extension SourceHealth {
    /// The health of sources as their last polls left it.
    public init(_ records: [SourceRecord], watched: [String: Source]) {
        self.init()
        for record in records where record.health.isFailing {
            failing[record.name] = record.health.problem?.detail ?? ""
        }
        down = Set(
            records.filter { record in
                record.snapshot.flatMap { watched[record.name]?.isDown($0) } == true
            }.map(\.name))
        servers = watched.mapValues(\.failureGroup)
    }
}

extension SourceRecord {
    /// Returns the events of what lasts of the source's failures; none for a source that is not configured.
    func failures(of source: Source?, at now: Timestamp, _ identifier: () -> Identifier) -> [Event] {
        guard let source else { return [] }
        let kinds: [Event.Kind] = (health.isFailing ? [.failing] : []) + (health.isStale ? [.stale] : [])
        return kinds.map { kind in
            DraftEvent(kind, error: health.problem).event(id: identifier(), source: source, poll: "", at: now)
        }
    }
}

extension Source {
    /// Returns whether the response that the snapshot shows means down; nil for a kind whose items are in the response.
    fileprivate func isDown(_ snapshot: SnapshotHead) -> Bool? {
        guard let kind = kind as? any ObservingKind else { return nil }
        return snapshot.states.keys.contains { kind.isDown(Item(key: "", state: $0)) }
    }
}

extension SourceRecord {
    /// Its last polls failed, or it should have been polled meanwhile: the state of its items is not certain.
    func isUncertain(at now: Timestamp) -> Bool { health.failures > 0 || due.map { $0 <= now } ?? true }
}
