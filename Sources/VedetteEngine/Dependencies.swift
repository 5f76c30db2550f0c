// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Everything a watcher watches, as it is configured.
public struct WatchConfiguration: Sendable {
    public var sources: [Source]
    public var rules: RuleSet

    public init(sources: [Source], rules: RuleSet) { (self.sources, self.rules) = (sources, rules) }
}

/// What the shells of the engine work with.
public struct Dependencies: Sendable {
    public var fetcher: any Fetcher
    public var journal: any Journal
    public var clock: any Clock
    public var random: any RandomGenerator
    public var log: any Log
    public var userAgent: String
    /// The thread that the fetcher sleeps on: with the shells on it too, an unchanged poll crosses no thread.
    public var executor: any SerialExecutor
    /// Runs the programs of kinds that shape what they read.
    public var transformer: (any BodyTransformer)?
    /// What clocks on the wall show, for quiet times and digests.
    public var civil: any CivilTime

    public init(
        fetcher: any Fetcher, journal: any Journal, clock: any Clock, random: any RandomGenerator, log: any Log,
        userAgent: String, executor: any SerialExecutor, transformer: (any BodyTransformer)? = nil, civil: any CivilTime
    ) {
        (self.fetcher, self.journal, self.clock, self.random) = (fetcher, journal, clock, random)
        (self.log, self.userAgent, self.executor, self.transformer) = (log, userAgent, executor, transformer)
        self.civil = civil
    }
}
