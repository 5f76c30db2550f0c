// SPDX-License-Identifier: Apache-2.0

/// Compares what is seen with what was seen last: (old, new) → events and the rows to write.
public struct Differ: Sendable {
    /// A list that turned empty is believed after so many polls that agree…
    static let agreeingPolls = 3
    /// …over at least this long.
    static let agreeingTime = Duration.seconds(300)
    /// Keys that left a window are remembered this long, and never fewer than `rememberedWindows` windows of them.
    static let remembered = Duration.seconds(30 * 86_400)
    static let rememberedWindows = 5
    /// However busy a window is, no more keys than these are remembered (I8).
    static let maximumRemembered = 10_000
    /// A window that is read by increments goes on showing so many items.
    static let maximumShown = 200

    var source: Source
    var now: Timestamp
    /// What its measures are compared with.
    var thresholds: Thresholds

    public init(source: Source, now: Timestamp, thresholds: Thresholds = [:]) {
        (self.source, self.now, self.thresholds) = (source, now, thresholds)
    }

    /// A good response whose body is the last one: the same items. It confirms absences.
    /// - Parameter pending: the stored items that were absent from one good poll, when the head says that there are any.
    public func confirm(_ head: SnapshotHead, pending: [StoredItem], validators: Validators) -> Difference {
        var difference = Difference(head: head)
        difference.head.goodAt = now
        // What the server does not repeat still stands (RFC 9111 §3.2).
        let old = head.validators
        difference.head.validators = Validators(
            etag: validators.etag ?? old.etag, lastModified: validators.lastModified ?? old.lastModified)
        // What a window remembers is absent too, but nobody waits for it.
        let confirmed = head.pendingAbsences > 0 ? pending : []
        for stored in confirmed.sorted(by: { $0.key < $1.key }) where stored.absentSince != nil {
            disappear(stored, &difference)
        }
        difference.head.pendingAbsences = 0
        difference.head.emptiness = nil
        return difference
    }

    public func compare(
        _ old: SnapshotHead?, stored: [String: StoredItem], with new: Observation
    ) -> Difference {
        guard let old, old.identity == source.identity else { return baseline(new, replaces: old != nil) }
        guard haveOtherKeys(new, stored) else { return compare(old, stored, new) }
        if let rekeyed = rekeyed(new, old, stored) {
            var difference = compare(old, rekeyed.stored, new)
            let written = Set((difference.writes + difference.refreshes).map(\.key))
            difference.deletions += rekeyed.gone
            difference.writes += rekeyed.moved.filter { !written.contains($0.key) }
            return difference
        }
        return isOldNews(new, old, stored) ? newBaseline(new, old) : compare(old, stored, new)
    }

    private func compare(
        _ old: SnapshotHead, _ stored: [String: StoredItem], _ new: Observation
    ) -> Difference {
        if new.mode == .list, new.items.isEmpty, old.count > 0, source.empty == .suspect,
            !stored.values.allSatisfy(isOver), let held = suspectEmptiness(old)
        {
            return held
        }
        var difference = Difference(head: head(of: new))
        difference.head.newest = [old.newest, difference.head.newest].compactMap { $0 }.max()
        difference.head.oldest = difference.head.oldest ?? old.oldest
        // All of that time on was read, though nothing may be as old: what shows up late in it is news.
        if let since = new.since, new.isWholeSince {
            difference.head.oldest = min(difference.head.oldest ?? since, since)
        }
        let fresh = freshFields(old)
        let reappeared = WindowReappearance(new, oldEnd: old.oldest, stored: stored).keys
        let entered = source.kind.entered(new.items, known: stored.keys, since: old.goodAt)
        let firstPage = new.firstPageCount ?? new.items.count
        var known = 0
        for (i, item) in new.items.enumerated() {
            if let before = stored[item.key] {
                known += 1
                compare(item, with: before, fresh: fresh, into: &difference)
            } else {
                difference.writes.append(StoredItem(item, digest: item.digest, stateSince: now))
                if !reappeared.contains(item.key) {
                    if entered.contains(item.key) {
                        difference.entered.insert(item.key)
                    } else {
                        difference.events.append(DraftEvent(.appeared, item: item))
                    }
                } else if i < firstPage {
                    // A further page goes back behind what the last poll read.
                    difference.unannounced.append(item)
                }
            }
        }
        difference.head.unannounced = count(difference.unannounced, after: old.unannounced)
        // Each key stands once: when all that is stored was seen, nothing is absent.
        if known < stored.count {
            let absence = Absence(
                mode: new.mode, isBelieved: new.items.isEmpty && old.emptiness != nil,
                wasWhole: old.isWhole || source.kind.mode == .list,
                shown: new.since.map { shown(before: $0, stored, room: Differ.maximumShown - new.items.count) } ?? [])
            classify(absence, stored: stored, present: Set(new.items.lazy.map(\.key)), into: &difference)
        }
        difference.events = ordered(difference.events)
        return difference
    }

    // MARK: The parts of a comparison

    /// Fields that are read with other options than the snapshot's, those that are no longer read among them.
    private func freshFields(_ old: SnapshotHead) -> Set<String> {
        let new = source.kind.fingerprints
        return Set(new.keys).union(old.fingerprints.keys).filter {
            new[$0, default: 0] != old.fingerprints[$0, default: 0]
        }
    }

    private func head(of new: Observation) -> SnapshotHead {
        var head = SnapshotHead(
            identity: source.identity, fingerprints: source.kind.fingerprints, goodAt: now)
        (head.validators, head.digest, head.asked) = (new.validators, new.digest, new.asked)
        (head.count, head.isWhole) = (new.items.count, new.mode == .list)
        for item in new.items {
            if let state = item.state { head.states[state, default: 0] += 1 }
            guard let time = item.time else { continue }
            head.newest = max(head.newest ?? time, time)
            head.oldest = min(head.oldest ?? time, time)
        }
        return head
    }

    func baseline(_ new: Observation, replaces: Bool) -> Difference {
        var difference = Difference(head: head(of: new))
        difference.isNewBaseline = replaces
        difference.writes = new.items.map { StoredItem($0, digest: $0.digest, stateSince: now) }
        if source.first == .announce, !replaces {
            difference.events = ordered(new.items.map { DraftEvent(.appeared, item: $0) })
        }
        return difference
    }

    /// Nil once enough polls have agreed for long enough.
    private func suspectEmptiness(_ old: SnapshotHead) -> Difference? {
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

    func compare(
        _ item: Item, with before: StoredItem, fresh: Set<String>, into difference: inout Difference
    ) {
        let digest = item.digest
        if digest == before.digest, before.shown == item.shownDigest, before.absentSince == nil { return }
        let mustLook = digest != before.digest || !item.measures.isEmpty
        guard mustLook, let old = before.item else {
            difference.writes.append(StoredItem(item, digest: digest, stateSince: before.stateSince))
            return
        }
        let changes = self.changes(from: old, to: item, stateSince: before.stateSince, fresh: fresh)
        let keepsState = old.state == item.state
        let row = StoredItem(item, digest: digest, stateSince: keepsState ? before.stateSince : now)
        if changes.isEmpty, before.absentSince == nil, old.differsOnlyInMeasures(from: item) {
            difference.refreshes.append(row)
        } else {
            difference.writes.append(row)
        }
        if !changes.isEmpty { difference.events.append(DraftEvent(.changed, item: item, changes: changes)) }
    }

    /// State first, then title, then fields in the kind's order.
    private func changes(from old: Item, to new: Item, stateSince: Timestamp, fresh: Set<String>) -> [FieldChange] {
        var changes: [FieldChange] = []
        func note(_ field: String, _ from: Value?, _ to: Value?, lasted: Double? = nil) {
            if from != to, !fresh.contains(field) {
                changes.append(FieldChange(field: field, from: from, to: to, lasted: lasted))
            }
        }
        let lasted = max(0, now.seconds(since: stateSince))
        note("state", old["state"], new["state"], lasted: lasted)
        note("title", old["title"], new["title"])
        let names = Set(old.fields.map(\.name)).union(new.fields.map(\.name))
        let order = source.kind.fieldNames ?? []
        for name in order.filter(names.contains) + names.subtracting(order).sorted() {
            note(name, old.fields[name], new.fields[name])
        }
        for measure in new.measures {
            let (name, value) = (measure.name, measure.value)
            let last = old.measures[name]
            let isCrossed = thresholds[name]?.contains { $0.isCrossed(from: last, to: value) } ?? false
            if isCrossed { note(name, last, value) }
        }
        return changes
    }

    /// What absence means in an observation.
    private struct Absence {
        var mode: ReadingMode
        /// The list is empty and enough polls agreed, so one more is not waited for.
        var isBelieved: Bool
        /// The last observation was a list too: what was absent from that one waits for its second good poll.
        var wasWhole: Bool
        /// Of a window: what was not asked for and is shown as before.
        var shown: Set<String>
    }

    /// The newest of the items that an increment leaves out, as many as there is room for.
    private func shown(before since: Timestamp, _ stored: [String: StoredItem], room: Int) -> Set<String> {
        let present = stored.values.filter { $0.absentSince == nil }.compactMap(\.item)
        let older = present.filter { ($0.time ?? since) <= since }
        let newestFirst = older.sorted { ($0.time ?? since, $0.key) > ($1.time ?? since, $1.key) }
        return Set(newestFirst.prefix(max(0, room)).map(\.key))
    }

    /// Sorts the stored rows that were not observed into deletions, pending absences and remembered keys.
    private func classify(
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

    private func isOver(_ stored: StoredItem) -> Bool {
        stored.item.map { source.kind.isOver($0, at: now) } ?? false
    }

    /// Drops what left the window long ago, the longest gone first, beyond what five windows hold; and what is too much.
    func forget(_ remembered: [StoredItem], window: Int, in difference: inout Difference) {
        let most = window * Differ.rememberedWindows
        guard remembered.count > most else { return }
        let byAge = remembered.sorted { ($0.absentSince ?? now) < ($1.absentSince ?? now) }
        let surplus = remembered.count - max(most, Differ.maximumRemembered)
        for (i, stored) in byAge.prefix(remembered.count - most).enumerated() {
            let isLongAgo = stored.absentSince.map { $0.advanced(by: Differ.remembered) < now } ?? true
            guard i < surplus || isLongAgo else { break }
            difference.deletions.append(stored.key)
        }
    }

    private func count(_ items: [Item], after old: SnapshotHead.Unannounced?) -> SnapshotHead.Unannounced? {
        guard let last = items.last else { return old }
        return .init(count: (old?.count ?? 0) + items.count, last: last.title ?? last.key, at: now)
    }

    /// By item time where both have one, else against the order of the document for a window, which shows its newest
    /// first, and along it for a list.
    private func ordered(_ events: [DraftEvent]) -> [DraftEvent] {
        let inOrder = source.kind.mode == .window ? events.reversed() : events
        let allDated = inOrder.allSatisfy { $0.item?.time != nil }
        guard source.kind.mode == .window, allDated else { return inOrder }
        return inOrder.enumerated().sorted { a, b in
            guard let x = a.element.item?.time, let y = b.element.item?.time, x != y else { return a.offset < b.offset }
            return x < y
        }.map(\.element)
    }
}

extension Item {
    fileprivate func differsOnlyInMeasures(from other: Item) -> Bool {
        var like = other
        like.measures = measures
        return like == self
    }
}

extension StoredItem {
    func absent(since now: Timestamp) -> StoredItem {
        var copy = self
        copy.absentSince = now
        return copy
    }
}
