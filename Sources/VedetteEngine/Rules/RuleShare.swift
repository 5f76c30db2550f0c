// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a watcher needs where others write the journal, too; a single one has none. It belongs to the rule coordinator.
final class RuleShare {
    let barrier = StepBarrier()
    private let journal: any JournalShares
    /// The changes of other watchers up to this number are in the engine.
    private var version: Int64 = 0
    /// Whether rows may be missing in the engine that others changed before `version`, since a rule was unknown here then.
    var mustReadAll = false

    init(_ journal: any JournalShares) { self.journal = journal }

    /// Reads what all watchers committed, for an engine that remembers nothing yet.
    func start() async throws(JournalError) -> RuleChanges {
        let all = try await journal.ruleChanges(after: nil)
        know(all.version)
        return all
    }

    /// Reads what other watchers committed since the version that the engine has, or with all rows of the journal.
    func changes(isComplete: Bool) async throws(JournalError) -> RuleChanges {
        try await journal.ruleChanges(after: isComplete ? nil : version)
    }

    /// Records that the engine has these changes.
    func took(_ changes: RuleChanges) { know(changes.version) }

    private func know(_ version: Int64) {
        self.version = version
        journal.know(version: version)
    }

    /// Returns what a step is based on.
    func basis(of step: RuleEngine.Step, _ engine: RuleEngine) -> RuleBasis {
        RuleBasis(writer: journal.writer, version: version, rules: step.rules, sources: engine.sourcesRead(by: step))
    }
}
