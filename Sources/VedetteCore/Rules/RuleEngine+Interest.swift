// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    /// What a poll of one source means to rules even when it brings nothing new.
    public struct Interest: Sendable, Hashable {
        /// When the source should be polled, so that what is held can be confirmed in time; steady time.
        public var nextConfirmation: Timestamp?
        /// Its items are not certain since a poll failed or did not show them: the next good poll is needed.
        public var isUncertain: Bool
    }

    /// Nil when rules remember nothing of that source's items.
    public func interest(in source: String) -> Interest? {
        let isUncertain = unsure.contains(source) || missing[source] != nil
        guard isUncertain || bySource[source] != nil else { return nil }
        return Interest(nextConfirmation: nextPull(of: source), isUncertain: isUncertain)
    }

    /// Every source's.
    public var interests: [String: Interest] {
        var interests: [String: Interest] = [:]
        for source in Set(bySource.keys).union(unsure).union(missing.keys) { interests[source] = interest(in: source) }
        return interests
    }
}

extension RuleEngine.Step {
    /// The sources of which it changed what is remembered.
    public var sources: Set<String> {
        var sources = Set<String>()
        for memories in [changes, before] {
            for memory in memories.values {
                if let source = memory?.subject?.source { sources.insert(source) }
            }
        }
        return sources
    }
}
