// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteConfig
import VedetteCore
import VedetteEngine
import VedettePage
import VedetteSinks

/// The page while the watcher runs: starts it, moves it to another address on reload, and stops it. Without
/// `settings.listen` there is no server, no thread and no socket.
actor PageService {
    private struct Running {
        var server: PageServer
        var hub: ChangeHub
        var address: ListenAddress
        let access: CurrentAccess
    }

    /// Who may use a server. Each server has its own: while the page moves, the rules of one address need not fit the other.
    private final class CurrentAccess: Sendable {
        private let state: Mutex<PageAccess>

        init(_ access: PageAccess) { state = Mutex(access) }

        var value: PageAccess { state.withLock { $0 } }

        /// - Returns: the access before.
        func replace(with access: PageAccess) -> PageAccess {
            state.withLock { state in
                defer { state = access }
                return state
            }
        }
    }

    private let app: App
    private let journal: any JournalAccess
    /// Reads the configuration that trials are beside, without secrets.
    private let loader: ConfigurationLoader
    private var configuration: ConfigurationFacts
    private var running: Running?

    /// - Parameter journal: as commands use it.
    init(_ app: App, _ configuration: Configuration, _ loader: ConfigurationLoader, _ journal: any JournalAccess) {
        (self.app, self.configuration, self.journal) = (app, configuration.facts, journal)
        self.loader = loader.withoutSecrets
    }

    /// Takes a configuration: its facts at once, its address when it differs. An address that cannot be used is reported,
    /// and the page stays where it was.
    func apply(_ new: Configuration) async {
        configuration = new.facts
        guard let listen = new.listen else { return await stop() }
        let access = PageAccess(token: listen.token, hosts: Set(listen.hosts))
        if let running, running.address == listen.address {
            let old = running.access.replace(with: access)
            // Streams that began with another token end.
            if old.token?.value != access.token?.value { await running.hub.check() }
            return
        }
        do throws(ListenError) {
            let next = try await start(listen.address, CurrentAccess(access))
            await end(running)
            running = next
            app.log.log(.notice, "the page is at \(PageService.link(next.server.address))")
        } catch {
            let rest = running.map { "; it stays at \(PageService.link($0.server.address))" } ?? ""
            app.log.log(.error, "failed to offer the page at \(listen.address): \(error.detail)\(rest)")
        }
    }

    /// Closes every connection and the socket.
    func stop() async {
        await end(running)
        running = nil
    }

    /// The address as a person opens it.
    static func link(_ address: ListenAddress) -> String {
        if case .network = address { return "http://\(address)/" }
        return address.description
    }

    private func end(_ running: Running?) async {
        await running?.hub.stop()
        await running?.server.stop()
    }

    private func start(_ address: ListenAddress, _ access: CurrentAccess) async throws(ListenError) -> Running {
        let hub = ChangeHub(
            { [journal] () throws(JournalError) in try journal.changes() }, clock: app.clock, log: app.log)
        let sources = StatusPage.Sources(
            journal: journal, configuration: { await self.configuration },
            status: { [journal] facts async throws(JournalError) in try await StatusFacts.read(journal, facts) },
            polls: polls, text: .program, clock: app.clock)
        let trials = TrialService(
            PageTrials(loader: loader, journal: journal), clock: app.clock, configuration: sources.configuration)
        let api = APIRoutes(
            journal: journal, hub: hub, clock: app.clock, version: ProgramVersion.number,
            configuration: sources.configuration, status: sources.status,
            numbers: { [app, journal] in await app.numbers(await self.configuration, journal) }, registry: app.metrics,
            trials: trials, meaning: sources.text.meaning)
        let page = StatusPage(
            sources, hub: hub, access: { access.value },
            sign: { MessageAuthentication.code(of: $0, key: $1) }, trials: trials,
            links: app.links, routes: api.routes)
        let server = try await PageServer.start(
            address, healthChecks: APIRoutes.healthChecks, abandonable: TrialService.paths
        ) {
            await page.respond(to: $0)
        }
        return Running(server: server, hub: hub, address: address, access: access)
    }

    private var polls: PollFigures {
        let metrics = app.metrics
        @Sendable func inFlight(_ lanes: String...) -> Int {
            lanes.reduce(0) { $0 + Int(metrics.number(.pollsInFlight, $1) ?? 0) }
        }
        return PollFigures(
            inFlight: { inFlight("polls", "slow_hosts") }, streams: { inFlight("streams") },
            durations: { [app] in await app.watcher.pollDurations(of: $0) })
    }
}
