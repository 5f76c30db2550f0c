// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The routes for programs: metrics, health checks, the API, the feed and badges. A new route is a row in one of the tables
/// in `Routes`, which has its handler, the check of its parameters and its documentation.
public struct APIRoutes: Sendable {
    /// The paths of the health checks.
    public static let healthChecks: Set<String> = ["/healthz", "/readyz"]

    let journal: any JournalAccess
    let hub: ChangeHub
    let shared: EventWindow
    let clock: any Clock
    let version: String
    let configuration: @Sendable () async -> ConfigurationFacts
    let status: @Sendable (ConfigurationFacts) async throws(JournalError) -> StatusFacts
    let numbers: @Sendable () async -> WatcherNumbers
    let readiness: Readiness
    let registry: MetricRegistry
    let trials: TrialService
    let meaning: @Sendable (_ state: String, _ kind: String) -> StateMeaning?

    /// - Parameters:
    ///   - hub: tells of changes of the journal; shared by all streams.
    ///   - configuration: returns the one in force.
    ///   - status: reads what `status` shows of it.
    ///   - numbers: reads what metrics show besides the numbers of `registry`.
    ///   - trials: tries what is not configured yet.
    ///   - meaning: returns what a state of a source of a kind means; nil when nobody can tell.
    public init(
        journal: any JournalAccess, hub: ChangeHub, clock: any Clock, version: String,
        configuration: @escaping @Sendable () async -> ConfigurationFacts,
        status: @escaping @Sendable (ConfigurationFacts) async throws(JournalError) -> StatusFacts,
        numbers: @escaping @Sendable () async -> WatcherNumbers, registry: MetricRegistry,
        trials: TrialService,
        meaning: @escaping @Sendable (_ state: String, _ kind: String) -> StateMeaning?
    ) {
        (self.journal, self.hub, self.clock, self.version) = (journal, hub, clock, version)
        shared = EventWindow(journal)
        (self.configuration, self.status) = (configuration, status)
        (self.numbers, self.registry, self.trials, self.meaning) = (numbers, registry, trials, meaning)
        readiness = Readiness(clock) { await numbers().isStalled }
    }

    /// The routes for the router.
    public var routes: [Route] {
        let document = OpenAPI(operations: table, version: version).text
        var own = Route(.get, OpenAPI.path) { _ in .text(document, contentType: "application/json") }
        own.otherSites = .nothing
        return table.map(\.route) + [own]
    }

    var table: [APIOperation] {
        HealthRoutes(api: self).operations + SourceRoutes(api: self).operations + RuleRoutes(api: self).operations
            + DeliveryRoutes(api: self).operations + EventRoutes(api: self).operations
            + BadgeRoutes(api: self).operations + TrialRoutes(trials: trials).operations
    }

    // MARK: Parameters

    static let longestPage: Int64 = 1000
    /// Lines of a page where nothing is asked for.
    static let usualPage: Int64 = 100
    static let limit = APIParameter("limit", .number(1...longestPage), "Lines at most, \(usualPage) unless given.")
    static let source = APIParameter("source", "Only of this source.")
    static let rule = APIParameter("rule", "Only what this rule sent.")

    // MARK: Responses

    static func lines(_ schema: String, _ description: String) -> APIOperation.Response {
        APIOperation.Response(
            contentType: "application/x-ndjson", description: description + ", one JSON object a line", schema: schema)
    }

    /// - Parameter next: the path and query of what follows; nil for nothing.
    static func respond(_ lines: [JSON], next: String? = nil) -> PageResponse {
        let body = lines.flatMap { $0.bytes + [UInt8(ascii: "\n")] }
        let headers = next.map { [HeaderField("Link", "<\($0)>; rel=\"next\"")] } ?? []
        return PageResponse(contentType: "application/x-ndjson", headers: headers, body: .bytes(body))
    }

    /// Returns the path and query of a request with other values.
    static func address(_ request: APIOperation.Request, _ path: String, _ changes: [String: String]) -> String {
        let pairs = request.values.merging(changes) { _, new in new }.sorted { $0.key < $1.key }
        return path + "?"
            + pairs.map { "\(WebURL.encoded($0.key))=\(WebURL.encoded($0.value))" }.joined(separator: "&")
    }

    // MARK: The journal

    /// Reads the journal, unless the time for the request is over.
    static func read<T>(_ body: () async throws(JournalError) -> T) async throws(APIError) -> T {
        try checkTime()
        do throws(JournalError) {
            return try await body()
        } catch {
            throw APIError.unavailable(error.detail)
        }
    }

    /// Ends the work for a request whose time is over. The server has answered it.
    static func checkTime() throws(APIError) {
        if Task.isCancelled {
            throw .unavailable("the response took too long")
        }
    }

    /// Reads what `status` shows.
    func facts() async throws(APIError) -> StatusFacts {
        let configuration = await configuration()
        return try await Self.read { () async throws(JournalError) in try await status(configuration) }
    }

    /// Returns a source of the configuration.
    func configured(_ name: String) async throws(APIError) -> Source {
        let sources = await configuration().sources
        if let source = sources.first(where: { $0.name == name }) { return source }
        let meant = suggestion(for: name, among: sources.map(\.name)).map { "; did you mean '\($0)'?" } ?? ""
        throw .missing("there is no source \(quoted(name))\(meant)")
    }

    /// Refuses a name that is neither known nor in the journal, where names stay that were removed from the configuration.
    /// - Parameters:
    ///   - noun: what has the name, as `source`.
    ///   - name: nil where none was given.
    ///   - isStored: whether the journal has it.
    func check(
        _ noun: String, _ name: String?, among known: [String],
        _ isStored: (any JournalReader) async throws(JournalError) -> Bool
    ) async throws(APIError) {
        guard let name, !known.contains(name) else { return }
        let isKnown = try await Self.read { () async throws(JournalError) in try await isStored(journal.reader()) }
        guard isKnown else {
            throw .missing("there is no \(noun) \(quoted(name))\(didYouMean(name, among: known) ?? "")")
        }
    }
}
