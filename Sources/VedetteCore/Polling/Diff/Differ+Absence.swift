// SPDX-License-Identifier: Apache-2.0

/// What is absent from an observation: gone, pending, or out of a window.
extension Differ {
    /// What absence means in an observation.
    struct Absence {
        var mode: ReadingMode
        /// The list is empty, or is something else, and enough polls agreed, so one more is not waited for.
        var isBelieved: Bool
        /// The last observation was a list too: what was absent from that one waits for its second good poll.
        var wasWhole: Bool
        /// Of a window: what was not asked for and is shown as before.
        var shown: Set<String>
    }

    /// Sorts the stored rows that were not observed into deletions, pending absences and remembered keys.
    func classify(
        _ absence: Absence, stored: [String: StoredItem], present: Set<String>, into difference: inout Difference
    ) {
        var remembered: [StoredItem] = []
        let shown = absence.shown.subtracting(present)
        difference.head.count += shown.count
        let absent = stored.values.filter { !present.contains($0.key) && !shown.contains($0.key) }
        for before in absent.sorted(by: { $0.key < $1.key }) {
            switch absence.mode {
            // A window's document that is whole from now on: what had left the window before is no news.
            case .list where before.absentSince != nil && !absence.wasWhole: difference.deletions.append(before.key)
            case .list where before.absentSince != nil || absence.isBelieved || isOver(before):
                disappear(before, &difference)
            case .list:
                difference.head.pendingAbsences += 1
                difference.writes.append(before.absent(since: now))
            case .window where before.absentSince == nil: difference.writes.append(before.absent(since: now))
            case .window: remembered.append(before)
            }
        }
        forget(remembered, window: max(present.count, 20), in: &difference)
    }

    func disappear(_ stored: StoredItem, _ difference: inout Difference) {
        difference.deletions.append(stored.key)
        if let item = stored.item, !source.kind.isOver(item, at: now) {
            difference.events.append(DraftEvent(.disappeared, item: item))
        }
    }

    func isOver(_ stored: StoredItem) -> Bool {
        stored.item.map { source.kind.isOver($0, at: now) } ?? false
    }
}

extension StoredItem {
    func absent(since now: Timestamp) -> StoredItem {
        var copy = self
        copy.absentSince = now
        return copy
    }
}
