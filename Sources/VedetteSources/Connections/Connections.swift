// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Updates of IBM Lotus / HCL Connections: the Atom feeds of the Updates API, and the later JSON activity stream.
struct Connections: SourceKind {
    static let entry = SourceKindEntry(
        name: "connections", summary: "Updates of IBM Lotus and HCL Connections.", options: ConnectionsOptions.specs,
        make: { options throws(OptionProblem) in try Connections(options) })

    private let query: ConnectionsQuery
    private let isIncremental: Bool
    private let margin: Duration
    let identity: UInt64
    let fingerprints: [String: UInt64]

    init(_ options: Options) throws(OptionProblem) {
        query = try ConnectionsQuery(options)
        isIncremental = options.flag("incremental") ?? true
        margin = options.duration("margin") ?? .seconds(600)
        // The size and language of a page do not determine which entries there are.
        let apart: Set<String> = ["ps", "count", "page", "lang", "before"]
        identity = StableHash.of(
            [query.path] + query.parameters.filter { !apart.contains($0.name) }.flatMap { [$0.name, $0.value] })
        // The server's own sentences change with the language, which is no change of the entry.
        let language = query.language.map { StableHash.of([$0]) } ?? 0
        fingerprints = [SnapshotHead.everyField: 1, "title": language, "content": language]
    }

    var mode: ReadingMode { .window }
    var fieldNames: [String]? {
        ["content", "author", "userid", "type", "component", "event", "tags", "container", "published", "updated"]
    }
    var noteNames: Set<String> { Set(fieldNames ?? []).subtracting(["content"]) }
    var stateNames: StateNames? { StateNames() }

    func request(base: String, context: PollContext) -> RequestTemplate {
        let type = query.isStream ? "application/json" : "application/atom+xml, application/xml;q=0.9"
        var ask = RequestTemplate(url: base, headers: [Header("Accept", type)])
        guard let web = WebURL(base) else { return ask }
        let isBare = (web.path.isEmpty || web.path == "/") && web.query == nil
        var parameters = query.parameters
        if let name = query.sinceName, let since = since(context) { parameters.append((name, since.seconds)) }
        let address = isBare ? "\(web.scheme)://\(web.authority)\(query.path)" : base
        ask.url = WebURL(address)?.setting(parameters) ?? address
        return ask
    }

    /// Returns the newest time seen minus the margin, in whole minutes, so that the address stays the same while nothing new
    /// arrives. The margin is needed because the server's `since` may leave out entries of that very time, and an entry may
    /// become visible later than its time.
    private func since(_ context: PollContext) -> Timestamp? {
        guard isIncremental, let newest = context.newest else { return query.since }
        // An entry dated in the future must not hide what comes until then.
        let latest = min(newest, context.now)
        let start = latest.milliseconds.addingClamped(-margin.wholeMilliseconds)
        guard start > 0 else { return query.since }
        let minute = Timestamp(milliseconds: start - start % 60_000)
        return query.since.map { max($0, minute) } ?? minute
    }

    private func asked(_ name: String, _ url: String) -> Timestamp? {
        WebURL(url)?.parameter(name).flatMap { Timestamp(rfc3339: $0) }
    }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.xml, .json]) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        var read =
            query.isStream
            ? try ConnectionsStream.read(&page) : try ConnectionsAtom.read(page, takesBefore: query.resource != .search)
        if let name = query.sinceName { read.since = asked(name, page.url) }
        if page.number == 1, query.ignoresEmail {
            read.warnings.append("'userid' and 'email' are both given: 'userid' wins, as in the API")
        }
        return read
    }
}
