// SPDX-License-Identifier: Apache-2.0

/// A list that turned empty, or became something else: when it is believed.
extension Differ {
    /// It is believed after so many polls that agree…
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

    /// Whether what was read is probably an error in the place of the list: nothing of it is known, and it has no key or, unlike
    /// all that is stored, no value.
    func isReplaced(_ stored: [String: StoredItem], _ new: Observation) -> Bool {
        guard let doubt = new.doubt, new.mode == .list, !stored.isEmpty,
            !new.items.contains(where: { stored[$0.key] != nil })
        else { return false }
        switch doubt {
        case .keyless: return true
        case .valueless: return stored.values.allSatisfy { $0.item?.hasValues ?? false }
        }
    }

    /// Nil once enough polls have agreed for long enough.
    func suspect(_ old: SnapshotHead, isReplaced: Bool) -> Difference? {
        let past = old.emptiness
        let seen = SnapshotHead.Emptiness(
            polls: (past?.polls ?? 0) + 1, since: past?.since ?? now, isReplaced: isReplaced)
        if seen.polls >= Differ.agreeingPolls, seen.since.advanced(by: Differ.agreeingTime) <= now { return nil }
        var difference = Difference(head: old)
        difference.isSuspect = true
        difference.head.emptiness = seen
        if past == nil {
            let (failure, now) =
                isReplaced
                ? (Failure.shape.rawValue, "now an object came in its place, as when the server tells of an error")
                : ("empty", "is empty now")
            let problem = Event.Problem(
                failure: failure,
                detail: "the list had \(old.count) items and \(now); the last snapshot is kept until three polls "
                    + "over five minutes agree, or until: vedette accept \(source.name)")
            difference.events = [DraftEvent(.suspect, error: problem)]
        }
        return difference
    }
}
