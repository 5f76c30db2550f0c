// SPDX-License-Identifier: Apache-2.0

import VedetteTestSupport

/// A rule, and what happens.
struct Scenario: CustomStringConvertible {
    var plan: Plan
    var deeds: [Deed]

    init(seed: Int) {
        var dice = SplitMix64(UInt64(seed) &+ 34)
        let plan = Plan(&dice)
        self.plan = plan
        deeds = (0..<60).map { _ in Deed.random(&dice, plan) }
        // After the others, which stay as they are for each seed.
        for _ in 0..<6 {
            let deed = Deed.acknowledge(Deed.keys[dice.below(Deed.keys.count)])
            let place = dice.below(deeds.count)
            if deed.isPossible(under: plan) { deeds.insert(deed, at: place) }
        }
        guard plan.has(.escalation), plan.has(.sinkSilence) else { return }
        let place = dice.below(deeds.count)
        deeds.insert(contentsOf: Deed.acknowledgedInSilence(&dice, plan), at: place)
    }

    /// Returns what it violates.
    func violations(_ answers: Set<Answer> = Answer.today) -> [Property: String] {
        Verdict(Run(plan, deeds), answers: answers).violations
    }

    /// Returns a scenario with as few gates and steps as still violate the property.
    func shrunk(_ property: Property, _ answers: Set<Answer> = Answer.today) -> Scenario {
        var least = self
        while true {
            let shorter = least.withoutGates(property, answers).withoutDeeds(property, answers)
            let isDone = shorter.plan.gates == least.plan.gates && shorter.deeds.count == least.deeds.count
            least = shorter
            if isDone { return least }
        }
    }

    private func withoutGates(_ property: Property, _ answers: Set<Answer>) -> Scenario {
        var least = self
        for gate in plan.gates.sorted() {
            var fewer = least
            fewer.plan.gates.remove(gate)
            fewer.deeds.removeAll { !$0.isPossible(under: fewer.plan) }
            if fewer.violations(answers)[property] != nil { least = fewer }
        }
        return least
    }

    /// Tries to leave out halves first, then single steps.
    private func withoutDeeds(_ property: Property, _ answers: Set<Answer>) -> Scenario {
        var least = self
        var length = max(1, deeds.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < least.deeds.count {
                var fewer = least
                fewer.deeds.removeSubrange(start..<min(start + length, least.deeds.count))
                if fewer.violations(answers)[property] != nil {
                    (least, isShorter) = (fewer, true)
                } else {
                    start += length
                }
            }
            if length == 1, !isShorter { return least.withoutFailedCommits(property, answers) }
            length = max(1, length / 2)
        }
    }

    /// Tries to let each commit succeed.
    private func withoutFailedCommits(_ property: Property, _ answers: Set<Answer>) -> Scenario {
        var least = self
        for i in deeds.indices.reversed() {
            guard case .failedCommit(let first, let second, _) = deeds[i] else { continue }
            for plain in [[Deed.change(first)], [.change(second)], [.change(first), .change(second)]] {
                var other = least
                other.deeds.replaceSubrange(i...i, with: plain)
                guard other.violations(answers)[property] != nil else { continue }
                least = other
                break
            }
        }
        return least
    }

    /// What a shrunk scenario violates, by the gates that it takes.
    struct Shape: Hashable, CustomStringConvertible {
        var property: Property
        var gates: Set<Gate>

        var description: String { "\(property.rawValue): \(gates.sorted().map(\.rawValue).joined(separator: ", "))" }
    }

    func shape(of property: Property) -> Shape { Shape(property: property, gates: plan.gates) }

    var description: String { "\(deeds) with \(plan)" }
}
