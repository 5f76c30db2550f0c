// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Drives the engine through random scenarios, and compares what each sink was told with what was true. `VEDETTE_BELIEF_RUNS` sets
/// the number of runs (1,000), `VEDETTE_BELIEF_SEED` the seed of the first one (0).
@Suite("What sinks believe after random scenarios", .serialized)
struct BeliefTests {
    private static let report = BeliefReport(
        first: number("VEDETTE_BELIEF_SEED") ?? 0, runs: number("VEDETTE_BELIEF_RUNS") ?? 1000)

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test("each sink ends in the truth, and was told nothing untrue or twice, but for the known failures")
    func truth() throws {
        let known = Set(try KnownFailure.all().map(\.shape))
        for (shape, runs) in Self.report.failures.sorted(by: { $0.key.description < $1.key.description }) {
            guard !known.contains(shape), let (seed, scenario) = runs.first else { continue }
            let text = scenario.violations()[shape.property] ?? ""
            Issue.record("\(shape) in \(runs.count) runs; run \(seed): \(text)\n  after \(scenario)")
        }
    }

    @Test("each known failure is found, in no more runs than before")
    func known() throws {
        for failure in try KnownFailure.all() {
            let runs = Self.report.failures[failure.shape]?.filter { $0.seed < 1000 }.count ?? 0
            #expect(runs <= failure.runs, "more runs than before: \(failure.shape)")
            guard failure.runs > 0 || Self.report.runs >= 10_000 else { continue }
            #expect(Self.report.failures[failure.shape] != nil, "no longer found, so delete it: \(failure.shape)")
        }
    }

    @Test("each answer of today is needed by a run")
    func answers() {
        let unneeded = Answer.today.subtracting(Self.report.needed).map(\.rawValue).sorted()
        #expect(unneeded.isEmpty, "no run needs these: delete them")
    }

    @Test("each two gates meet in 50 runs with two sinks and a fallback")
    func pairs() {
        for (i, one) in Gate.allCases.enumerated() {
            for other in Gate.allCases[(i + 1)...] where one.meets(other) {
                let count = Self.report.meetings[[one, other], default: 0]
                #expect(count >= 50, "\(one.rawValue) and \(other.rawValue) meet in \(count) runs")
            }
        }
    }
}
