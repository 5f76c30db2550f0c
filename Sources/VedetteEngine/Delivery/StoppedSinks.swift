// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The sinks that take no messages, as the journal has them: until a person acts, or as long as they fail.
struct StoppedSinks {
    private var byName: [String: StoppedSink] = [:]
    /// A digest of each sink's options.
    private var fingerprints: [String: UInt64]

    init(fingerprints: [String: UInt64]) { self.fingerprints = fingerprints }

    /// Those that wait for a person.
    var names: [String] { byName.values.filter { $0.kind != .failing }.map(\.sink) }

    mutating func configure(_ fingerprints: [String: UInt64]) { self.fingerprints = fingerprints }

    /// Adds the options of new sinks.
    mutating func add(_ fingerprints: [String: UInt64]) { self.fingerprints.merge(fingerprints) { known, _ in known } }

    /// Takes a sink that an earlier run stopped.
    /// - Returns: whether its options are the same, so that it stays stopped.
    mutating func restore(_ sink: StoppedSink) -> Bool {
        byName[sink.sink] = sink
        return fingerprints[sink.sink, default: 0] == sink.fingerprint
    }

    /// Notes the outcome of an attempt.
    /// - Returns: the change to store; nil for an outcome that stops nothing, and for a sink that is stopped already:
    ///   `run --once` tries it each time.
    mutating func attempted(_ sink: String, _ outcome: Outcome, at now: Timestamp) -> SinkChange? {
        let (kind, reason): (Event.Kind, String)
        switch outcome {
        case .paused(let text): (kind, reason) = (.paused, text)
        case .disabled(let text): (kind, reason) = (.disabled, text)
        case .retry(let text, _): (kind, reason) = (.failing, text)
        case .delivered, .rejected: return nil
        }
        let known = byName[sink]?.kind
        guard kind != .failing || known == nil else { return nil }
        let stop = StoppedSink(
            sink: sink, kind: kind, reason: reason, since: now, fingerprint: fingerprints[sink, default: 0])
        byName[sink] = stop
        return known == nil || known == .failing ? .stopped(stop) : nil
    }

    /// Notes that the receiver of a sink answers, so that the sink no longer fails.
    mutating func answered(_ sink: String) -> SinkChange? { byName[sink]?.kind == .failing ? resume(sink) : nil }

    /// Forgets a sink that another watcher delivers to from now on.
    mutating func forget(_ sink: String) { byName[sink] = nil }

    /// Lets a sink take messages again.
    /// - Returns: the change to store; nil when it was not stopped.
    mutating func resume(_ sink: String) -> SinkChange? {
        byName.removeValue(forKey: sink).map { .resumed($0.sink) }
    }
}
