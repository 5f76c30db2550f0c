// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the proxy of a server: `none`, a URL, or `{url, user, password}`.
struct ProxyReader {
    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func proxy(_ node: YAMLNode) -> Proxy? {
        guard node.isMap else {
            guard let text = scalars.text(node, "'proxy'") else { return nil }
            return text == "none" ? Proxy.none : url(text, node, "'proxy'").map { .url($0, user: nil, password: nil) }
        }
        guard let map = MapReader(node, "'proxy'", keys: ConfigurationKeys.proxy, findings) else { return nil }
        let address = map["url"].flatMap { node in
            scalars.text(node, "'url'").flatMap { url($0, node, "'url'") }
        }
        let user = map["user"].flatMap { HeaderReader(secrets: secrets, findings: findings).value($0, "'user'") }
        let password = map["password"].flatMap { secrets.secret($0, "'password'") }
        // SOCKS 4a has a user but no password.
        let isSOCKS4 = address?.hasPrefix("socks4a:") == true
        for (one, other) in [("user", "password"), ("password", "user")]
        where map.has(one) && !map.has(other) && !(isSOCKS4 && one == "user") {
            findings.error(map.key(one), "'\(one)' needs '\(other)' beside it")
        }
        return address.map { .url($0, user: user, password: password) }
    }

    /// Reads a proxy URL. The proxy must resolve host names: with `socks5` and `socks4` this machine would.
    private func url(_ text: String, _ node: YAMLNode, _ what: String) -> String? {
        guard !ServerReader.hasUserInfo(text) else {
            findings.error(
                node.place, "\(what) holds a user or password; write {url: URL, user: NAME, password: SECRET}")
            return nil
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = parts.count == 2 ? parts[0].lowercased() : ""
        if let better = ["socks5": "socks5h", "socks4": "socks4a", "socks": "socks5h"][scheme] {
            findings.error(
                node.place, "\(what) begins with \(scheme)://; write \(better)://, which has the proxy look up names")
            return nil
        }
        // The rest of the address is parsed as a web address.
        guard ["http", "https", "socks5h", "socks4a"].contains(scheme), parts.count == 2,
            let rest = WebURL("http://" + parts[1]), rest.path.isEmpty || rest.path == "/", rest.query == nil
        else {
            findings.error(
                node.place,
                "\(what) must be 'none' or an address as http://proxy.example.com:3128, "
                    + "with http, https, socks5h or socks4a, not '\(text)'")
            return nil
        }
        return "\(scheme)://\(rest.authority)"
    }
}
