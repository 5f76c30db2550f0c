// SPDX-License-Identifier: Apache-2.0

/// A list that turned empty: when it is believed.
extension Differ {
    /// A list that turned empty is believed after so many polls that agree…
    static let agreeingPolls = 3
    /// …over at least this long.
    static let agreeingTime = Duration.seconds(300)

    /// Whether nothing is left of what had items. Another 'items', key or program that selects nothing is doubtful, too; its
    /// source would see nothing from then on.
    /// - Parameter stored: empty where the snapshot was read with another identity.
    func turnsEmpty(_ old: SnapshotHead, _ stored: [String: StoredItem], _ new: Observation) -> Bool {
        new.mode == .list && new.items.isEmpty && old.count > 0 && source.empty == .suspect
            && (stored.isEmpty || !stored.values.allSatisfy(isOver))
    }

    /// Nil once enough polls have agreed for long enough.
    func suspectEmptiness(_ old: SnapshotHead) -> Difference? {
        let past = old.emptiness
        let seen = SnapshotHead.Emptiness(polls: (past?.polls ?? 0) + 1, since: past?.since ?? now)
        if seen.polls >= Differ.agreeingPolls, seen.since.advanced(by: Differ.agreeingTime) <= now { return nil }
        var difference = Difference(head: old)
        difference.isSuspect = true
        difference.head.emptiness = seen
        if past == nil {
            let problem = Event.Problem(
                failure: "empty",
                detail: "the list had \(old.count) items and is empty now; the last snapshot is kept until three polls "
                    + "over five minutes agree, or until: vedette accept \(source.name)")
            difference.events = [DraftEvent(.suspect, error: problem)]
        }
        return difference
    }
}
