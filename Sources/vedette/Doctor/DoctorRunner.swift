// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore
import VedetteDesktop
import VedetteHTTP
import VedetteSystem

/// Every check of `doctor`, in the order in which they are told: each part as soon as it is known.
struct DoctorRunner: Sendable {
    let loader: ConfigurationLoader
    /// The state directory.
    let directory: String
    let journal: any JournalAccess
    let environment: [String: String]
    /// Nobody is knocked at.
    let isOffline: Bool

    private static let patience = Duration.seconds(8)

    /// Everything is looked at at once, since each part may wait for somebody who does not answer.
    func run(_ tell: ([Finding]) throws -> Void) async throws {
        let loader = loader
        let loaded = await SystemThread.run { loader.load() }
        let (configuration, now) = (loaded.configuration, SystemClock().now().wall)
        try tell(ConfigurationCheck(loaded: loaded).findings)
        try tell(ClockCheck(facts: .now(environment)).findings)
        let sinks = try await sinks(configuration)
        async let journal = facts(now)
        async let look = desktop(of: sinks)
        async let local = local(configuration, sinks)
        async let network = network(configuration, sinks, now)
        var facts = StateFacts.of(directory)
        facts.holder = await self.journal.watcher()
        try tell(StateCheck(facts: facts).findings)
        try tell(findings(await journal, configuration))
        try tell(watcher(facts, await look, sinks))
        guard let configuration else { return }
        try tell(SystemCheck(sources: configuration.sources.count, environment).findings)
        try tell(await local)
        try tell(bubbles(sinks, await look))
        try tell(await network)
    }

    private func sinks(_ configuration: Configuration?) async throws -> [SinkConfigurationProbe] {
        guard let configuration else { return [] }
        let client = try HTTPClient()
        let services = SinkServices(
            fetcher: client, clock: SystemClock(), userAgent: KindRegistry.userAgent)
        let sinks = SinkConfigurationProbe.all(in: configuration, services)
        await client.shutdown()
        return sinks
    }

    /// Nil where no sink needs a desktop; inside, nil when its bus does not answer.
    private func desktop(of sinks: [SinkConfigurationProbe]) async -> ServerCapabilities?? {
        guard sinks.contains(where: { $0.kind.name == DesktopKind.entry.name }) else { return nil }
        return .some(await within(DoctorRunner.patience) { await ServerCapabilities.now() })
    }

    /// Nil where there is no state directory yet.
    private func facts(_ now: Timestamp) async -> Result<JournalFacts, JournalError>? {
        guard StateFacts.of(directory).directory?.isDirectory == true else { return nil }
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
            sinks: Set(configuration?.sinks.map(\.name) ?? [])
        ).findings
    }

    private func watcher(_ facts: StateFacts, _ look: ServerCapabilities??, _ sinks: [SinkConfigurationProbe])
        -> [Finding]
    {
        WatcherCheck(
            facts: facts.holder.map(WatcherFacts.of), bus: look.flatMap { $0?.bus },
            hasOtherSinks: sinks.contains { $0.kind.name != DesktopKind.entry.name }
        ).findings
    }

    private func local(_ configuration: Configuration?, _ sinks: [SinkConfigurationProbe]) async -> [Finding] {
        let (needs, transformer) = (SourceNeeds(configuration?.sources ?? []), JQTransformer())
        let found = await within(DoctorRunner.patience) { await SystemThread.run { needs.findings(transformer) } }
        let check = LocalCheck(environment: environment)
        return (found ?? [.warning("jq", "it takes too long to read the programs of the sources")])
            + sinks.flatMap(check.findings)
    }

    private func bubbles(_ sinks: [SinkConfigurationProbe], _ look: ServerCapabilities??) -> [Finding] {
        let names = sinks.filter { $0.kind.name == DesktopKind.entry.name }.map(\.name)
        guard let look, let first = names.first else { return [] }
        let subject = names.count == 1 ? "sink \(first)" : "desktop"
        return DesktopCheck(subject: subject, look: look, files: DesktopFiles(environment)).findings
    }

    private func network(
        _ configuration: Configuration?, _ sinks: [SinkConfigurationProbe], _ now: Timestamp
    ) async -> [Finding] {
        guard !isOffline, let configuration else { return [] }
        let contacts = Endpoint.all(in: configuration, sinks)
        let knocks = await EndpointProbe.knock(at: contacts)
        let hasProxy = ["http_proxy", "all_proxy", "ALL_PROXY"].contains {
            environment[$0]?.isEmpty == false
        }
        return EndpointCheck(knocks: Array(zip(contacts, knocks)), now: now, hasProxy: hasProxy).findings
    }
}
