// SPDX-License-Identifier: Apache-2.0

/// The outcome of many runs.
struct BeliefReport {
    let runs: Int
    /// The runs that fail, by what fails in them, each with its shrunk scenario.
    private(set) var failures: [Scenario.Shape: [(seed: Int, scenario: Scenario)]] = [:]
    /// The answers without which more runs fail.
    private(set) var needed = Set<Answer>()
    /// How often two gates were in a rule with a fallback.
    private(set) var meetings: [Set<Gate>: Int] = [:]
    init(first: Int, runs: Int) {
        self.runs = runs
        for seed in first..<first + runs {
            let scenario = Scenario(seed: seed)
            let run = Run(scenario.plan, scenario.deeds)
            let violated = Set(Verdict(run).violations.keys)
            for property in violated {
                let least = scenario.shrunk(property)
                failures[least.shape(of: property), default: []].append((seed, least))
            }
            for answer in Answer.today.subtracting(needed) {
                let strict = Verdict(run, answers: Answer.today.subtracting([answer])).violations
                if !violated.isSuperset(of: strict.keys) { needed.insert(answer) }
            }
            guard scenario.plan.has(.fallback) else { continue }
            let gates = Array(scenario.plan.gates)
            for i in gates.indices {
                for other in gates[(i + 1)...] { meetings[[gates[i], other], default: 0] += 1 }
            }
        }
    }
}
