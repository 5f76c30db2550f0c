// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a source.
struct SourceReader {
    let kinds: [SourceKindEntry]
    /// The servers by name; nil for one with an error.
    let servers: [String: Server?]
    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    private static let remedies = Dictionary(
        uniqueKeysWithValues: ConfigurationKeys.server.map(\.name).filter { name in
            !ConfigurationKeys.source.contains { $0.name == name }
        }.map {
            ($0, "belongs to a server: write it under 'servers' and name that with 'server'")
        })

    func source(_ entry: YAMLEntry) -> Source? {
        let what = "source '\(entry.name)'"
        guard let name = KindName.read(entry.value, what, among: kinds.map(\.name), findings),
            let kind = kinds.first(where: { $0.name == name }),
            let map = MapReader(
                entry.value, what, keys: ConfigurationKeys.source, options: kind.options,
                remedies: SourceReader.remedies, findings)
        else { return nil }
        let server = server(map)
        let interval = interval(map, default: kind.every)
        let fails = map["fails"].flatMap { scalars.integer($0, "'fails'", in: 1...1000) } ?? Health.usualFails
        let first = map["first"].flatMap { scalars.choice($0, "'first'") } ?? Source.First.baseline
        let empty = map["empty"].flatMap { scalars.choice($0, "'empty'") } ?? Source.Empty.suspect
        let watcher = map["watcher"].flatMap { scalars.text($0, "'watcher'") }
        let stream = StreamReader(findings: findings).settings(map, of: kind, among: kinds)
        guard let made = make(kind, map, stream), let (server, url) = server else { return nil }
        var source = Source(
            name: entry.name, kindName: kind.name, kind: made, server: server, url: url, interval: interval,
            fails: fails, first: first, empty: empty, stream: stream)
        source.watcher = watcher
        return source
    }

    private func make(
        _ kind: SourceKindEntry, _ map: MapReader, _ stream: StreamSettings?
    ) -> (any SourceKind)? {
        let reader = OptionReader(secrets: secrets, findings: findings)
        guard let options = reader.options(kind.options, in: map, stream: stream) else { return nil }
        do throws(OptionProblem) {
            return try kind.make(options)
        } catch {
            reader.report(error, in: map)
            return nil
        }
    }
}

extension SourceReader {
    private func interval(_ map: MapReader, default: Duration) -> PollInterval {
        let every = map["every"].flatMap { scalars.duration($0, "'every'", atLeast: PollInterval.shortest) }
        var interval = PollInterval(every: every ?? `default`, isExplicit: map.has("every"))
        guard let node = map["while"],
            let inner = MapReader(node, "'while'", keys: ConfigurationKeys.interval, findings)
        else {
            return interval
        }
        interval.whileStates = inner["state"].flatMap { scalars.texts($0, "'state'") } ?? []
        interval.whileEvery = inner["every"].flatMap {
            scalars.duration($0, "'every'", atLeast: PollInterval.shortest)
        }
        return interval
    }

    /// Reads the server's settings and the absolute URL.
    private func server(_ map: MapReader) -> (Server, String)? {
        let headers = HeaderReader(secrets: secrets, findings: findings)
        let own = map["headers"].map(headers.headers) ?? []
        let userAgent = map["user_agent"].flatMap { headers.value($0, "'user_agent'") }
        let allowsPrivate = map["allow_private"].flatMap { scalars.flag($0, "'allow_private'") }
        guard let place = map.has("command") ? ofCommand(map) : map.has("server") ? onServer(map) : atURL(map) else {
            return nil
        }
        checkRequest(map, url: place.1)
        var server = place.0
        if let allowsPrivate { server.allowsPrivate = allowsPrivate }
        if let userAgent { server.userAgent = userAgent }
        let names = Set(own.map { $0.name.lowercased() })
        server.headers = server.headers.filter { !names.contains($0.name.lowercased()) } + own
        return (server, place.1)
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
        guard let node = map["command"], let nodes = node.elements("'command'", findings) else { return nil }
        let arguments = nodes.compactMap { scalars.text($0, "'command'") }
        guard arguments.count == nodes.count else { return nil }
        guard let program = arguments.first, !program.isEmpty, !program.contains(where: \.isWhitespace) else {
            findings.error(
                node.place, "'command' must begin with a program; write [program, argument, …], as no shell reads it")
            return nil
        }
        guard !arguments.contains(where: { $0.utf8.contains(0) }) else {
            findings.error(node.place, "'command' holds a NUL, which no argument can hold")
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
        guard let node = map["url"] else { return nil }
        if let text = node.text, text.hasPrefix("file:///") { return (Server(name: ""), text) }
        let reader = ServerReader(secrets: secrets, environment: [:], findings: findings)
        return reader.url(node, "'url'").map { (Server(name: ""), $0) }
    }

    private func onServer(_ map: MapReader) -> (Server, String)? {
        if map.has("url") {
            findings.error(
                map.key("url"), "'url' and 'server' exclude each other; write 'path' for a place on the server")
        }
        guard let node = map["server"], let name = scalars.text(node, "'server'") else { return nil }
        guard let known = servers[name] else {
            findings.error(node.place, MapReader.unknown("server", name, among: Array(servers.keys)))
            return nil
        }
        guard let server = known, let base = server.url.flatMap(WebURL.init) else { return nil }
        guard let pathNode = map["path"] else { return (server, base.text) }
        guard let path = scalars.text(pathNode, "'path'") else { return nil }
        guard let url = SourceReader.resolve(path, base), url.origin == base.origin else {
            findings.error(
                pathNode.place,
                "'path' must stay on the server, as '/resources/virtualSystems'; "
                    + "another host is another server")
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
