// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Everything a watcher watches, as it is configured.
public struct Watch: Sendable {
    public var sources: [Source]
    public var rules: RuleSet

    public init(sources: [Source], rules: RuleSet) { (self.sources, self.rules) = (sources, rules) }
}

/// What the shells of the engine work with.
public struct Surroundings: Sendable {
    public var fetcher: any Fetcher
    public var journal: any Journal
    public var clock: any Clock
    public var chance: any Chance
    public var log: any Log
    public var userAgent: String
    /// The thread that the fetcher sleeps on: with the shells on it too, an unchanged poll crosses no thread.
    public var executor: any SerialExecutor
    /// Runs the programs of kinds that shape what they read.
    public var shaper: (any Shaper)?
    /// What clocks on the wall show, for quiet times and digests.
    public var civil: any CivilTime

    public init(
        fetcher: any Fetcher, journal: any Journal, clock: any Clock, chance: any Chance, log: any Log,
        userAgent: String, executor: any SerialExecutor, shaper: (any Shaper)? = nil, civil: any CivilTime
    ) {
        (self.fetcher, self.journal, self.clock, self.chance) = (fetcher, journal, clock, chance)
        (self.log, self.userAgent, self.executor, self.shaper) = (log, userAgent, executor, shaper)
        self.civil = civil
    }
}
