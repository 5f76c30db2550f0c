// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    /// Why rules need a poll of a source even when nothing changed.
    public struct Interest: Sendable, Hashable {
        /// When the source should be polled to confirm a pending match, on the steady clock; nil for no pending match.
        public var nextConfirmation: Timestamp?
        /// Whether the next good poll must be evaluated, since a poll failed or did not show all items, or since they are not
        /// counted yet.
        public var isUncertain: Bool
    }

    /// Returns why rules need a poll of this source; nil when they do not.
    public func interest(in source: String) -> Interest? {
        let isUncertain = unconfirmed.contains(source) || missing[source] != nil || uncounted.contains(source)
        guard isUncertain || bySource[source] != nil else { return nil }
        return Interest(nextConfirmation: nextConfirmation(of: source), isUncertain: isUncertain)
    }

    /// Why rules need polls, by source.
    public var interests: [String: Interest] {
        var interests: [String: Interest] = [:]
        for source in Set(bySource.keys).union(unconfirmed).union(missing.keys).union(uncounted) {
            interests[source] = interest(in: source)
        }
        return interests
    }
}

extension RuleEngine.Step {
    /// The sources whose rows the step changed.
    public var sources: Set<String> {
        let rows = changes.values.compactMap { $0 } + writes.compactMap(\.before)
        return Set(rows.compactMap(\.subject?.source))
    }
}
