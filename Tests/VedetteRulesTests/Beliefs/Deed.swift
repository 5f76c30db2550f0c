// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteTestSupport

/// One step of a run.
enum Deed: Hashable, CustomStringConvertible {
    enum Change: Hashable {
        /// An item has this state; one that was gone appears with it.
        case state(String, String)
        case note(String)
        /// An item moves to the other team.
        case team(String)
        case gone(String)
    }

    case change(Change)
    /// A poll does not show the item, and the next one does.
    case missing(String)
    /// The commit of the first change fails after the second one, of another source, was evaluated. That is committed, or fails,
    /// too. Both polls are repeated.
    case failedCommit(Change, then: Change, bothFail: Bool)
    /// The source of `a` and `b` fails, or is read again.
    case labFails
    /// The source of `depends` fails, or recovers; its poll may be committed at the second try.
    case gateway(failsFirst: Bool)
    /// Maintenance begins, or ends; its poll may be committed at the second try.
    case maintenance(failsFirst: Bool)
    case silence(Int)
    /// The oldest silence ends.
    case endSilence
    /// A sink refuses each message, or takes them again.
    case refuses(String)
    /// A sink cannot be reached, or takes what is pending.
    case stuck(String)
    /// What is pending for a sink is dropped by hand.
    case drop(String)
    /// The match of an item that was told is acknowledged.
    case acknowledge(String)
    case restart
    case takeOver
    case edit
    case rename
    case pass(Int)

    static let keys = ["a", "b", "c"]

    private static func change(_ dice: inout SplitMix64, of keys: [String], _ plan: Plan) -> Change {
        let key = keys.randomElement(using: &dice) ?? "a"
        let isAboutNotes = plan.when == .changes || plan.when == .older
        let isTeamFixed = plan.has(.oncePer)
        return switch dice.below(10) {
        case 0: .gone(key)
        case 1 where !isTeamFixed: .team(key)
        case 2, 3: isAboutNotes ? .note(key) : .state(key, "limp")
        case 4, 5, 6: isAboutNotes ? .note(key) : .state(key, "down")
        case 7: plan.when == .appears ? .gone(key) : .state(key, "down")
        default: .state(key, "up")
        }
    }

    /// A match is acknowledged after a silence of the sink of its escalation withheld that: chance alone hardly ever plays this.
    static func acknowledgedInSilence(_ dice: inout SplitMix64, _ plan: Plan) -> [Deed] {
        let key = keys.randomElement(using: &dice) ?? "a"
        let begins = plan.when == .older ? Change.note(key) : .state(key, "down")
        let silence = Circumstances.silences.firstIndex { $0.sink == "boss" } ?? 0
        return [.silence(silence), .change(begins), .pass(Plan.hold + Plan.escalationDelay), .acknowledge(key)]
    }

    static func random(_ dice: inout SplitMix64, _ plan: Plan) -> Deed {
        while true {
            let deed = draw(&dice, plan)
            if deed.isPossible(under: plan) { return deed }
        }
    }

    private static func draw(_ dice: inout SplitMix64, _ plan: Plan) -> Deed {
        let sink = Receivers.notified.randomElement(using: &dice) ?? "out"
        return switch dice.below(38) {
        case 0..<14: .change(change(&dice, of: keys, plan))
        case 14: .missing(["a", "b"].randomElement(using: &dice) ?? "a")
        case 15, 16:
            .failedCommit(
                change(&dice, of: ["a", "b"], plan), then: change(&dice, of: ["c"], plan),
                bothFail: dice.below(2) == 0)
        case 17: .labFails
        case 18: .gateway(failsFirst: false)
        case 19: .gateway(failsFirst: true)
        case 20, 21: .maintenance(failsFirst: dice.below(4) == 0)
        case 22, 23: .silence(dice.below(Circumstances.silences.count))
        case 24: .endSilence
        case 25: .refuses(sink)
        case 26: .stuck(sink)
        case 27: .drop(sink)
        case 28: .restart
        case 29: .takeOver
        case 30: dice.below(3) == 0 ? (dice.below(2) == 0 ? .edit : .rename) : .restart
        default: .pass(dice.below(4) == 0 ? 60 + dice.below(90) : 1 + dice.below(40))
        }
    }

    /// Whether the step has a meaning for the rule.
    func isPossible(under plan: Plan) -> Bool {
        switch self {
        case .gateway: plan.has(.depends)
        case .maintenance: plan.has(.condition)
        case .silence(let number):
            Circumstances.silences[number].sink == nil ? plan.has(.silence) : plan.has(.sinkSilence)
        case .endSilence: plan.has(.silence) || plan.has(.sinkSilence)
        case .acknowledge: plan.has(.reminders) || plan.has(.escalation)
        default: true
        }
    }

    var description: String {
        switch self {
        case .change(let change): "\(change)"
        case .missing(let key): "\(key) missing once"
        case .failedCommit(let first, let second, let both):
            "\(first) fails after \(second)\(both ? ", which fails, too" : "")"
        case .labFails: "lab fails or is back"
        case .gateway(let fails): "gateway fails or is back\(fails ? " at the second try" : "")"
        case .maintenance(let fails): "maintenance on or off\(fails ? " at the second try" : "")"
        case .silence(let number): "silence of \(Circumstances.silences[number].description)"
        case .endSilence: "end of a silence"
        case .refuses(let sink): "\(sink) refuses, or not"
        case .stuck(let sink): "\(sink) is stuck, or not"
        case .drop(let sink): "what is pending for \(sink) is dropped"
        case .acknowledge(let key): "\(key) acknowledged"
        case .restart: "restart"
        case .takeOver: "take-over"
        case .edit: "edit"
        case .rename: "rename"
        case .pass(let seconds): "\(seconds) s"
        }
    }
}

extension Deed.Change: CustomStringConvertible {
    var description: String {
        switch self {
        case .state(let key, let state): "\(key) \(state)"
        case .note(let key): "note of \(key)"
        case .team(let key): "team of \(key)"
        case .gone(let key): "\(key) gone"
        }
    }
}
