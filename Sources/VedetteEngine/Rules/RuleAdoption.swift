// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The configured sources, and what a start or a reload has left to do.
struct RuleAdoption {
    /// The configured sources by name, whoever polls them.
    private(set) var sources: [String: Source] = [:]
    /// The rules that rows are under which are not put under those in force, since the journal refused it.
    private(set) var unadopted: RuleSet?
    /// The rules before the last reload: what is new since may match sources that fail already, also of those to come.
    private(set) var former: RuleSet?
    /// The sources whose failures new rules have looked at since.
    private var askedForFailures = Set<String>()

    /// Begins a start, or a reload that replaces rules.
    mutating func begin(_ sources: [String: Source], former: RuleSet? = nil) {
        (self.sources, self.former, askedForFailures) = (sources, former, [])
    }

    /// Records what became of putting rows under the rules in force, which an earlier call may have left undone.
    mutating func adopted(since old: RuleSet, isRefused: Bool) { unadopted = isRefused ? old : nil }

    mutating func askedForFailures(of sources: [Source]) { askedForFailures = Set(sources.map(\.name)) }

    /// Takes those of the sources whose failures new rules have not looked at.
    mutating func takeUnasked(_ records: [SourceRecord]) -> [SourceRecord] {
        records.filter { askedForFailures.insert($0.name).inserted }
    }
}
