// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What must be so of each message when it is made.
extension Verdict {
    mutating func checkRepetition() {
        for (pair, told) in firings where told.count > 1 {
            record(.twice, "\(pair.sink) was told \(name(pair.match)) at \(told.map(\.time)) s")
        }
        checkGoingOn()
        guard plan.has(.oncePer) else { return }
        for sink in Receivers.notified {
            var told: [String: Int] = [:]
            for match in history.matches.indices {
                let messages = firings[Pair(sink: sink, match: match)] ?? []
                guard !messages.isEmpty else { continue }
                let team = history.matches[match].team
                if let other = told[team] { record(.repeated, "\(sink) was told \(name(other)) and \(name(match))") }
                told[team] = match
            }
        }
    }

    /// A match that begins while the end of one with the same value is withheld from a sink is to it the one that it knows.
    private mutating func checkGoingOn() {
        guard plan.has(.end), !plan.keepsLogs else { return }
        for (pair, told) in firings where Receivers.notified.contains(pair.sink) {
            let one = history.matches[pair.match]
            guard let first = told.first, let last = lastTold(one.key, pair.sink, before: first.tick), !last.isEnd,
                last.values.count == 1, last.values == initialValues(of: one),
                let before = history.matches[..<pair.match].last(where: { $0.key == one.key }), !before.isReplaced
            else { continue }
            record(.twice, "\(pair.sink) knew \(name(last.match)) and was told \(name(pair.match))")
        }
    }

    mutating func checkWithheld() {
        for told in run.made {
            let now = circumstances(at: told.tick)
            for part in told.parts {
                guard let match = match(of: part, at: told.tick), !isLatest(match, told) else { continue }
                // A log waits for no confirmation, but for the end of a quiet time.
                let gate =
                    isLogged(match, told)
                    ? (plan.isQuiet(told.time) ? "quiet" : nil) : closedGate(match, part, told, now)
                guard let gate else { continue }
                record(.withheld, "\(gate): \(told.sink) was told \(name(match)) as \(told.kind) at \(told.time) s")
            }
        }
    }

    /// What a gate drops as it begins is never told.
    mutating func checkDropped() {
        guard !plan.has(.waiting) else { return }
        for match in history.matches.indices {
            let one = history.matches[match]
            guard let gate = droppingGate(one, circumstances(at: one.began)) else { continue }
            for sink in Receivers.notified where firings[Pair(sink: sink, match: match)] != nil {
                record(.dropped, "\(gate): \(sink) was told \(name(match))")
            }
        }
    }

    private func droppingGate(_ one: History.Match, _ now: Circumstances) -> String? {
        if plan.has(.condition), now.isMaintenance {
            return plan.when.isNews || plan.conditionDrops ? "unless" : nil
        }
        if plan.has(.depends), now.isGatewayFailing { return nil }
        // Silences of one sink come last.
        let silences = now.covering(one.key, "", at: one.time)
        if !silences.isEmpty { return silences.allSatisfy(\.drops) ? "silence" : nil }
        return plan.has(.dropping) && Plan.pause.contains(one.time) ? "quiet" : nil
    }

    private func circumstances(at tick: Int) -> Circumstances {
        history.log.last { $0.tick <= tick }?.circumstances ?? Circumstances()
    }

    /// Returns what should have held a message back.
    private func closedGate(_ match: Int, _ part: Told.Part, _ told: Told, _ now: Circumstances) -> String? {
        let one = history.matches[match]
        if !now.covering(one.key, told.sink, at: told.time).isEmpty { return "silence" }
        if plan.isQuiet(told.time) { return "quiet" }
        if plan.has(.depends), now.isGatewayFailing { return "depends" }
        if now.isUncertain(one.key) { return "confirmation" }
        let polled = now.polled[Circumstances.source(of: one.key)] ?? 0
        if polled < now.gatewayBack ?? 0, waitedForGateway(one, part, told, now) { return "a poll after depends" }
        guard !part.isEnd else {
            let ended = lastEnd(of: one.key, told)
            return plan.has(.lasting) && polled - ended < Plan.recovery ? "recovered_for" : nil
        }
        if plan.has(.condition), now.isMaintenance { return "unless" }
        if plan.has(.waiting), told.kind == .firing, polled - one.since < Plan.hold { return "for" }
        if told.sink == "boss", told.kind == .firing {
            let since = plan.has(.end) ? Receivers.notified.map { knownSince(one, told, by: $0) }.min() : nil
            if told.time - (since ?? one.since) < Plan.escalationDelay { return "escalate" }
        }
        let isFollowUp = told.kind == .reminder || told.sink == "boss" && told.kind == .firing
        if isFollowUp, let tick = run.acknowledged[one.id], (tick..<run.takenBack).contains(told.tick) {
            return "ack"
        }
        if told.kind == .reminder, told.time - lastMessage(about: one, before: told) < Plan.reminderInterval {
            return "remind"
        }
        return nil
    }

    /// When the sink was told of the item last, else since when the match is true. What a log lists begins no time anew.
    private func lastMessage(about match: History.Match, before told: Told) -> Int {
        guard !plan.keepsLogs else { return knownSince(match, told, by: told.sink) }
        let earlier = run.made.prefix { $0.message.id != told.message.id }
        for message in earlier.reversed() where message.sink == told.sink {
            guard let part = message.parts.last(where: { $0.key == match.key }) else { continue }
            return part.isEnd ? match.since : message.time
        }
        return match.since
    }

    private func lastEnd(of key: String, _ told: Told) -> Int {
        history.matches.last { $0.key == key && $0.began <= told.tick }?.endTime ?? told.time
    }

    /// Whether `depends` withheld the message until the gateway came back, and no other gate can have done that.
    private func waitedForGateway(_ one: History.Match, _ part: Told.Part, _ told: Told, _ now: Circumstances) -> Bool {
        let begin = part.isEnd ? lastEnd(of: one.key, told) : one.time
        guard plan.has(.depends), !plan.has(.limit), told.kind != .reminder, told.sink != "boss",
            begin < now.gatewayBack ?? 0, !wasQuiet(from: begin, to: told.time)
        else { return false }
        return history.log.allSatisfy { entry in
            entry.tick < one.began || entry.tick > told.tick
                || entry.circumstances.silences.isEmpty && !entry.circumstances.isMaintenance
        }
    }

    /// Since when the sink knows the match: where an end was withheld, of an earlier one of the same value.
    private func knownSince(_ match: History.Match, _ later: Told, by sink: String) -> Int {
        let earlier = run.made.filter { told in
            told.sink == sink && told.tick < later.tick && told.parts.contains { $0.key == match.key }
        }
        var since = match.since
        for told in earlier.reversed() {
            guard let part = told.parts.last(where: { $0.key == match.key }), !part.isEnd, !part.isOver else { break }
            since = min(since, told.time)
        }
        return since
    }

    // MARK: limit

    mutating func checkLimit() {
        guard plan.has(.limit) else { return }
        let opening: Set<Gate> = [
            .silence, .sinkSilence, .depends, .during, .dropping, .deferring, .gathering,
        ]
        if answers.contains(.openingPassesLimit), !plan.gates.isDisjoint(with: opening) { return }
        guard hasFixedGroups else { return }
        var times: [String: [Int]] = [:]
        for told in run.made where told.kind == .firing && told.sink != "boss" {
            for group in Set(told.parts.map { group(of: $0, told.tick) }) {
                let name = told.sink + " " + group
                let recent = (times[name] ?? []).filter { $0 + Plan.limitSpan > told.time } + [told.time]
                times[name] = recent
                if recent.count > plan.limitCount { record(.limit, "\(told.sink) got messages at \(recent) s") }
            }
        }
    }

    /// Whether no item moves to another group: one by a field that changes has no fixed members.
    var hasFixedGroups: Bool {
        switch plan.grouping {
        case .field("team"): plan.has(.oncePer)
        case .field("state"): plan.when == .becomes || plan.when == .stays
        default: true
        }
    }

    func group(of part: Told.Part, _ tick: Int) -> String {
        switch plan.grouping {
        case .rule: ""
        case .item: part.key
        case .field("state"): "down"
        case .field: match(of: part, at: tick).map { history.matches[$0].team } ?? ""
        }
    }

    // MARK: Reminders and escalations

    mutating func checkFollowUps() {
        for (key, match) in history.current.sorted(by: { $0.key < $1.key }) {
            let one = history.matches[match]
            for sink in Receivers.notified {
                // A match that began again while its end was withheld is to the sink the one that it knows.
                guard let (believed, values) = beliefs[sink]?[key],
                    believed == match || plan.has(.end) && values == initialValues(of: one),
                    let first = firings[Pair(sink: sink, match: believed)]?.first, first.time <= run.openTime,
                    believed == match || !wasRefused(key, sink)
                else { continue }
                let isReminded = run.made.count { told in
                    told.kind == .reminder && told.sink == sink && told.time > run.openTime
                        && told.parts.contains { $0.key == key }
                }
                if plan.has(.reminders), isReminded < 3 {
                    record(.followUp, "\(sink) is not reminded of \(name(match))")
                }
                // What `drop: true` dropped is told by no escalation either.
                guard plan.has(.escalation), !(plan.has(.condition) && plan.conditionDrops),
                    !wasDropSilenced(match, "boss")
                else { continue }
                let escalated = run.made.first { told in
                    told.sink == "boss" && told.time >= one.since && told.parts.contains { $0.key == key }
                }
                // To it, a match that began again while its end was withheld is the one that it knows.
                if escalated == nil, beliefs["boss"]?[key] == nil {
                    record(.followUp, "boss does not know \(name(match))")
                }
                // Where some sink is told it anew, its time begins with it.
                let begins = plan.has(.waiting) ? one.held + Plan.hold : one.time
                if let escalated, escalated.time > max(run.openTime, begins) + Plan.escalationDelay {
                    record(.followUp, "boss is told \(name(match)) only at \(escalated.time) s")
                }
            }
        }
    }
}
