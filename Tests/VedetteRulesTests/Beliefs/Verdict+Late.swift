// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What must be so after a good poll at which no gate is closed.
extension Verdict {
    mutating func checkPromptness() {
        for match in history.matches.indices {
            let one = history.matches[match]
            let polls = run.polls[Circumstances.source(of: one.key)] ?? []
            for sink in Receivers.notified {
                let told = firings[Pair(sink: sink, match: match)]?.first?.tick ?? .max
                let end = min(told, one.ended ?? .max)
                let late = polls.first { one.began < $0.tick && $0.tick < end && isLate(match, sink, $0) }
                if let late { record(.late, "\(sink) does not know \(name(match)) at \(late.time) s") }
            }
        }
        guard plan.has(.end), !plan.keepsLogs, !plan.has(.limit) || plan.grouping == .item else { return }
        for key in Deed.keys {
            for poll in run.polls[Circumstances.source(of: key)] ?? [] where !isTrue(key, at: poll) {
                for sink in Receivers.notified + ["boss"] { checkEnd(of: key, sink, poll) }
            }
        }
    }

    private func isLate(_ match: Int, _ sink: String, _ poll: Run.Poll) -> Bool {
        let one = history.matches[match]
        guard isOpen(one.key, sink, poll.circumstances, poll.time) else { return false }
        if tellsLatest, plan.has(.atLeast) { return false }
        if plan.has(.condition), poll.circumstances.isMaintenance { return false }
        if plan.has(.waiting), poll.time - one.held < Plan.hold { return false }
        if plan.has(.digest), !isLogDue(one, sink, poll) { return false }
        if plan.has(.end), let last = lastTold(one.key, sink, before: one.began), !last.isEnd,
            !last.values.isDisjoint(with: initialValues(of: one))
        {
            return false
        }
        if plan.has(.oncePer), isUsed(match, sink, poll) { return false }
        return !mayBeDropped(match, sink, until: poll.time) && hasRoom(match, sink, poll)
    }

    /// Whether no gate is closed that an end passes, too.
    private func isOpen(_ key: String, _ sink: String, _ now: Circumstances, _ time: Int) -> Bool {
        now.covering(key, sink, at: time).isEmpty && !plan.isQuiet(time) && !now.isUncertain(key)
            && !(plan.has(.depends) && now.isGatewayFailing)
    }

    /// Whether nothing was closed while the log that lists the match was open.
    private func isLogDue(_ one: History.Match, _ sink: String, _ poll: Run.Poll) -> Bool {
        let delay = Plan.digestInterval + (plan.has(.waiting) ? Plan.hold : 0)
        guard !plan.has(.limit), poll.time >= one.time + delay, !wasQuiet(from: one.time, to: poll.time) else {
            return false
        }
        return !history.log.contains { entry in
            entry.tick >= one.began && entry.tick <= poll.tick
                && !isOpen(one.key, sink, entry.circumstances, entry.time)
        } && !history.wasEver({ !$0.silences.isEmpty || $0.isMaintenance }, during: one)
    }

    /// What the sink was told last of the item.
    func lastTold(_ key: String, _ sink: String, before tick: Int) -> (isEnd: Bool, values: Set<String>, match: Int)? {
        for told in run.made.reversed() where told.sink == sink && told.tick < tick {
            guard let part = told.parts.last(where: { $0.key == key }), let match = match(of: part, at: told.tick)
            else { continue }
            return (part.isEnd || part.isOver, values(of: match, toldAt: told.tick), match)
        }
        return nil
    }

    /// Whether the value of `once_per` belongs to another match than those in whose place this one waits.
    private func isUsed(_ match: Int, _ sink: String, _ poll: Run.Poll) -> Bool {
        // A log does not name a match that was found among stored items.
        if plan.keepsLogs, plan.when.isStanding { return true }
        let one = history.matches[match]
        var user: (tick: Int, match: Int)?
        for (pair, told) in firings where history.matches[pair.match].team == one.team {
            for tick in told.map(\.tick) where tick <= poll.tick {
                if let user, (user.tick, user.match) <= (tick, pair.match) { continue }
                user = (tick, pair.match)
            }
        }
        guard let user, user.match != match else { return false }
        // The chain of matches that waited, each in the place of the one before.
        var chain = match
        while chain != user.match {
            let began = history.matches[chain].began
            guard
                let before = history.matches.indices.last(where: {
                    history.matches[$0].key == one.key && history.matches[$0].ended == began
                        && history.matches[$0].isReplaced
                }), firings[Pair(sink: sink, match: before)] == nil, !mayBeDropped(before, sink, until: poll.time)
            else { return true }
            chain = before
        }
        return plan.keepsLogs || plan.has(.waiting) || plan.has(.condition)
    }

    private func hasRoom(_ match: Int, _ sink: String, _ poll: Run.Poll) -> Bool {
        guard plan.has(.limit) else { return true }
        let one = history.matches[match]
        // The messages of a log are in the group of its latest event.
        guard hasFixedGroups, !plan.has(.gathering) || !wasQuiet(from: one.time, to: poll.time) else { return false }
        let group = group(of: Told.Part(key: one.key, id: one.id, isEnd: false), poll.tick)
        let count = run.made.count { told in
            told.kind == .firing && told.sink == sink && told.tick <= poll.tick
                && told.time + Plan.limitSpan > poll.time
                && told.parts.contains { self.group(of: $0, told.tick) == group }
        }
        return count < plan.limitCount
    }

    private func isTrue(_ key: String, at poll: Run.Poll) -> Bool {
        history.matches.contains { one in
            one.began <= poll.tick && one.ended.map { $0 >= poll.tick } ?? true && one.key == key
        }
    }

    private mutating func checkEnd(of key: String, _ sink: String, _ poll: Run.Poll) {
        guard isOpen(key, sink, poll.circumstances, poll.time), !wasRefused(key, sink),
            let last = lastTold(key, sink, before: poll.tick + 1), !last.isEnd, isLasting(key, poll)
        else { return }
        record(.late, "\(sink) does not know the end of \(name(last.match)) at \(poll.time) s")
    }

    /// Whether an item was without a match for as long as `recovered_for` asks.
    private func isLasting(_ key: String, _ poll: Run.Poll) -> Bool {
        guard plan.has(.lasting) else { return true }
        let ended = history.matches.last { $0.key == key && $0.began <= poll.tick }?.endTime ?? poll.time
        // A match that `at_least` does not count, and that is no match here, begins the time anew.
        return !plan.has(.atLeast) && poll.time - ended >= Plan.recovery
    }

    // MARK: Logs

    /// What a log listed is told, whether or not it is still true.
    mutating func checkLogs() {
        for listed in run.listed.sorted(by: { ($0.event, $0.sink) < ($1.event, $1.sink) }) {
            let sink = listed.sink
            guard let match = byId[listed.event], firings[Pair(sink: sink, match: match)] == nil else { continue }
            let one = history.matches[match]
            let isDropped = history.log.contains { entry in
                entry.tick >= one.began
                    && entry.circumstances.covering(one.key, sink, at: entry.time).contains(where: \.drops)
            }
            if !isDropped { record(.lost, "\(sink) was not told \(name(match))") }
        }
    }
}
