// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    /// Why rules need a poll of a source even when nothing changed.
    public struct Interest: Sendable, Hashable {
        /// When the source should be polled to confirm a pending match, on the steady clock; nil for no pending match.
        public var nextConfirmation: Timestamp?
        /// Whether the next good poll must be evaluated, since a poll failed or did not show all items, since they are not
        /// counted yet, or since a match waits for what it shows.
        public var isUncertain: Bool
    }

    /// Returns why rules need a poll of this source; nil when they do not.
    public func interest(in source: String) -> Interest? {
        interest(in: source, absence: absenceToConfirm(in: source))
    }

    private func interest(in source: String, absence: Timestamp?) -> Interest? {
        let isUncertain = world.isUncertain(source: source) || !rulesThatWait(for: source).isEmpty
        guard isUncertain || hasRows(of: source) else { return nil }
        let confirmations = [table.nextConfirmation(of: source), absence].compactMap { $0 }
        return Interest(nextConfirmation: confirmations.min(), isUncertain: isUncertain)
    }

    /// Why rules need polls, by source.
    public var interests: [String: Interest] {
        var interests: [String: Interest] = [:]
        let absences = absencesToConfirm
        let sources = table.sources.union(rules.awaitingMatch.keys)
        for source in sources.union(world.uncertainSources).union(world.facts.inForce.sources) {
            interests[source] = interest(in: source, absence: absences[source])
        }
        return interests
    }

    /// Returns these sources, and those whose polls are to confirm an absence in their place.
    public func sourcesConcerned(by sources: Set<String>) -> Set<String> {
        sources.union(
            sources.flatMap { source in (rules.awaitingMatch[source] ?? []).compactMap { confirmer(of: $0) } })
    }
}
