// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteTestSupport

/// The rule of one run.
struct Plan: CustomStringConvertible {
    enum When: String, CaseIterable {
        /// `field: state, to: down`.
        case becomes
        /// `field: state, to: [down, limp]`: a change between the two is a match of its own.
        case within
        /// `stays: down`.
        case stays
        /// `older: {seen: 20s}`.
        case older
        /// `changes: [note]`.
        case changes
        /// `appears: true`.
        case appears

        /// Whether it is about a moment, and not about a state that lasts.
        var isNews: Bool { self == .changes || self == .appears }
        /// Whether it goes on while a value is there, and is found among stored items.
        var isStanding: Bool { self == .stays || self == .older }
    }

    static let hold = 20
    static let limitSpan = 90
    /// `at_least`: the matches of an item that make one, and the time in which they come.
    static let needed = 2
    static let tallySpan = 150
    static let reminderInterval = 100
    static let escalationDelay = 60
    static let recovery = 40
    static let digestInterval = 50
    /// The quiet time, in seconds after the start.
    static let pause = 180..<300
    /// When the window of `during` opens, in seconds after the start.
    static let opening = 240

    var when = When.becomes
    /// `where: {team: x}`.
    var isNarrowed = false
    var gates = Set<Gate>()
    var limitCount = 1
    var grouping = Grouping.item
    /// `unless: {…, drop: true}`.
    var conditionDrops = false
    /// Whether one of the sinks passes on events.
    var tellsEach = false
    var name = "r"
    /// The name before the last one.
    var formerName: String?
    /// How often the rule was edited.
    var version: UInt64 = 0

    init() {}

    init(_ dice: inout SplitMix64) {
        when = [When.becomes, .becomes, .within, .within, .stays, .stays, .older, .changes, .appears][dice.below(9)]
        let odds = dice.below(2) == 0 ? 3 : 7
        let usual: [Gate] = [
            .waiting, .condition, .depends, .oncePer, .digest, .limit, .reminders, .escalation, .end, .during,
        ]
        for gate in usual where dice.below(10) < odds { gates.insert(gate) }
        for gate in [Gate.silence, .sinkSilence] where dice.below(10) < 7 { gates.insert(gate) }
        if dice.below(10) < odds + 4 {
            gates.insert(
                [Gate.dropping, .dropping, .deferring, .deferring, .gathering, .gathering, .gathering][dice.below(7)])
        }
        if dice.below(10) < 9 { gates.insert(.fallback) }
        isNarrowed = !when.isStanding && !gates.contains(.oncePer) && dice.below(4) == 0
        limitCount = 1 + dice.below(2)
        grouping = [Grouping.item, .rule, .field("team"), .field("state")].randomElement(using: &dice) ?? .item
        conditionDrops = dice.below(3) == 0
        if dice.below(2) == 0 { gates.insert(.atLeast) }
        if gates.contains(.atLeast) { gates.remove(.waiting) }
        let prefersEscalation = dice.below(2) == 0
        if has(.escalation), keepsLogs { gates.subtract(prefersEscalation && !when.isNews ? Gate.logs : [.escalation]) }
        if when.isStanding {
            gates.insert(.waiting)
            gates.remove(.atLeast)
        }
        gates = allowed
        if has(.end), dice.below(3) > 0 { gates.insert(.lasting) }
        tellsEach = dice.below(2) == 0
    }

    /// News has no state that could last or end.
    private var allowed: Set<Gate> {
        guard when.isNews else { return gates }
        return gates.subtracting(when == .appears ? [.reminders, .escalation] : [.reminders, .escalation, .end])
    }

    func has(_ gate: Gate) -> Bool { gates.contains(gate) }

    /// Whether it lists what happened in some message.
    var keepsLogs: Bool { !gates.isDisjoint(with: Gate.logs) }

    private static let pauseWindow = CivilWindow(
        name: "pause", start: CivilTimeOfDay(minutes: 12 * 60 + 3), end: CivilTimeOfDay(minutes: 12 * 60 + 5),
        zone: "UTC")
    private static let openWindow = CivilWindow(
        name: "open", start: CivilTimeOfDay(minutes: 12 * 60 + 4), end: CivilTimeOfDay(minutes: 23 * 60), zone: "UTC")

    /// Returns whether the rule is quiet so many seconds after the start.
    func isQuiet(_ time: Int) -> Bool {
        (has(.during) && time < Plan.opening)
            || (!gates.isDisjoint(with: Gate.quietActions) && Plan.pause.contains(time))
    }

    private var condition: Condition {
        let condition: Condition =
            switch when {
            case .becomes: .field("state", from: nil, to: .oneOf(["down"]))
            case .within: .field("state", from: nil, to: .oneOf(["down", "limp"]))
            case .stays: .stays("state", .oneOf(["down"]))
            case .older: .older("seen", .seconds(has(.waiting) ? Plan.hold : 0))
            case .changes: .changes(["note"])
            case .appears: .appears
            }
        let here = Condition.source(["lab", "shop"], text: "lab or shop")
        return .all([here] + (isNarrowed ? [Condition.item("team", .oneOf(["x"]))] : []) + [condition])
    }

    var rule: Rule {
        var made = Gates()
        if has(.waiting), when != .older { made.pendingFor = .seconds(Plan.hold) }
        if has(.condition) {
            made.conditions = [
                SourceCondition(
                    source: "maintenance", matcher: .oneOf(["active"]), isExcluded: true, drops: conditionDrops)
            ]
        }
        if has(.depends) { made.depends = ["gateway"] }
        let action: Quiet.Action = has(.dropping) ? .drop : has(.gathering) ? .digest : .defer
        let isPaused = !gates.isDisjoint(with: Gate.quietActions)
        if isPaused || has(.during) {
            made.quiet = Quiet(
                windows: isPaused ? [Plan.pauseWindow] : [], outside: has(.during) ? [Plan.openWindow] : [],
                action: action)
        }
        if has(.atLeast) { made.atLeast = Limit(count: Plan.needed, per: .seconds(Plan.tallySpan)) }
        if has(.oncePer) { made.oncePer = "team" }
        if has(.digest) { made.digest = DigestPlan(release: .every(.seconds(Plan.digestInterval)), by: grouping) }
        if has(.limit) { made.limit = Limit(count: limitCount, per: .seconds(Plan.limitSpan), by: grouping) }
        if has(.reminders) { made.remind = Reminder(every: .seconds(Plan.reminderInterval)) }
        if has(.escalation) {
            made.escalate = [Escalation(after: .seconds(Plan.escalationDelay), notify: [.init(sink: "boss")])]
        }
        made.resolved = has(.end)
        if has(.lasting) { made.recoveredFor = .seconds(Plan.recovery) }
        var rule = Rule(
            name: name, when: condition, notify: Receivers.notified.map { .init(sink: $0) }, gates: made,
            matchesExisting: when.isStanding, identity: 0x1000 + version)
        rule.notify[0].tellsEach = tellsEach
        rule.formerName = formerName
        return rule
    }

    var description: String {
        let names = gates.sorted().map(\.rawValue)
        let limit = has(.limit) || has(.digest) ? ", count \(limitCount) by \(grouping)" : ""
        let drops = has(.condition) && conditionDrops ? ", drop" : ""
        let each = tellsEach ? ", each to \(Receivers.notified[0])" : ""
        return "\(when)\(isNarrowed ? " where team x" : "") with \(names)\(limit)\(drops)\(each)"
    }
}
