// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a server: URL, authentication, TLS, proxy, limits, headers.
struct ServerReader {
    let values: ValueReader

    func server(_ entry: YAMLEntry) -> Server? {
        guard let map = MapReader(entry.value, "server '\(entry.name)'", keys: ConfigurationKeys.server, values) else {
            return nil
        }
        var server = Server(name: entry.name)
        server.url = map.text("url")
        server.headers = map.headers("headers")
        server.credentials = AuthenticationReader(values: values)
            .credentials(map, url: server.url.flatMap { WebURL($0) })
        server.tls = map.tls("tls")
        server.userAgent = map.text("user_agent")
        server.proxy = ProxyReader(findings: values.findings).proxy(map) ?? .environment
        server.cookies = map.choice("cookies") ?? .memory
        server.originLimits.concurrency = map.has("concurrency") ? map.integer("concurrency") : nil
        server.originLimits.interval = map.interval("rate")
        server.allowsPrivate = map.flag("allow_private") == true
        if let session = map.object("session") { SessionReader(values: values).read(session, into: &server) }
        return server
    }
}
