// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a source.
struct SourceReader {
    let kinds: [SourceKindEntry]
    /// The servers by name; nil for one with an error.
    let servers: [String: Server?]
    var windows: [String: [CivilWindow]] = [:]
    var now: Timestamp?
    let values: ValueReader

    private var findings: Findings { values.findings }

    func source(_ entry: YAMLEntry) -> Source? {
        let what = "source '\(entry.name)'"
        guard let name = KindName.read(entry.value, what, among: kinds.map(\.name), values),
            let kind = kinds.first(where: { $0.name == name }),
            let map = MapReader(
                entry.value, what, keys: ConfigurationKeys.source, options: kind.options,
                remedies: ConfigurationKeys.misplacedInSource, values)
        else { return nil }
        let server = server(map)
        let interval = interval(map, default: kind.every)
        let stream = StreamReader(findings: findings).settings(map, of: kind, among: kinds)
        let texts = TextFilterReader(map: map)
        let specs = checkHeaders(map, kind.options)
        guard var options = map.options(specs, stream: stream), let filter = texts.filter(options) else {
            return nil
        }
        options.filter = filter
        guard let made = map.making(options, kind.make),
            let (server, url) = server, let fails = map.integer("fails"), let first: Source.First = map.choice("first"),
            let empty: Source.Empty = map.choice("empty")
        else { return nil }
        var source = Source(
            name: entry.name, kindName: kind.name, kind: made, server: server, url: url, interval: interval,
            fails: fails, first: first, empty: empty, stream: stream)
        (source.watcher, source.filter) = (map.text("watcher"), filter)
        if !filter.isEmpty { texts.check(against: made) }
        for doubt in made.doubts { map.warn(doubt) }
        return source
    }

    private func interval(_ map: MapReader, default: Duration) -> PollInterval {
        var interval = PollInterval(every: map.duration("every") ?? `default`, isExplicit: map.has("every"))
        interval.calendar = CalendarReader(windows: windows, now: now, findings: findings).calendar(map)
        guard let inner = map.object("while") else { return interval }
        interval.whileStates = inner.texts("state")
        interval.whileEvery = inner.duration("every")
        if interval.whileEvery == interval.every {
            findings.warn(
                inner.key("every"),
                "'while' polls as often as the source is polled anyway, so that it has no effect; write another 'every'"
            )
        }
        return interval
    }
}

/// The address.
extension SourceReader {
    /// Reads the server's settings and the absolute URL.
    private func server(_ map: MapReader) -> (Server, String)? {
        let own = map.headers("headers")
        guard let place = map.has("command") ? ofCommand(map) : map.has("server") ? onServer(map) : atURL(map) else {
            return nil
        }
        checkRequest(map, url: place.1)
        var server = place.0
        server.allowsPrivate = map.flag("allow_private") ?? server.allowsPrivate
        server.userAgent = map.text("user_agent") ?? server.userAgent
        let names = Set(own.map { $0.name.lowercased() })
        server.headers = server.headers.filter { !names.contains($0.name.lowercased()) } + own
        return (server, place.1)
    }

    /// Headers of requests, in lower case, that are hardly meant as names of fields, as `host` may be.
    private static let ofRequests: Set<String> = [
        "accept", "accept-encoding", "accept-language", "if-match", "if-modified-since", "if-none-match", "referer",
        "user-agent",
    ]

    /// Reports a request's headers where the kind has its own option of that name, which sends none. The values are not
    /// printed: they may be secrets.
    /// - Returns: the options without `headers` where these are refused.
    private func checkHeaders(_ map: MapReader, _ options: [OptionSpec]) -> [OptionSpec] {
        guard options.contains(where: { $0.name == "headers" }), let node = map.value("headers") else { return options }
        var isRefused = false
        for key in node.keys {
            guard let name = key.text, name != "<<", let value = node.child(name), !value.isAbsent else { continue }
            let sentence =
                "'\(name)' is sent with no request: 'headers' of this kind are response headers to compare, field to header's name; write a request's header under 'headers' of a server, and name that with 'server'"
            if value.isMap || value.text.map({ !HTTPSyntax.isToken($0) }) ?? false {
                findings.error(value.place, sentence)
                isRefused = true
            } else if let header = value.text?.lowercased(), !header.contains(name.lowercased()),
                !header.hasPrefix("x-"), !name.contains("_"),
                Header.isUsuallySecret(name) || SourceReader.ofRequests.contains(name.lowercased())
            {
                findings.warn(key.place, sentence)
            }
        }
        return isRefused ? options.filter { $0.name != "headers" } : options
    }

    /// Refuses keys about requests where none is made.
    private func checkRequest(_ map: MapReader, url: String) {
        let isFile = url.hasPrefix("file:///")
        guard isFile || map.has("command") else { return }
        let what = isFile ? "a file" : "the output of a command"
        for key in ["headers", "user_agent"] where map.has(key) {
            findings.error(map.key(key), "'\(key)' belongs to a request, but this source reads \(what); remove it")
        }
    }

    /// Reads a program and its arguments. They become a URL that only a configuration can have.
    private func ofCommand(_ map: MapReader) -> (Server, String)? {
        for key in ["url", "server", "path"] where map.has(key) {
            findings.error(map.key(key), "'\(key)' and 'command' exclude each other; the output of the command is read")
        }
        guard case .list? = map["command"] else { return nil }
        let arguments = map.texts("command")
        guard let program = arguments.first, !program.isEmpty, !program.contains(where: \.isWhitespace) else {
            map.refuse(
                "command", "'command' must begin with a program; write [program, argument, …], as no shell reads it")
            return nil
        }
        guard !arguments.contains(where: { $0.utf8.contains(0) }) else {
            map.refuse("command", "'command' holds a NUL, which no argument can hold")
            return nil
        }
        return (Server(name: ""), CommandURL.text(arguments))
    }

    private func atURL(_ map: MapReader) -> (Server, String)? {
        if map.has("path") {
            findings.error(map.key("path"), "'path' needs 'server'; write the whole address as 'url'")
        }
        guard map.has("url") else {
            findings.error(
                map.node.place, "\(map.what) lacks an address; write 'server' and 'path', 'url', or 'command'")
            return nil
        }
        guard let text = map.text("url") else { return nil }
        if text.hasPrefix("file:///") { return (Server(name: ""), text) }
        guard case .text(let url)? = OptionType.url.value(of: text) else {
            map.refuse("url", "'url' \(OptionType.url.refusal(of: text))")
            return nil
        }
        return (Server(name: ""), url)
    }

    private func onServer(_ map: MapReader) -> (Server, String)? {
        if map.has("url") {
            findings.error(
                map.key("url"), "'url' and 'server' exclude each other; write 'path' for a place on the server")
        }
        guard let name = map.text("server"), let place = map.value("server")?.place,
            findings.isKnown(name, "server", among: Array(servers.keys), at: place),
            let server = servers[name] ?? nil, let base = server.url.flatMap(WebURL.init)
        else { return nil }
        guard map.has("path") else { return (server, base.text) }
        guard let path = map.text("path") else { return nil }
        guard let url = SourceReader.resolve(path, base), url.origin == base.origin else {
            map.refuse(
                "path",
                "'path' must stay on the server, as '/resources/virtualSystems'; another host is another server")
            return nil
        }
        return (server, url.text)
    }

    /// Resolves a path: `/x` from the root, `x` below the server's URL, whether that ends with `/` or not.
    private static func resolve(_ path: String, _ base: WebURL) -> WebURL? {
        guard !path.hasPrefix("/"), !path.hasPrefix("?") else { return base.resolving(path) }
        let directory = base.path.hasSuffix("/") ? base.path : base.path + "/"
        return WebURL("\(base.scheme)://\(base.authority)\(directory)")?.resolving(path)
    }
}
