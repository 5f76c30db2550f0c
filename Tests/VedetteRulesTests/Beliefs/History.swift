// SPDX-License-Identifier: Apache-2.0

/// What really happened in a run, and what held messages back, without a look at the engine.
struct History {
    struct Thing {
        var state = "up"
        var team: String
        var note = 0
        /// When the note was written.
        var seen: Int?
        var isPresent = true
    }

    /// What the rule is about, from its beginning until it is over.
    struct Match {
        let id: String
        let key: String
        let value: String
        let team: String
        /// The number of the step that began it.
        let began: Int
        let time: Int
        /// When its state began: a change within `to` goes on.
        let since: Int
        /// Since when `for` holds it: it keeps the time of a match in whose place it is while that is held.
        let held: Int
        /// The step that ended it, or in which another took its place.
        var ended: Int?
        var endTime: Int?
        var isReplaced = false
        /// Whether the item was new, so that a message shows the state that it has by then.
        var isNew = false
        /// Of a new item: the states that it had later in the match, each with the step that brought it.
        var states: [(tick: Int, state: String)] = []
    }

    /// Counts what happens, so that what comes at one time has an order.
    private(set) var tick = 0
    var time = 0
    private(set) var things = ["a": Thing(team: "x"), "b": Thing(team: "x"), "c": Thing(team: "y")]
    private(set) var matches: [Match] = []
    private(set) var current: [String: Int] = [:]
    /// `at_least`: when matches of an item came that began nothing yet.
    private var tallies: [String: [Int]] = [:]
    private(set) var log: [(tick: Int, time: Int, circumstances: Circumstances)] = [(0, 0, Circumstances())]

    var now: Circumstances { log[log.count - 1].circumstances }

    mutating func set(_ change: (inout Circumstances) -> Void) {
        tick += 1
        var next = now
        change(&next)
        log.append((tick, time, next))
    }

    /// Changes an item. Returns nil when nothing changes.
    mutating func apply(_ change: Deed.Change) -> (key: String, before: Thing, after: Thing)? {
        let key = change.key
        guard let before = things[key] else { return nil }
        var after = before
        switch change {
        case .state(_, let state): (after.state, after.isPresent) = (state, true)
        case .note:
            guard before.isPresent else { return nil }
            after.note += 1
            after.seen = time
        case .team:
            guard before.isPresent else { return nil }
            after.team = before.team == "x" ? "y" : "x"
        case .gone: after.isPresent = false
        }
        guard
            after.state != before.state || after.note != before.note || after.team != before.team
                || after.isPresent != before.isPresent
        else { return nil }
        tick += 1
        things[key] = after
        return (key, before, after)
    }

    /// Follows what a change of an item means for the rule, once its event has the id under which it is committed.
    mutating func follow(_ key: String, from before: Thing, to after: Thing, id: String, _ plan: Plan) {
        let isIn = plan.holds(after)
        let old = current[key]
        // A later time that is old enough at once is no further match.
        let goesOn = plan.when == .older && !plan.has(.waiting) && isIn && old != nil
        let begins = isIn && !goesOn && plan.begins(from: before, to: after) && counts(key, plan)
        if let old, !isIn || begins {
            (matches[old].ended, matches[old].endTime) = (tick, time)
            matches[old].isReplaced = isIn && begins
            current[key] = nil
        }
        let isAboutState = plan.when == .appears || plan.when == .within
        if let old = current[key], matches[old].isNew, isAboutState { matches[old].states.append((tick, after.state)) }
        guard begins else { return }
        var since = old.map { matches[$0].isReplaced && !plan.when.isNews ? matches[$0].since : time } ?? time
        if plan.when == .older { since = after.seen ?? time }
        let held = old.map { matches[$0] }.flatMap { earlier in
            earlier.isReplaced && plan.when == .within && time < earlier.held + Plan.hold ? earlier.held : nil
        }
        current[key] = matches.count
        let value =
            switch plan.when {
            case .changes: "\(after.note)"
            case .older: "\(since)"
            default: after.state
            }
        matches.append(
            Match(
                id: id, key: key, value: value, team: after.team, began: tick, time: time, since: since,
                held: held ?? time, isNew: !before.isPresent))
    }

    /// `at_least`: counts a match. Returns whether it begins one that goes on.
    private mutating func counts(_ key: String, _ plan: Plan) -> Bool {
        guard plan.has(.atLeast) else { return true }
        let times = (tallies[key] ?? []).filter { $0 + Plan.tallySpan > time } + [time]
        tallies[key] = times.count < Plan.needed ? times : []
        return times.count >= Plan.needed
    }

    /// Returns whether something was so at some time of a match.
    func wasEver(_ test: (Circumstances) -> Bool, during match: Match) -> Bool {
        for i in log.indices {
            let isLast = i + 1 == log.count
            guard isLast || log[i + 1].tick >= match.began else { continue }
            if let ended = match.ended, log[i].tick > ended { break }
            if test(log[i].circumstances) { return true }
        }
        return false
    }
}

extension Deed.Change {
    var key: String {
        switch self {
        case .state(let key, _), .note(let key), .team(let key), .gone(let key): key
        }
    }
}

extension Plan {
    /// Whether a match goes on while the item is so.
    fileprivate func holds(_ thing: History.Thing) -> Bool {
        guard thing.isPresent, !isNarrowed || thing.team == "x" else { return false }
        return switch when {
        case .becomes, .stays: thing.state == "down"
        case .within: thing.state != "up"
        case .older: thing.seen != nil
        case .changes, .appears: true
        }
    }

    /// Whether a change to an item for which the rule holds begins a match.
    fileprivate func begins(from before: History.Thing, to after: History.Thing) -> Bool {
        let isNew = !before.isPresent
        return switch when {
        case .becomes, .within, .stays: isNew || before.state != after.state
        case .older: isNew || before.seen != after.seen
        case .changes: isNew || before.note != after.note
        case .appears: isNew
        }
    }
}
