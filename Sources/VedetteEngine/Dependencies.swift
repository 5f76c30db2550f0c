// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Everything a watcher watches, as it is configured.
public struct WatchConfiguration: Sendable {
    public var sources: [Source]
    public var rules: RuleSet

    public init(sources: [Source], rules: RuleSet) { (self.sources, self.rules) = (sources, rules) }
}

/// The edges that the engine reaches through.
public struct Dependencies: Sendable {
    /// A watcher runs on its executor.
    public var fetcher: any Fetcher
    public var journal: any Journal
    public var clock: any Clock
    public var random: any RandomGenerator
    public var log: any Log
    public var userAgent: String
    /// Runs the programs of kinds that shape what they read.
    public var transformer: (any BodyTransformer)?
    /// Local time, for quiet times and digests.
    public var civil: any CivilTime
    /// The memory for what polls read.
    public var memory: PollMemory
    /// Measures polls, events and deliveries.
    public var meter: any Meter

    public init(
        fetcher: any Fetcher, journal: any Journal, clock: any Clock,
        random: any RandomGenerator, log: any Log,
        userAgent: String, transformer: (any BodyTransformer)? = nil, civil: any CivilTime,
        memory: PollMemory = PollMemory(), meter: any Meter = NoMeter()
    ) {
        (self.fetcher, self.journal) = (fetcher, journal)
        (self.clock, self.random) = (clock, random)
        (self.log, self.userAgent, self.transformer) = (log, userAgent, transformer)
        (self.civil, self.memory, self.meter) = (civil, memory, meter)
    }
}
