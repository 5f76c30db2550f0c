// SPDX-License-Identifier: Apache-2.0

extension Differ {
    /// So many items more than a window shows are kept before the oldest leave it, since that reads every row.
    static let surplus = 50

    /// Returns whether `merge` needs every stored row: the window would grow too long.
    public func needsEveryRow(_ old: SnapshotHead, for changes: RecordChanges) -> Bool {
        source.kind.mode == .window && old.count + changes.items.count > Differ.maximumShown + Differ.surplus
    }

    /// Applies the records of a stream: an item replaces the one with its key, and nothing is absent. What a server pushes is
    /// news, however old it says it is.
    /// - Parameter stored: the rows with the keys of the changes; all rows when `needsEveryRow`.
    public func merge(_ old: SnapshotHead, stored: [String: StoredItem], with changes: RecordChanges) -> Difference {
        var difference = Difference(head: old)
        difference.head.goodAt = now
        difference.head.resume(behind: changes.resume, source.stream)
        // Validators and digest belong to a complete body.
        (difference.head.validators, difference.head.digest, difference.head.asked) = (Validators(), nil, nil)
        if !changes.items.isEmpty { difference.head.emptiness = nil }
        for item in difference.head.decimals.readMeasures(of: changes.items) {
            merge(item, over: stored[item.key], into: &difference)
        }
        for key in changes.deletions { delete(stored[key], from: &difference) }
        if needsEveryRow(old, for: changes) { shorten(stored, showing: changes, in: &difference) }
        return difference
    }

    private func merge(_ item: Item, over before: StoredItem?, into difference: inout Difference) {
        if let before {
            compare(item, with: before, fresh: [], into: &difference)
        } else {
            difference.writes.append(StoredItem(item, digest: item.digest, stateSince: now))
            difference.events.append(DraftEvent(.appeared, item: item))
        }
        if let before, before.absentSince == nil {
            guard before.digest != item.digest, let old = before.item else { return }
            difference.head.count(-1, old.state)
        } else {
            if before != nil, source.kind.mode == .list {
                difference.head.pendingAbsences = max(0, difference.head.pendingAbsences - 1)
            }
            difference.head.count += 1
        }
        difference.head.count(1, item.state)
        difference.head.note(item.time, publication: source.kind.publication(of: item))
    }

    private func delete(_ before: StoredItem?, from difference: inout Difference) {
        guard let before else { return }
        guard before.absentSince == nil || source.kind.mode == .list else {
            // It left the window before.
            return difference.deletions.append(before.key)
        }
        if before.absentSince == nil {
            difference.head.count -= 1
            difference.head.count(-1, before.item?.state)
        } else {
            difference.head.pendingAbsences = max(0, difference.head.pendingAbsences - 1)
        }
        disappear(before, &difference)
    }

    /// Lets the oldest items leave a window that has grown too long. Their keys are remembered.
    private func shorten(
        _ stored: [String: StoredItem], showing changes: RecordChanges, in difference: inout Difference
    ) {
        let shown = stored.values.filter { $0.absentSince == nil && !changes.allKeys.contains($0.key) }
        let surplus = shown.count + changes.items.count - Differ.maximumShown
        let oldest = shown.sorted { ($0.stateSince, $0.key) < ($1.stateSince, $1.key) }.prefix(max(0, surplus))
        for row in oldest {
            difference.head.count -= 1
            difference.head.count(-1, row.item?.state)
            difference.writes.append(row.absent(since: now))
        }
        let remembered = stored.values.filter { $0.absentSince != nil && !changes.allKeys.contains($0.key) }
        forget(remembered.sorted { $0.key < $1.key }, window: Differ.maximumShown, in: &difference)
    }

    /// Makes the first snapshot of a stream.
    /// - Parameters:
    ///   - items: what the server sent of its past.
    ///   - openedAt: when the connection was opened; an item that is newer is none of the past.
    public func streamBaseline(
        _ items: [Item] = [], openedAt: Timestamp, resume: String?, replaces: Bool
    ) -> Difference {
        var difference = baseline(Observation(items: items, mode: source.kind.mode), replaces: replaces)
        difference.head.resume(behind: resume, source.stream)
        let news = items.filter { $0.time.map { $0 > openedAt } ?? false }
        difference.events += news.map { DraftEvent(.appeared, item: $0) }
        return difference
    }
}

extension SnapshotHead {
    /// Takes the id behind which a stream goes on; nil leaves it as it was.
    public mutating func resume(behind id: String?, _ settings: StreamSettings?) {
        if let id { (resume, resumeForm) = (id, settings?.resumeForm) }
    }

    /// Adds to the number of items in a state.
    fileprivate mutating func count(_ number: Int, _ state: String?) {
        guard let state else { return }
        let count = states[state, default: 0] + number
        states[state] = count > 0 ? count : nil
    }
}
