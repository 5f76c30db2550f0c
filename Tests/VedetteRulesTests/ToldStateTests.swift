// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

/// A model of the receivers: what each sink must take for true, from the messages that it got. However gates, silences, failures
/// and restarts fall together, it must end in the truth.
@Suite("What receivers take for true")
struct ToldStateTests {
    private enum Step: CustomStringConvertible {
        /// An item is down, or up again.
        case change(String)
        /// An item is gone, or there again.
        case vanish(String)
        /// The journal does not take what the next change does, which is tried again.
        case failedCommit(String)
        /// The source, or the one of `depends`, fails or recovers.
        case source, gateway
        case silence(Silence)
        /// The oldest silence ends.
        case endSilence
        case restart
        case pass(Int)

        var description: String {
            switch self {
            case .change(let key): key
            case .vanish(let key): "\(key) vanishes"
            case .failedCommit(let key): "\(key) after a failed commit"
            case .source: "source"
            case .gateway: "gateway"
            case .silence(let silence): "silence of \(silence.description)"
            case .endSilence: "end of a silence"
            case .restart: "restart"
            case .pass(let seconds): "\(seconds) s"
            }
        }
    }

    private static let pause = CivilWindow(
        name: "pause", start: CivilTimeOfDay(minutes: 12 * 60 + 4), end: CivilTimeOfDay(minutes: 12 * 60 + 9),
        zone: "UTC")
    private static let silences = [
        Silence(id: 1, rule: "r", created: RuleHarness.noon), Silence(id: 2, item: "a", created: RuleHarness.noon),
        Silence(id: 3, sink: "team", created: RuleHarness.noon),
        Silence(id: 4, item: "b", sink: "out", created: RuleHarness.noon),
        Silence(id: 5, rule: "r", until: RuleHarness.noon.advanced(by: .seconds(400)), created: RuleHarness.noon),
    ]

    private func rule(_ dice: inout SplitMix64) -> Rule {
        Rule.when(.becomes("down"), to: "out", "team") {
            $0.resolved = true
            if Bool.random(using: &dice) { $0.pendingFor = .seconds(20) }
            if Bool.random(using: &dice) { $0.quiet = Quiet(windows: [Self.pause], action: .defer) }
            if Bool.random(using: &dice) { $0.depends = ["gateway"] }
            if Bool.random(using: &dice) {
                $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])]
            }
            if Bool.random(using: &dice) { $0.remind = Reminder(every: .seconds(100)) }
            let groupings: [Grouping?] = [nil, .item, .rule, .field("state")]
            if let by = groupings.randomElement(using: &dice) ?? nil {
                $0.limit = Limit(count: Int.random(in: 1...2, using: &dice), per: .seconds(90), by: by)
            }
        }
    }

    private func step(_ dice: inout SplitMix64) -> Step {
        let key = ["a", "b", "c"].randomElement(using: &dice) ?? "a"
        return switch Int.random(in: 0..<14, using: &dice) {
        case 0..<5: .change(key)
        case 12: .vanish(key)
        case 13: .failedCommit(key)
        case 5: .source
        case 6: .gateway
        case 7: .silence(Self.silences.randomElement(using: &dice) ?? Self.silences[0])
        case 8: .endSilence
        case 9: .restart
        default: .pass(Int.random(in: 1...40, using: &dice))
        }
    }

    private struct World {
        var harness: RuleHarness
        var down = Set<String>()
        var gone = Set<String>()
        /// The event with which each item went down last.
        var matches: [String: String] = [:]
        var silences: [Silence] = []
        var isGatewayDown = false
        var isFailing = false

        mutating func take(_ step: Step) {
            switch step {
            case .change(let key):
                if let event = change(key) { harness.poll(events: [event]) }
            case .failedCommit(let key):
                if let event = change(key) { harness.pollAfterFailedCommit(events: [event]) }
            case .vanish(let key):
                guard !isFailing else { return }
                let isGone = gone.contains(key)
                if isGone { gone.remove(key) } else { gone.insert(key) }
                down.remove(key)
                harness.poll(events: [harness.event(isGone ? .appeared : .disappeared, key: key, "up")])
            case .source:
                isFailing.toggle()
                harness.poll(isGood: !isFailing)
            case .gateway:
                isGatewayDown.toggle()
                harness.source(isGatewayDown ? .failing : .recovered, "gateway")
            case .silence(let silence):
                if !silences.contains(silence) { silences.append(silence) }
                harness.silence(silences)
            case .endSilence:
                silences = Array(silences.dropFirst())
                harness.silence(silences)
            case .restart:
                var health = SourceHealth()
                if isGatewayDown { health.failing["gateway"] = "status 500" }
                harness.restart(unconfirmed: ["lab"], health: health)
                if !isFailing { harness.poll() }
            case .pass(let seconds):
                harness.pass(.seconds(seconds))
                if !isFailing { harness.poll() }
            }
        }

        private mutating func change(_ key: String) -> Event? {
            guard !isFailing, !gone.contains(key) else { return nil }
            let isDown = down.contains(key)
            if isDown { down.remove(key) } else { down.insert(key) }
            let (state, was) = isDown ? ("up", "down") : ("down", "up")
            let event = harness.event(.changed, key: key, state, was: was)
            if !isDown { matches[key] = event.id.description }
            return event
        }

        /// Ends everything that withholds messages.
        mutating func end() {
            harness.silence([])
            if isGatewayDown { harness.source(.recovered, "gateway") }
            for _ in 1...40 {
                harness.pass(.seconds(30))
                harness.poll()
            }
        }

        /// The events that messages told each sink.
        var told: [String: Set<String>] {
            var told: [String: Set<String>] = [:]
            for message in harness.messages {
                let summary = message.event.summary
                let ids = [message.event.id.description] + (summary?.events ?? []) + (summary?.parts.map(\.event) ?? [])
                told[message.sink, default: []].formUnion(ids)
            }
            return told
        }

        /// The items that each sink takes for down.
        var believed: [String: Set<String>] {
            var believed: [String: Set<String>] = ["out": [], "team": [], "boss": []]
            for message in harness.messages {
                let event = message.event
                let keys = event.item.map { [$0.key] } ?? event.summary?.parts.compactMap(\.key) ?? []
                if event.kind == .resolved {
                    believed[message.sink, default: []].subtract(keys)
                } else {
                    believed[message.sink, default: []].formUnion(keys)
                }
            }
            return believed
        }
    }

    private func play(_ steps: [Step], _ rule: Rule) -> World {
        var world = World(harness: RuleHarness(rule))
        for step in steps { world.take(step) }
        world.end()
        return world
    }

    /// Plays random steps, and records the shortest sequence of them after which the world is not as it must be.
    private func check(
        seed: Int, resolves: Bool, _ isTrue: (World) -> Bool, _ describe: (World) -> String,
        at place: SourceLocation = #_sourceLocation
    ) {
        var dice = SplitMix64(UInt64(seed) + 77)
        var rule = rule(&dice)
        rule.gates.resolved = resolves
        if !resolves, Bool.random(using: &dice) {
            // A reminder tells what waited, too, but under an id of its own.
            (rule.gates.escalate, rule.gates.remind) = ([], nil)
            if rule.gates.quiet != nil { rule.gates.quiet = Quiet(windows: [Self.pause], action: .digest) }
            if Bool.random(using: &dice) { rule.gates.digest = DigestPlan(release: .every(.seconds(50)), by: .rule) }
        }
        var steps = (0..<80).map { _ in step(&dice) }
        guard !isTrue(play(steps, rule)) else { return }
        var i = 0
        while i < steps.count {
            var fewer = steps
            fewer.remove(at: i)
            if isTrue(play(fewer, rule)) { i += 1 } else { (steps, i) = (fewer, 0) }
        }
        Issue.record("\(describe(play(steps, rule))) after \(steps) with \(rule.gates)", sourceLocation: place)
    }

    @Test("each sink ends in the truth, whatever gates, silences, failures and restarts withheld", arguments: 0..<400)
    func truth(seed: Int) {
        check(seed: seed, resolves: true) { world in
            let believed = world.believed
            return believed["out"] == world.down && believed["team"] == world.down
                && believed["boss"]?.isSubset(of: world.down) == true
        } _: { world in
            "\(world.down.sorted()) is down, but the sinks take \(world.believed) for it"
        }
    }

    @Test("what is still so in the end was told to each sink, without 'resolved', too", arguments: 0..<400)
    func stillSo(seed: Int) {
        check(seed: seed, resolves: false) { world in
            world.down.allSatisfy { key in
                ["out", "team"].allSatisfy { world.told[$0]?.contains(world.matches[key] ?? "") == true }
            }
        } _: { world in
            "\(world.down.sorted()) is down since \(world.matches), but the sinks were told \(world.told)"
        }
    }
}
