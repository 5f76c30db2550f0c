// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Polls of sources with a stream.
extension PollPipeline {
    /// Reads the rows of a source as they are after its last poll.
    /// - Parameter keys: the keys of the wanted items; nil for all.
    func items(of source: WatchedSource, _ keys: Set<String>? = nil) async throws(JournalError) -> [String: StoredItem]
    {
        let name = source.source.name
        var stored: [String: StoredItem]
        if let keys {
            stored = keys.isEmpty ? [:] : try await dependencies.journal.items(of: name, withKeys: keys)
        } else {
            stored = try await dependencies.journal.items(of: name)
        }
        stored.replaceRows(with: source.refreshes)
        return stored
    }

    /// Notes that the server has ended a stream in an orderly way, which is no failure.
    /// - Parameter delay: the time until it is opened again.
    func streamEnded(_ source: WatchedSource, next delay: Duration) {
        let random = dependencies.random.fraction()
        source.wait(PollInterval(every: delay).delay(states: [:], freshFor: nil, random: random), dependencies)
        closed(source)
    }

    /// The journal must not show a connection that is closed.
    func closed(_ source: WatchedSource) {
        guard source.record.connection == .open else { return }
        source.change { $0.connection = nil }
        if !source.isRemoved { deferredWrites.add(source, at: dependencies.clock.now().boot) }
    }
}

/// How a source with a stream is read after a transition.
struct ConnectionPlan {
    /// Nil for a source without a stream, and between two connections.
    var connection: SourceRecord.Connection?
    /// The time before a closed stream is opened again; nil for polls.
    var reconnect: Duration?
}

extension PollResult {
    /// How a source is read whose request for a stream got a response that ended.
    var completeBody: SourceRecord.Connection? {
        switch outcome {
        case .unchanged, .read, .unconfirmed: .polled("the server answers with a complete body")
        case .failed, .cancelled, .opened, .expired: nil
        }
    }

    /// The time before a stream is asked for again.
    func reconnect(_ interval: PollInterval) -> Duration? {
        switch outcome {
        case .unchanged, .read, .unconfirmed: nil
        case .failed, .cancelled, .opened, .expired: interval.ofStream.every
        }
    }
}

extension PollInterval {
    /// The interval between two connections of a stream.
    var ofStream: PollInterval { PollInterval(every: min(every, StreamPoll.reconnect)) }
}
