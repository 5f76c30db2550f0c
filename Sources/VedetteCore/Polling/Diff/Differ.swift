// SPDX-License-Identifier: Apache-2.0

/// Compares what is seen with what was seen last: (old, new) → events and the rows to write.
public struct Differ: Sendable {
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
        if let old, turnsEmpty(old, stored, new) || isReplaced(stored, new),
            let held = suspect(old, isReplaced: !new.items.isEmpty)
        {
            return held
        }
        guard let old, old.identity == source.identity else { return baseline(new, replaces: old != nil) }
        let haveOtherKeys = haveOtherKeys(new, stored)
        let whole = haveOtherKeys ? rekeyed(new, old, stored) : nil
        if haveOtherKeys, whole == nil, isOldNews(new, old, stored) { return newBaseline(new, old) }
        guard let rekeyed = whole ?? partlyRekeyed(new, old, stored) else { return compare(old, stored, new) }
        var difference = compare(old, rekeyed.stored, new)
        let written = Set((difference.writes + difference.refreshes).map(\.key))
        difference.deletions += rekeyed.gone
        difference.writes += rekeyed.moved.filter { !written.contains($0.key) }
        return difference
    }

    private func compare(
        _ old: SnapshotHead, _ stored: [String: StoredItem], _ new: Observation
    ) -> Difference {
        var difference = Difference(head: head(of: new, after: stored))
        difference.head.decimals = old.decimals
        var new = new
        new.items = difference.head.decimals.readMeasures(of: new.items)
        difference.head.newest = [old.newest, difference.head.newest].compactMap { $0 }.max()
        difference.head.oldest = difference.head.oldest ?? old.oldest
        difference.head.oldestPublication = difference.head.oldestPublication ?? old.oldestPublication
        // All of that time on was read, though nothing may be as old: what shows up late in it is news.
        if let since = new.since, new.isWholeSince {
            difference.head.oldest = min(difference.head.oldest ?? since, since)
            difference.head.oldestPublication = min(difference.head.oldestPublication ?? since, since)
        }
        let fresh = freshFields(old)
        let reappearance = WindowReappearance(new, after: old, stored: stored, kind: source.kind)
        let reappeared = reappearance.keys
        difference.head.order.direction = reappearance.order.direction
        difference.newlyShared = difference.head.sharedKeys.digests.subtracting(old.sharedKeys.digests).count
        let entered = source.kind.entered(new.items, known: stored.keys, since: old.goodAt)
        let firstPage = new.firstPageCount ?? new.items.count
        var known = 0
        for i in new.items.indices {
            if let before = stored[new.items[i].key] {
                known += 1
                compare(new.items[i], with: before, fresh: fresh, into: &difference)
            } else {
                var item = new.items[i]
                item.decimals = difference.head.decimals.signs(of: item)
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
        difference.head.unannounced = count(difference.unannounced, reappearance.undated, after: old.unannounced)
        // Each key stands once: when all that is stored was seen, nothing is absent.
        if known < stored.count {
            let absence = Absence(
                mode: new.mode, isBelieved: old.emptiness != nil && (new.items.isEmpty || isReplaced(stored, new)),
                wasWhole: old.isWhole || source.kind.mode == .list,
                shown: new.since.map { shown(before: $0, stored, room: Differ.maximumShown - new.items.count) } ?? [])
            classify(absence, stored: stored, present: new.keys, into: &difference)
        }
        difference.events = ordered(difference.events, ascends: reappearance.order.ascends)
        return difference
    }

    // MARK: The parts of a comparison

    /// Fields that are read with other options than the snapshot's, those that are no longer read among them.
    private func freshFields(_ old: SnapshotHead) -> Set<String> {
        let new = source.fingerprints
        return Set(new.keys).union(old.fingerprints.keys).filter {
            new[$0, default: 0] != old.fingerprints[$0, default: 0]
        }
    }

    /// - Parameter stored: the rows whose keys stay as they are.
    private func head(of new: Observation, after stored: [String: StoredItem] = [:]) -> SnapshotHead {
        var head = SnapshotHead(
            identity: source.identity, fingerprints: source.fingerprints, goodAt: now)
        (head.validators, head.digest, head.asked) = (new.validators, new.digest, new.asked)
        (head.count, head.isWhole) = (new.items.count, new.mode == .list)
        head.sharedKeys = new.sharedKeys.bounded
        (head.hasEndTag, head.warning) = (new.hasEndTag, new.warning)
        for place in new.items.indices {
            if let state = new.items[place].state { head.states[state, default: 0] += 1 }
            head.note(new.items[place].time, publication: source.kind.publication(of: new.items[place]))
        }
        let isUndated = new.items.contains { $0.time == nil } || head.oldestPublication.map { $0 > now } ?? false
        if new.mode == .window, isUndated {
            head.order.front = new.items.prefix(WindowOrder.frontCount).map { item in
                StableHash.of([stored[item.key]?.key ?? item.key])
            }
        }
        return head
    }

    func baseline(_ new: Observation, replaces: Bool) -> Difference {
        var difference = Difference(head: head(of: new))
        (difference.isNewBaseline, difference.newlyShared) = (replaces, difference.head.sharedKeys.digests.count)
        let items = difference.head.decimals.readMeasures(of: new.items)
        difference.writes = items.map { StoredItem($0, digest: $0.digest, stateSince: now) }
        if source.first == .announce, !replaces {
            difference.events = ordered(items.map { DraftEvent(.appeared, item: $0) })
        }
        return difference
    }

    func compare(
        _ item: Item, with before: StoredItem, fresh: Set<String>, into difference: inout Difference
    ) {
        let digest = item.digest
        if digest == before.digest, before.shown == item.shownDigest, before.absentSince == nil { return }
        var item = item
        // A text that is the same to Unicode, and to `String`, may have other bytes, by which journals tell keys apart:
        // under the new spelling it would be a second row.
        item.key = before.key
        let mustLook = digest != before.digest || !item.measures.isEmpty || !fresh.isEmpty
        guard mustLook, let old = before.item else {
            item.decimals = difference.head.decimals.signs(of: item)
            difference.writes.append(StoredItem(item, digest: digest, stateSince: before.stateSince))
            return
        }
        let changes = self.changes(from: old, to: item, stateSince: before.stateSince, fresh: fresh)
        for change in changes { difference.head.decimals.note(change) }
        item.decimals = difference.head.decimals.signs(of: item, changes)
        let keepsState = old.state == item.state
        let row = StoredItem(item, digest: digest, stateSince: keepsState ? before.stateSince : now)
        if changes.isEmpty, fresh.isEmpty, before.absentSince == nil, old.differsOnlyInMeasures(from: item) {
            difference.refreshes.append(row)
        } else {
            difference.writes.append(row)
        }
        if changes.isEmpty, !fresh.isEmpty { difference.reread.insert(item.key) }
        if !changes.isEmpty { difference.events.append(DraftEvent(.changed, item: item, changes: changes)) }
    }

    /// State first, then title, then fields in the kind's order.
    private func changes(from old: Item, to new: Item, stateSince: Timestamp, fresh: Set<String>) -> [FieldChange] {
        var changes: [FieldChange] = []
        if fresh.contains(SnapshotHead.everyField) { return [] }
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

    private func count(
        _ items: [Item], _ undated: Set<String>, after old: SnapshotHead.Unannounced?
    ) -> SnapshotHead.Unannounced? {
        guard let last = items.last else { return old }
        return .init(
            count: (old?.count ?? 0) + items.count, last: last.title ?? last.key, at: now,
            isUndated: undated.contains(last.key))
    }

    /// By item time where both have one, else against the order of the document for a window that shows its newest
    /// first, and along it for a list and for a window that ascends.
    private func ordered(_ events: [DraftEvent], ascends: Bool = false) -> [DraftEvent] {
        let inOrder = source.kind.mode == .window && !ascends ? events.reversed() : events
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
