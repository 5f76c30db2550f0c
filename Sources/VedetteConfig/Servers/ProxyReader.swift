// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the proxy of a server: `none`, a URL, or `{url, user, password}`.
struct ProxyReader {
    let findings: Findings

    func proxy(_ server: MapReader) -> Proxy? {
        if let text = server.text("proxy") {
            return text == "none"
                ? Proxy.none : url("proxy", of: server, text).map { .url($0, user: nil, password: nil) }
        }
        guard let map = server.object("proxy") else { return nil }
        let address = map.text("url").flatMap { url("url", of: map, $0) }
        // SOCKS 4a has a user but no password.
        let isSOCKS4 = address?.hasPrefix("socks4a:") == true
        for (one, other) in [("user", "password"), ("password", "user")]
        where map.has(one) && !map.has(other) && !(isSOCKS4 && one == "user") {
            findings.error(map.key(one), "'\(one)' needs '\(other)' beside it")
        }
        return address.map { .url($0, user: map.text("user"), password: map.secret("password")) }
    }

    /// Reads a proxy URL. The proxy must resolve host names: with `socks5` and `socks4` this machine would.
    private func url(_ name: String, of map: MapReader, _ text: String) -> String? {
        guard !text.hasUserInfo else {
            map.refuse(
                name, "'\(name)' holds a user or password; write {url: URL, user: NAME, password: SECRET}")
            return nil
        }
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let scheme = parts.count == 2 ? parts[0].lowercased() : ""
        if let better = ["socks5": "socks5h", "socks4": "socks4a", "socks": "socks5h"][scheme] {
            map.refuse(
                name, "'\(name)' begins with \(scheme)://; write \(better)://, which has the proxy look up names")
            return nil
        }
        // The rest of the address is parsed as a web address.
        guard ["http", "https", "socks5h", "socks4a"].contains(scheme), parts.count == 2,
            let rest = WebURL("http://" + parts[1]), rest.path.isEmpty || rest.path == "/", rest.query == nil
        else {
            map.refuse(
                name,
                "'\(name)' must be 'none' or an address as http://proxy.example.com:3128, "
                    + "with http, https, socks5h or socks4a" + (text.contains("@") ? "" : ", not '\(text)'"))
            return nil
        }
        return "\(scheme)://\(rest.authority)"
    }
}
