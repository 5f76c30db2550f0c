// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

/// A model of the receivers of messages about the health of sources, which are grouped by their server.
@Suite("What receivers take for failing")
struct ToldHealthTests {
    private enum Step: CustomStringConvertible {
        /// A source fails, or recovers.
        case source(String)
        case silence(Silence)
        /// The oldest silence ends.
        case endSilence
        case restart
        case pass(Int)

        var description: String {
            switch self {
            case .source(let name): name
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
        Silence(id: 1, rule: "r", created: RuleHarness.noon), Silence(id: 2, source: "a", created: RuleHarness.noon),
        Silence(id: 3, sink: "team", created: RuleHarness.noon),
        Silence(id: 4, source: "b", sink: "out", created: RuleHarness.noon),
    ]

    private func rule(_ dice: inout SplitMix64, resolves: Bool) -> Rule {
        Rule.when(.sourceState(resolves ? [.failing] : [.failing, .recovered]), to: "out", "team") {
            $0.resolved = resolves
            if Bool.random(using: &dice) { $0.pendingFor = .seconds(20) }
            if Bool.random(using: &dice) { $0.quiet = Quiet(windows: [Self.pause], action: .defer) }
            if Bool.random(using: &dice) { $0.depends = ["gateway"] }
            if Bool.random(using: &dice) { $0.limit = Limit(count: 1, per: .seconds(90), by: .item) }
        }
    }

    private func step(_ dice: inout SplitMix64) -> Step {
        switch Int.random(in: 0..<12, using: &dice) {
        case 0..<6: .source(["a", "b", "c", "gateway"].randomElement(using: &dice) ?? "a")
        case 6: .silence(Self.silences.randomElement(using: &dice) ?? Self.silences[0])
        case 7: .endSilence
        case 8: .restart
        default: .pass(Int.random(in: 1...40, using: &dice))
        }
    }

    private struct World {
        var harness: RuleHarness
        var failing = Set<String>()
        var silences: [Silence] = []

        mutating func take(_ step: Step) {
            switch step {
            case .source(let name):
                let isFailing = failing.contains(name)
                if isFailing { failing.remove(name) } else { failing.insert(name) }
                harness.source(isFailing ? .recovered : .failing, name, "status 500")
            case .silence(let silence):
                if !silences.contains(silence) { silences.append(silence) }
                harness.silence(silences)
            case .endSilence:
                silences = Array(silences.dropFirst())
                harness.silence(silences)
            case .restart:
                var health = SourceHealth()
                for name in failing { health.failing[name] = "status 500" }
                for name in ["a", "b", "c", "gateway"] { health.servers[name] = "lab" }
                harness.restart(health: health)
            case .pass(let seconds): harness.pass(.seconds(seconds))
            }
        }

        mutating func end() {
            harness.silence([])
            if failing.contains("gateway") { take(.source("gateway")) }
            for _ in 1...40 { harness.pass(.seconds(30)) }
        }

        /// The sources that each sink takes for failing.
        var believed: [String: Set<String>] {
            var believed: [String: Set<String>] = ["out": [], "team": []]
            for message in harness.messages {
                let event = message.event
                let single = [(source: event.source, kind: event.kind.word)]
                let parts = event.summary.map { $0.parts.map { (source: $0.source, kind: $0.kind) } } ?? []
                for part in parts.isEmpty ? single : parts {
                    let fails = part.kind == Event.Kind.failing.word
                    if fails {
                        believed[message.sink, default: []].insert(part.source)
                    } else {
                        believed[message.sink, default: []].remove(part.source)
                    }
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

    private func isTrue(_ world: World) -> Bool {
        world.believed["out"] == world.failing && world.believed["team"] == world.failing
    }

    @Test("each sink ends in the truth, whatever is grouped, withheld or lost to a restart", arguments: 0..<400)
    func truth(seed: Int) {
        var dice = SplitMix64(UInt64(seed) + 7)
        let rule = rule(&dice, resolves: Bool.random(using: &dice))
        var steps = (0..<60).map { _ in step(&dice) }
        guard !isTrue(play(steps, rule)) else { return }
        var i = 0
        while i < steps.count {
            var fewer = steps
            fewer.remove(at: i)
            if isTrue(play(fewer, rule)) { i += 1 } else { (steps, i) = (fewer, 0) }
        }
        let world = play(steps, rule)
        Issue.record(
            """
            \(world.failing.sorted()) fails, but the sinks take \(world.believed) for failing after \(steps), told \
            \(world.harness.sent), with \(rule.when) \(rule.gates)
            """)
    }
}
