// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What `run --once` prints of a source.
public enum OnceResult: Sendable, Hashable {
    case good(items: Int, isBaseline: Bool, events: Int)
    case failed(source: String, detail: String)
    /// Under Retry-After or backoff: not polled.
    /// - Parameter failure: why its last poll failed; nil when it was good.
    case held(source: String, failure: String?)
    /// The journal could not be written.
    case unwritten(String)
}

extension OnceResult {
    init(_ transition: PollTransition, isBaseline: Bool) {
        let (name, record) = (transition.source.name, transition.record)
        if let detail = transition.obstacle ?? record.health.problem?.detail {
            self = .failed(source: name, detail: detail)
        } else {
            self = .good(items: record.snapshot?.count ?? 0, isBaseline: isBaseline, events: transition.events.count)
        }
    }

    /// Returns the result of a poll that made these events in earlier commits.
    func adding(events earlier: Int) -> OnceResult {
        guard case .good(let items, let isBaseline, let events) = self else { return self }
        return .good(items: items, isBaseline: isBaseline, events: events + earlier)
    }
}
