// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// What several watchers with the same configuration divide among them.
public struct SharedNames: Sendable, Hashable {
    public var sources: Set<String>
    public var sinks: Set<String>
    public var rules: Set<String>
    /// The watcher that alone may poll a source, by the source's name.
    public var pinnedSources: [String: String]
    /// The watcher that alone may deliver to a sink, by the sink's name.
    public var pinnedSinks: [String: String]
    /// See `limitedOrigins(of:)`.
    public var limitedOrigins: [String: String]
    /// A digest of the configuration. Watchers with another one take no part.
    public var configuration: String

    public init(
        sources: Set<String>, sinks: Set<String>, rules: Set<String>, pinnedSources: [String: String] = [:],
        pinnedSinks: [String: String] = [:], limitedOrigins: [String: String] = [:], configuration: String
    ) {
        (self.sources, self.sinks, self.rules) = (sources, sinks, rules)
        (self.pinnedSources, self.pinnedSinks) = (pinnedSources, pinnedSinks)
        (self.limitedOrigins, self.configuration) = (limitedOrigins, configuration)
    }

    /// Returns the origin of each source, by its name, whose requests a server limits by `rate` or `concurrency`. One watcher
    /// polls all of them, since the limits hold within one queue of requests.
    public static func limitedOrigins(of sources: [Source]) -> [String: String] {
        func hasLimits(_ source: Source) -> Bool {
            source.server.originLimits.concurrency != nil || source.server.originLimits.interval != nil
        }
        let origins = sources.compactMap { source in
            WebURL(source.url).map { (name: source.name, origin: $0.origin, isLimited: hasLimits(source)) }
        }
        // The limits hold for all servers of the origin.
        let limited = Set(origins.filter(\.isLimited).map(\.origin))
        return Dictionary(
            origins.filter { limited.contains($0.origin) }.map { ($0.name, $0.origin) }, uniquingKeysWith: { $1 })
    }

    /// Returns the part of one watcher.
    func leases(of watcher: String, among watchers: Set<String>) -> Set<Lease> {
        let sources = FairShare(of: sources, among: watchers, pins: pinnedSources, groups: limitedOrigins)
            .names(of: watcher)
        let sinks = FairShare(of: sinks, among: watchers, pins: pinnedSinks).names(of: watcher)
        let rules = FairShare(of: rules, among: watchers).names(of: watcher)
        return Set(sources.map(Lease.source) + sinks.map(Lease.sink) + rules.map(Lease.rule))
    }
}

/// Keeps this watcher's part of what several watchers share: it takes what is its own and free, and gives back what became
/// another's, when nothing of that is under way any more.
public actor ShareCoordinator {
    /// The usual time between two looks at what the rules of other watchers changed.
    private static let interval = Duration.seconds(5)

    private let shares: any JournalShares
    private let watcher: Watcher
    private let dispatcher: Dispatcher
    private let log: any Log
    private let clock: any Clock
    private var names: SharedNames
    /// What this watcher polls, delivers to and evaluates.
    private var held = Set<Lease>()
    /// What the journal may have as this watcher's: `held`, and what a failure has kept from being taken or released.
    private var owned = Set<Lease>()
    /// Whether the configuration must still be registered.
    private var isConfigured = true
    /// Whether this watcher has the newest configuration, so that what is missing in it is nobody's.
    public private(set) var takesPart = false
    private var followsAt: BootTime?
    private var driftMonitor = DriftMonitor()
    /// The last line of the log about the share.
    private var logged = ""

    /// - Parameter names: the names in the configuration with which this watcher registered.
    public init(
        _ shares: any JournalShares, _ names: SharedNames, _ watcher: Watcher, _ dispatcher: Dispatcher,
        log: any Log, clock: any Clock
    ) {
        (self.shares, self.names, self.watcher, self.dispatcher) = (shares, names, watcher, dispatcher)
        (self.log, self.clock) = (log, clock)
    }

    /// Keeps this watcher's part until the task is cancelled.
    public func run() async {
        do throws(JournalError) {
            for await _ in try shares.shareWakes() where !Task.isCancelled { await update() }
        } catch {
            log.log(.error, "failed to watch what other watchers do: \(error.detail)")
        }
    }

    /// Divides the names of another configuration from the next look on.
    public func configure(_ names: SharedNames) {
        if names.configuration != self.names.configuration { isConfigured = false }
        self.names = names
    }

    /// Whether this watcher carries out a control request; those about what another one holds are left to that.
    public func carriesOut(_ request: ControlRequest) -> Bool {
        switch request {
        case .accept(let source), .poll(let source): holds(source)
        case .acknowledge(_, let subject, _): holds(subject.source)
        case .retry(let sink), .reloadQueue(let sink):
            held.contains(.sink(sink)) || takesPart && !names.sinks.contains(sink)
        case .reloadSilences: true
        case .unknown: takesPart
        }
    }

    /// Whether this watcher polls the source, or nobody does.
    private func holds(_ source: String) -> Bool {
        held.contains(.source(source)) || takesPart && !names.sources.contains(source)
    }

    /// Looks once at the other watchers, and at what they committed.
    func update() async {
        do throws(JournalError) {
            if !isConfigured {
                let configuration = names.configuration
                try await shares.configure(configuration)
                // Another one may have come meanwhile.
                isConfigured = configuration == names.configuration
            }
            var names = names
            // Somebody must end the messages to a sink that was removed.
            names.sinks.formUnion(try await dispatcher.lookForDeliveries())
            let watchers = try await shares.watchers()
            let drift = ConfigurationDrift(watchers)
            let sharing = watchers.filter { $0.configuration == drift.newest?.configuration }
            let part = part(among: watchers, sharing)
            takesPart = part == .own
            try await hold(part == .own ? names.leases(of: shares.name, among: Set(sharing.map(\.name))) : [])
            logShare(watchers, part)
            try await announce(drift)
            await follow()
        } catch {
            log.log(error.logLevel, "failed to divide sources and sinks with other watchers: \(error.detail)")
        }
    }

    /// Why this watcher holds what it does.
    private enum Part {
        /// It holds its part.
        case own
        /// Nothing: another watcher has a newer configuration.
        case outdated
        /// Nothing: other watchers took over.
        case lost
    }

    /// - Parameter sharing: the watchers with the newest configuration.
    private func part(among watchers: [RegisteredWatcher], _ sharing: [RegisteredWatcher]) -> Part {
        if sharing.contains(where: { $0.number == shares.writer }) { return .own }
        return watchers.contains { $0.number == shares.writer } ? .outdated : .lost
    }

    private func hold(_ leases: Set<Lease>) async throws(JournalError) {
        let excess = held.subtracting(leases)
        if !excess.isEmpty { try await apply(held.intersection(leases)) }
        let surplus = owned.subtracting(leases)
        if !surplus.isEmpty {
            try await shares.release(surplus)
            owned.subtract(surplus)
        }
        let missing = leases.subtracting(held)
        guard !missing.isEmpty else { return }
        owned.formUnion(missing)
        let taken = try await shares.take(missing)
        owned = held.union(taken)
        if !taken.isEmpty { try await apply(held.union(taken)) }
    }

    private func apply(_ leases: Set<Lease>) async throws(JournalError) {
        var (sources, sinks, rules): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for lease in leases {
            switch lease {
            case .source(let name): sources.insert(name)
            case .sink(let name): sinks.insert(name)
            case .rule(let name): rules.insert(name)
            }
        }
        try await watcher.hold(sources: sources, rules: rules)
        try await dispatcher.hold(sinks)
        held = leases
    }

    /// Makes an event and a line of the log when the configurations differ, and when they agree again.
    private func announce(_ drift: ConfigurationDrift) async throws(JournalError) {
        guard driftMonitor.mustCompare(drift, own: shares.writer, at: clock.now().boot) else { return }
        if let change = DriftMonitor.change(drift, since: try await watcher.rules.lastOfWatchers()) {
            guard await watcher.rules.watchersChanged(change) else { return }
            switch change {
            case .differ(let cause, _):
                log.log(
                    .warning, "the watchers have different configurations: \(cause); \(ConfigurationDrift.remedy)")
            case .agree: log.log(.notice, "the watchers have the same configuration again")
            }
        }
        driftMonitor.settle()
    }

    /// A refused commit learns of changes at once; what waits for a time of its own, such as a digest, does here.
    private func follow() async {
        let now = clock.now().boot
        if let followsAt, now < followsAt { return }
        followsAt = now.advanced(by: ShareCoordinator.interval)
        await watcher.rules.followOthers()
    }

    private func logShare(_ watchers: [RegisteredWatcher], _ part: Part) {
        let sources = held.count { if case .source = $0 { true } else { false } }
        let sinks = held.count { if case .sink = $0 { true } else { false } }
        let others = watchers.filter { $0.number != shares.writer }.map { "'\($0.name)'" }.sorted()
        let beside = others.isEmpty ? "there is no other watcher" : "beside \(others.joined(separator: ", "))"
        let text =
            switch part {
            case .own:
                "polls \(sources) of \(counted(names.sources.count, "source")) and delivers to \(sinks) of "
                    + "\(counted(names.sinks.count, "sink")); \(beside)"
            case .outdated:
                "stands by: another watcher has a newer configuration; give this one the same (\(beside))"
            case .lost:
                "polls nothing: others have taken over, since the journal did not hear of this watcher in time (\(beside))"
            }
        let present = Set(watchers.map(\.name))
        let absent = Set(names.pinnedSources.values).union(names.pinnedSinks.values).subtracting(present).sorted()
        let pins = absent.isEmpty ? "" : "; nobody uses what is for \(absent.map { "'\($0)'" }.joined(separator: ", "))"
        let line = text + pins
        guard line != logged else { return }
        logged = line
        log.log(part == .own ? .notice : .warning, line)
    }
}
