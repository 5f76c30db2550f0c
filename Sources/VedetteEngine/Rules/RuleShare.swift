// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a watcher needs where others write the journal, too. A single one has none.
struct RuleShare {
    let journal: any JournalShares
    let barrier = StepBarrier()
    /// The changes of other watchers up to this number are in the engine.
    var version: Int64 = 0

    init(_ journal: any JournalShares) { self.journal = journal }
}
