// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteDesktop
import VedetteHTTP
import VedettePage
import VedettePostgres
import VedetteSystem

/// Runs every check of `doctor` and reports the findings part by part, in a fixed order.
struct DoctorRunner: Sendable {
    let loader: ConfigurationLoader
    /// Where the journal is.
    let place: JournalPlace
    let environment: [String: String]
    /// No connection is made.
    let isOffline: Bool

    private static let timeout = Duration.seconds(8)

    /// Gathers all facts at once, since each part may wait for something that does not answer.
    func run(_ report: ([Finding]) throws -> Void) async throws {
        let loader = loader
        let loaded = try await SystemThread.run { loader.load() }
        let (configuration, now) = (loaded.configuration, SystemClock().now().wall)
        try report(ConfigurationCheck(loaded: loaded).findings)
        try report(ClockCheck(environment).findings)
        let sinks = try await sinks(configuration)
        let desktops = sinks.filter { $0.kind.name == DesktopKind.entry.name }.map(\.name)
        let access = place.access
        async let journal = facts(access, now)
        async let server = desktops.isEmpty ? nil : within(Self.timeout) { await DesktopFacts.now() }
        async let local = local(configuration, sinks)
        async let network = network(configuration, sinks, now)
        try report(await state())
        try report(findings(await journal, configuration))
        if isReachable {
            try report(
                WatcherCheck(
                    facts: await access.watcher().map(WatcherFacts.read(_:)), bus: await server?.bus,
                    hasOtherSinks: sinks.count > desktops.count
                ).findings)
        }
        guard let configuration else { return }
        let page = configuration.listen == nil ? 0 : PageLimits().connections
        try report(SystemCheck(sources: configuration.sources.count, pageConnections: page, environment).findings)
        try report(await local)
        if let name = desktops.first {
            let subject = desktops.count == 1 ? "sink \(name)" : "desktop"
            try report(
                DesktopCheck(subject: subject, server: await server, files: .find(environment)).findings)
        }
        try report(await network)
    }

    private func sinks(_ configuration: Configuration?) async throws -> [SinkConfigurationProbe] {
        guard let configuration else { return [] }
        let client = try HTTPClient()
        let services = SinkServices(fetcher: client, clock: SystemClock(), userAgent: UserAgent.standard)
        let sinks = SinkConfigurationProbe.all(in: configuration, services)
        await client.shutdown()
        return sinks
    }

    /// Whether the journal may be read: with `--offline` no connection is made, also not to its server.
    private var isReachable: Bool {
        if case .postgres = place { return !isOffline }
        return true
    }

    /// Checks the place of the journal. Where its server does not answer, the check of the journal tells why.
    private func state() async -> [Finding] {
        switch place {
        case .directory(let path): return StateDirectoryCheck(facts: .read(path)).findings
        case .postgres where isOffline: return [.ok("database", "not checked, since that needs a connection")]
        case .postgres(let server):
            let facts = try? await PostgresJournalAccess(server).serverFacts()
            return facts.map { PostgresCheck(location: place.location, facts: $0).findings } ?? []
        }
    }

    /// Nil where there is no state directory yet, or no connection may be made.
    private func facts(
        _ journal: any JournalAccess, _ now: Timestamp
    ) async -> Result<JournalFacts, JournalError>? {
        if case .directory(let path) = place, access(path, X_OK) != 0 { return nil }
        guard isReachable else { return nil }
        do throws(JournalError) {
            return .success(try await JournalFacts.read(journal, at: now))
        } catch {
            return .failure(error)
        }
    }

    private func findings(
        _ journal: Result<JournalFacts, JournalError>?, _ configuration: Configuration?
    ) -> [Finding] {
        guard let journal else { return [] }
        return JournalCheck(
            facts: journal,
            sources: Set(configuration?.sources.map(\.name) ?? []),
            sinks: Set(configuration?.sinks.map(\.name) ?? []), rules: configuration?.rules,
            addresses: Dictionary(configuration?.sources.map { ($0.name, $0.urlDigest) } ?? []) { first, _ in first }
        ).findings
    }

    private func local(_ configuration: Configuration?, _ sinks: [SinkConfigurationProbe]) async -> [Finding] {
        let (check, sources) = (ProgramsAndFilesCheck(environment: environment), configuration?.sources ?? [])
        let found = await within(Self.timeout) {
            try? await SystemThread.run { check.findings(sources, JQTransformer()) }
        }
        return (found.flatMap { $0 } ?? [.warning("jq", "it did not compile the programs of the sources in time")])
            + sinks.flatMap(check.findings)
    }

    private func network(
        _ configuration: Configuration?, _ sinks: [SinkConfigurationProbe], _ now: Timestamp
    ) async -> [Finding] {
        guard !isOffline, let configuration else { return [] }
        let endpoints = Endpoint.all(in: configuration, sinks)
        let results = await EndpointProbe.connect(to: endpoints)
        let hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { environment[$0]?.isEmpty == false }
        return EndpointCheck(results: Array(zip(endpoints, results)), now: now, hasProxy: hasProxy).findings
    }
}
