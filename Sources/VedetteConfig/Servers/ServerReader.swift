// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a server: URL, authentication, TLS, proxy, limits, headers.
struct ServerReader {
    let secrets: SecretReader
    let environment: [String: String]
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }
    private var headers: HeaderReader { HeaderReader(secrets: secrets, findings: findings) }

    func server(_ entry: YAMLEntry) -> Server? {
        guard let map = MapReader(entry.value, "server '\(entry.name)'", keys: ConfigurationKeys.server, findings)
        else {
            return nil
        }
        var server = Server(name: entry.name)
        server.url = map["url"].flatMap { url($0, "'url'") }
        server.headers = map["headers"].map(headers.headers) ?? []
        server.credentials = AuthenticationReader(secrets: secrets, environment: environment, findings: findings)
            .credentials(map, host: server.url.flatMap(WebURL.init)?.host)
        server.tls =
            map["tls"].map(TLSReader(environment: environment, reads: secrets.reads, findings: findings).policy)
            ?? .init()
        server.userAgent = map["user_agent"].flatMap { headers.value($0, "'user_agent'") }
        server.proxy = map["proxy"].flatMap(ProxyReader(secrets: secrets, findings: findings).proxy) ?? .environment
        server.cookies = map["cookies"].flatMap { scalars.choice($0, "'cookies'") } ?? .memory
        server.originLimits = originLimits(map)
        server.allowsPrivate = map["allow_private"].flatMap { scalars.flag($0, "'allow_private'") } ?? false
        if let node = map["session"] { SessionReader(secrets: secrets, findings: findings).read(node, into: &server) }
        return server
    }

    /// Reads an absolute http or https URL without credentials.
    func url(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = scalars.text(node, what) else { return nil }
        guard !ServerReader.hasUserInfo(text) else {
            // The URL is not printed: also the user's name may be a token.
            findings.error(
                node.place, "\(what) holds a user or password; write 'user' and 'password' of a server instead")
            return nil
        }
        guard let url = WebURL(text) else {
            findings.error(node.place, "\(what) must be an absolute URL as https://host/path, not '\(text)'")
            return nil
        }
        return url.text
    }

    static func hasUserInfo(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let colon = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) else { return false }
        return bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "@"))
    }

    private func originLimits(_ map: MapReader) -> OriginLimits {
        var originLimits = OriginLimits()
        originLimits.concurrency = map["concurrency"].flatMap {
            scalars.integer($0, "'concurrency'", in: 1...OriginLimits.maximumConcurrency)
        }
        originLimits.interval = map["rate"].flatMap { RateReader(findings: findings).interval($0) }
        return originLimits
    }
}
