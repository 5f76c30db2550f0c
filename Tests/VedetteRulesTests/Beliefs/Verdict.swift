// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What must be so of every run.
enum Property: String, CaseIterable {
    case missing = "a sink was not told what is true"
    case stale = "a sink believes what is over"
    case twice = "a sink was told a match twice"
    case untrue = "a sink was told what never was true"
    case over = "a sink was told what was over"
    case withheld = "a message was made while a gate was closed"
    case limit = "there are more messages than the limit lets through"
    case repeated = "a value of once_per was told twice"
    case unexplained = "a sink was neither told a match nor has a reason"
    case followUp = "a reminder or escalation is missing"
    case unknownEnd = "a sink was told the end of what it did not take"
    case early = "a reminder was made while a message was pending"
    case dropped = "a sink was told what a gate dropped"
    case late = "a sink was not told while every gate was open"
    case lost = "a log lost what it listed"
}

/// Compares what a run told with what was true.
struct Verdict {
    let run: Run
    /// Where the engine's answer is taken as it is.
    let answers: Set<Answer>
    private(set) var violations: [Property: String] = [:]
    let byId: [String: Int]
    /// The firing messages that were made, by sink and match.
    private(set) var firings: [Pair: [Told]] = [:]
    /// The match that each sink believes, by item, and the values that it may have been told with.
    private(set) var beliefs: [String: [String: (match: Int, values: Set<String>)]] = [:]

    struct Pair: Hashable {
        var sink: String
        var match: Int
    }

    init(_ run: Run, answers: Set<Answer> = Answer.today) {
        (self.run, self.answers) = (run, answers)
        byId = Dictionary(uniqueKeysWithValues: run.history.matches.indices.map { (run.history.matches[$0].id, $0) })
        readMade()
        readAccepted()
        checkEnd()
        checkRepetition()
        checkWithheld()
        checkLimit()
        checkFollowUps()
        checkDropped()
        checkPromptness()
        checkLogs()
    }

    mutating func record(_ property: Property, _ text: String) {
        if violations[property] == nil { violations[property] = text }
    }

    var history: History { run.history }
    var plan: Plan { run.plan }
    func name(_ match: Int) -> String {
        let match = history.matches[match]
        return "\(match.key) (\(match.value) since \(match.time) s)"
    }

    /// Returns the match that a part of a message is about; nil for an event that began none.
    func match(of part: Told.Part, at tick: Int) -> Int? {
        if let id = part.id { return byId[id] }
        return history.matches.lastIndex { $0.key == part.key && $0.began <= tick }
    }

    // MARK: What was made

    private mutating func readMade() {
        var ended: [Pair: Int] = [:]
        for told in run.made {
            for part in told.parts {
                guard let match = match(of: part, at: told.tick) else {
                    readUnknown(part, told)
                    continue
                }
                guard !isLatest(match, told) else { continue }
                let pair = Pair(sink: told.sink, match: match)
                if part.isEnd {
                    let isTrue = history.matches.contains { other in
                        other.key == part.key && other.began <= told.tick && isOld(other, at: told.time)
                            && (other.ended.map { $0 > told.tick } ?? true)
                    }
                    if isTrue, !isLogged(match, told) {
                        record(.over, "\(told.sink) was told the end of \(name(match)) at \(told.time) s")
                    }
                    ended[pair, default: 0] += 1
                    if ended[pair] == 2 { record(.twice, "\(told.sink) was told the end of \(name(match)) twice") }
                } else {
                    let isOver = history.matches[match].ended.map { $0 <= told.tick } ?? false
                    if isOver, told.kind == .reminder || !isLogged(match, told) {
                        record(.over, "\(told.sink) was told \(name(match)) at \(told.time) s")
                    }
                    // Of a match without an event of its own nobody knows whether it is the present one.
                    let isNamed = part.id != nil || firings[pair] == nil
                    if told.kind == .firing, isNamed { firings[pair, default: []].append(told) }
                }
            }
        }
    }

    /// `older`: whether a time is as old as the rule wants it.
    private func isOld(_ match: History.Match, at time: Int) -> Bool {
        plan.when != .older || time - match.since >= Plan.hold
    }

    /// Whether a message after a limit may tell the latest state of the item, which is no match.
    var tellsLatest: Bool {
        answers.contains(.limitTellsLatestState) && plan.has(.limit) && plan.grouping == .item && !plan.has(.end)
    }

    /// Whether the message tells the latest state of an item that is not old enough for a match.
    func isLatest(_ match: Int, _ told: Told) -> Bool {
        tellsLatest && told.kind == .firing && !isOld(history.matches[match], at: told.time)
    }

    private mutating func readUnknown(_ part: Told.Part, _ told: Told) {
        guard !tellsLatest else { return }
        record(.untrue, "\(told.sink) was told '\(told.message.title)' at \(told.time) s")
    }

    /// Whether the message may list the match though it is over.
    func isLogged(_ match: Int, _ told: Told) -> Bool {
        plan.has(.digest) || (plan.has(.gathering) && wasQuiet(from: history.matches[match].time, to: told.time))
    }

    func wasQuiet(from: Int, to: Int) -> Bool { (from...max(from, to)).contains(where: plan.isQuiet) }

    /// Follows what each sink believes.
    private mutating func readAccepted() {
        for told in run.receivers.accepted {
            for part in told.parts {
                guard let match = match(of: part, at: told.tick) else { continue }
                guard part.isEnd || part.isOver else {
                    beliefs[told.sink, default: [:]][part.key] = (match, values(of: match, toldAt: told.tick))
                    continue
                }
                // A log names no event of a match that was found among stored items.
                let isHidden = plan.when.isStanding && plan.keepsLogs
                if part.isEnd, beliefs[told.sink]?[part.key] == nil, told.sink != "spare", !isHidden,
                    // A message about several goes whole to each sink that took one of its matches.
                    !(told.parts.count > 1 && wasRefused(part.key, told.sink))
                {
                    record(.unknownEnd, "\(told.sink) took the end of \(name(match)) at \(told.time) s")
                }
                beliefs[told.sink]?[part.key] = nil
            }
        }
        guard !answers.contains(.remindsWhilePending), let early = run.receivers.early.first else { return }
        record(.early, "\(early.sink) was reminded at \(early.time) s")
    }

    func wasRefused(_ key: String, _ sink: String, end: Bool = false) -> Bool {
        run.receivers.refused.contains { told in
            // What was listed as over is told and over.
            told.sink == sink && told.parts.contains { $0.key == key && (!end || $0.isEnd || $0.isOver) }
        }
    }

    /// The values with which a message can have announced a match: what appeared is told with the state that it has by then, and
    /// listed in a log with the one that it had then.
    func values(of match: Int, toldAt tick: Int) -> Set<String> {
        let one = history.matches[match]
        let values = [one.value] + one.states.filter { $0.tick <= tick }.map(\.state)
        return Set(plan.keepsLogs ? values : values.suffix(1))
    }

    /// The values with which a match can begin: what appeared changes in `for`.
    func initialValues(of one: History.Match) -> Set<String> {
        Set([one.value] + (plan.has(.waiting) ? one.states.map(\.state) : []))
    }
}
