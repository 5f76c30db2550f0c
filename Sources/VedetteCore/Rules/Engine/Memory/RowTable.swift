// SPDX-License-Identifier: Apache-2.0

/// The rows of all rules, with what finds them: by subject, by source, by what they wait for, and by time. It is the sole
/// owner of rows; each change has a version, so that a step whose commit fails can be undone after later steps.
struct RowTable: Sendable {
    /// Rows of one rule that wait at one gate, or that one message told.
    struct Group: Hashable, Sendable {
        var rule: String
        /// The gate; nil for the matches that a message told.
        var gate: String?
        /// The name of the group at the gate, or of the log or message.
        var name = ""
    }

    /// The rows of one rule for one purpose.
    private struct Room: Hashable, Sendable {
        var rule: String
        var slot: RuleMemory.Slot
        var isTold: Bool
    }

    private struct Timer: Comparable, Sendable {
        var due: Timestamp
        var key: RuleMemory.Key

        /// A fixed order for timers that are due at the same time, so that a restart changes no outcome.
        static func < (a: Timer, b: Timer) -> Bool {
            a.due != b.due ? a.due < b.due : (a.key.rule, a.key.name) < (b.key.rule, b.key.name)
        }
    }

    private var rows: [RuleMemory.Key: RuleMemory] = [:]
    private var bySubject: [Subject: Set<RuleMemory.Key>] = [:]
    private var bySource: [String: Set<RuleMemory.Key>] = [:]
    /// The rows that a good poll of a source is to confirm.
    private var atPoll: [String: Set<RuleMemory.Key>] = [:]
    private var groups: [Group: Set<RuleMemory.Key>] = [:]
    private var counts: [Room: Int] = [:]
    /// Rules without room for further rows, so that each is reported once.
    private var full = Set<Room>()
    private(set) var versions: RowVersions
    private var steadyTimers = Heap<Timer>()
    private var civilTimers = Heap<Timer>()

    /// The rows that one rule keeps for one purpose at most.
    let maximum: Int

    /// - Parameter maximumVersions: the versions of deleted rows that are kept at most.
    init(maximum: Int, maximumVersions: Int) {
        (self.maximum, versions) = (maximum, RowVersions(maximum: maximumVersions))
    }

    // MARK: Reading

    subscript(key: RuleMemory.Key) -> RuleMemory? { rows[key] }

    var all: [RuleMemory] { Array(rows.values) }
    var keys: [RuleMemory.Key] { RowTable.ordered(rows.keys) }
    /// The sources with rows about their items.
    var sources: Set<String> { Set(bySource.keys) }

    func hasRows(of source: String) -> Bool { bySource[source] != nil }
    func hasRows(about subject: Subject) -> Bool { bySubject[subject] != nil }
    func keys(of source: String) -> [RuleMemory.Key] { RowTable.ordered(bySource[source] ?? []) }
    func keys(about subject: Subject) -> [RuleMemory.Key] { RowTable.ordered(bySubject[subject] ?? []) }
    func keys(in group: Group) -> [RuleMemory.Key] { RowTable.ordered(groups[group] ?? []) }
    func isEmpty(_ group: Group) -> Bool { groups[group] == nil }

    /// The rows that a good poll of the source is to confirm now.
    func keysToConfirm(by source: String) -> [RuleMemory.Key] { RowTable.ordered(atPoll[source] ?? []) }

    /// The rules with rows that wait at the gate, in order.
    func rules(waitingAt gate: String) -> [String] {
        Set(groups.keys.lazy.filter { $0.gate == gate }.map(\.rule)).sorted()
    }

    /// When the source should be polled to confirm a match, on the steady clock.
    func nextConfirmation(of source: String) -> Timestamp? {
        (atPoll[source] ?? []).lazy.compactMap { rows[$0]?.confirmation }.min()
    }

    /// Sorts keys, so that the outcome does not depend on the order of a set.
    static func ordered(_ keys: some Sequence<RuleMemory.Key>) -> [RuleMemory.Key] {
        keys.sorted { ($0.rule, $0.slot.rawValue, $0.name) < ($1.rule, $1.slot.rawValue, $1.name) }
    }

    // MARK: Room

    /// Whether the rule has room for this row: for one more, unless it has its place already.
    func hasRoom(for row: RuleMemory) -> Bool {
        // The message of a log tells what it lists, however much waits.
        if row.waits.contains(where: \.isListed) { return true }
        let room = RowTable.room(row)
        if let old = rows[row.key], RowTable.room(old) == room { return true }
        return counts[room, default: 0] < maximum
    }

    /// How many further rows like this one the rule has room for.
    func roomLeft(for row: RuleMemory) -> Int { maximum - counts[RowTable.room(row), default: 0] }

    /// Returns whether the lack of room is to be reported: once, until a tenth was free.
    mutating func reportsLack(of row: RuleMemory) -> Bool { full.insert(RowTable.room(row)).inserted }

    private static func room(_ row: RuleMemory) -> Room {
        Room(rule: row.key.rule, slot: row.key.slot, isTold: row.isTold)
    }

    private mutating func leave(_ room: Room) {
        counts[room, default: 1] -= 1
        // Reported again only after a tenth is free, not with every row that comes and goes.
        if counts[room, default: 0] < maximum / 10 * 9 { full.remove(room) }
    }

    // MARK: Changing

    /// Writes a row, or deletes it when the new one is nil. Returns the change; nil when there was nothing to delete.
    ///
    /// A row keeps its key: journals tell keys apart by their bytes, and an equal text may have others.
    mutating func set(_ key: RuleMemory.Key, _ new: RuleMemory?) -> RuleEngine.Step.Write? {
        let old = rows[key]
        guard old != nil || new != nil else { return nil }
        let key = old?.key ?? key
        var new = new
        new?.key = key
        place(key, old, new)
        return versions.change(key, before: old, rows: rows)
    }

    /// Takes back the change of a row by a step that failed.
    mutating func undo(_ change: RuleEngine.Step.Write) {
        guard let before = versions.undo(change) else { return }
        place(change.key, rows[change.key], before.row)
        versions.restore(change.key, before.version)
    }

    /// Ends the undoing of a step.
    mutating func endUndo() { versions.endUndo() }

    private mutating func place(_ key: RuleMemory.Key, _ old: RuleMemory?, _ new: RuleMemory?) {
        rows[key] = new
        let (before, after) = (old.map(RowTable.room), new.map(RowTable.room))
        if before != after {
            if let after { counts[after, default: 0] += 1 }
            if let before { leave(before) }
        }
        link(key, old, new)
        let known = old.map(\.deadlines) ?? []
        for deadline in new?.deadlines ?? [] where !known.contains(deadline) { push(deadline, key) }
    }

    private mutating func link(_ key: RuleMemory.Key, _ old: RuleMemory?, _ new: RuleMemory?) {
        // What is in a log is found by its own row.
        let (was, now) = key.slot == .log ? (nil, nil) : (old?.subject, new?.subject)
        if was != now {
            if let was { RowTable.remove(key, was, &bySubject) }
            if let now { bySubject[now, default: []].insert(key) }
        }
        let (wasOf, isOf) = (old.flatMap(RowTable.source), new.flatMap(RowTable.source))
        if wasOf != isOf {
            if let wasOf { RowTable.remove(key, wasOf, &bySource) }
            if let isOf { bySource[isOf, default: []].insert(key) }
        }
        // A timer that ran down goes on to wait for the poll.
        let isAwaiting = wasOf.map { atPoll[$0]?.contains(key) == true } ?? false
        let isKept = isAwaiting && old.flatMap(RowTable.confirmer) == nil && old?.deadlines == new?.deadlines
        let isAt = new.flatMap(RowTable.confirmer) ?? (isKept ? isOf : nil)
        if let wasOf, wasOf != isAt { RowTable.remove(key, wasOf, &atPoll) }
        if let isAt { atPoll[isAt, default: []].insert(key) }
        let (wasIn, isIn) = (old.map(RowTable.groups) ?? [], new.map(RowTable.groups) ?? [])
        guard wasIn != isIn else { return }
        for group in wasIn where !isIn.contains(group) { RowTable.remove(key, group, &groups) }
        for group in isIn where !wasIn.contains(group) { groups[group, default: []].insert(key) }
    }

    private static func remove<Place: Hashable>(
        _ key: RuleMemory.Key, _ place: Place, _ index: inout [Place: Set<RuleMemory.Key>]
    ) {
        index[place]?.remove(key)
        if index[place]?.isEmpty == true { index[place] = nil }
    }

    private static func source(_ row: RuleMemory) -> String? { row.dependsOnItem ? row.subject?.source : nil }

    /// The source whose good poll the row waits for.
    private static func confirmer(_ row: RuleMemory) -> String? {
        row.confirmation != nil || row.waits.contains(where: \.awaitsPoll) ? source(row) : nil
    }

    private static func groups(_ row: RuleMemory) -> Set<Group> {
        let gate = row.told?.gate ?? ""
        guard row.key.slot == .match,
            !row.waits.isEmpty || !row.group.isEmpty || !row.listings.isEmpty || !gate.isEmpty
        else {
            return []
        }
        var groups = Set(row.waits.map { Group(rule: row.key.rule, gate: $0.gate, name: $0.group) })
        for listing in row.listings { groups.insert(Group(rule: row.key.rule, gate: "listed", name: listing.group)) }
        if !gate.isEmpty { groups.insert(Group(rule: row.key.rule, gate: gate)) }
        if !row.group.isEmpty { groups.insert(Group(rule: row.key.rule, name: row.group)) }
        return groups
    }

    // MARK: Timers

    private mutating func push(_ deadline: Deadline, _ key: RuleMemory.Key) {
        let timer = Timer(due: deadline.time, key: key)
        if deadline.isCivil { civilTimers.push(timer) } else { steadyTimers.push(timer) }
    }

    /// Sets the timers of a row again that may have run down.
    mutating func renewTimers(of key: RuleMemory.Key) {
        for deadline in rows[key]?.deadlines ?? [] { push(deadline, key) }
    }

    /// Lets a row whose timer ran down wait for a good poll of its source.
    mutating func awaitPoll(_ key: RuleMemory.Key) {
        if let source = rows[key].flatMap(RowTable.source) { atPoll[source, default: []].insert(key) }
    }

    /// Returns when the next timer is due, on the steady clock.
    func nextTimer(at now: RuleTime) -> Timestamp? {
        let shift = now.steady.milliseconds - now.wall.milliseconds
        let civil = civilTimers.least.map { Timestamp(milliseconds: $0.due.milliseconds.addingClamped(shift)) }
        return [steadyTimers.least?.due, civil].compactMap { $0 }.min()
    }

    /// Takes the rows whose timers are due, in their order.
    mutating func takeDueKeys(at now: RuleTime) -> [RuleMemory.Key] {
        var keys: [RuleMemory.Key] = []
        while let next = steadyTimers.least, next.due <= now.steady {
            _ = steadyTimers.popLeast()
            if rows[next.key]?.deadlines.contains(Deadline(time: next.due, isCivil: false)) == true {
                keys.append(next.key)
            }
        }
        while let next = civilTimers.least, next.due <= now.wall {
            _ = civilTimers.popLeast()
            if rows[next.key]?.deadlines.contains(Deadline(time: next.due, isCivil: true)) == true {
                keys.append(next.key)
            }
        }
        var seen = Set<RuleMemory.Key>()
        return keys.filter { seen.insert($0).inserted }
    }
}
