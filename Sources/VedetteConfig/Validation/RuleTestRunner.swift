// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Runs the tests of all rules, and reports each that fails.
enum RuleTestRunner {
    /// Runs nothing when the configuration has errors: a rule may then lack a part. A failing test is a warning, since the
    /// watcher can run; `vedette check` counts it as an error.
    static func run(_ rules: [ReadRule], _ findings: Findings) {
        guard !findings.hasErrors else { return }
        var stopping: [Rule] = []
        for read in rules {
            for (test, place) in zip(read.rule.tests, read.testPlaces) {
                if let failure = test.failure(of: read.rule, after: stopping, ZoneTime()) {
                    findings.failedTest(place, "rule '\(read.rule.name)': \(failure)")
                }
            }
            if read.rule.stop { stopping.append(read.rule) }
        }
    }
}
