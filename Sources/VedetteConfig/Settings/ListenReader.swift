// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `listen`: an address, or a map with an address, a token and the names of a proxy.
struct ListenReader {
    /// A shorter one can be guessed.
    private static let shortestToken = 16

    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func settings(_ node: YAMLNode) -> ListenSettings? {
        guard node.isMap else {
            return address(node, "'listen'").flatMap { checked(ListenSettings(address: $0), node.place) }
        }
        guard let map = MapReader(node, "'listen'", keys: ConfigurationKeys.listen, findings),
            let place = map["address"], let address = address(place, "'address'")
        else { return nil }
        var settings = ListenSettings(address: address)
        if let node = map["token"] {
            guard let token = token(node) else { return nil }
            settings.token = token
        }
        if let node = map["hosts"] {
            settings.hosts = (scalars.texts(node, "'hosts'") ?? []).map { $0.lowercased() }
            for host in settings.hosts where host.isEmpty || host.contains(where: { ":/ ".contains($0) }) {
                findings.error(node.place, "'hosts' has names without scheme, port and path, not '\(host)'")
            }
        }
        return checked(settings, place.place)
    }

    private func address(_ node: YAMLNode, _ what: String) -> ListenAddress? {
        guard let text = scalars.text(node, what) else { return nil }
        do throws(ListenAddress.Problem) {
            return try ListenAddress(text)
        } catch {
            findings.error(node.place, "\(what) \(error.detail), not '\(text)'")
            return nil
        }
    }

    private func token(_ node: YAMLNode) -> Secret? {
        guard let token = secrets.secret(node, "'token'") else { return nil }
        // It is empty where the command reads no secrets.
        if secrets.reads, token.value.utf8.count < ListenReader.shortestToken {
            findings.error(
                node.place,
                "'token' needs at least \(ListenReader.shortestToken) characters; `openssl rand -hex 16` makes one")
        }
        return token
    }

    /// Without a token every program that reaches the page can read it and silence messages.
    private func checked(_ settings: ListenSettings, _ place: Place) -> ListenSettings? {
        guard settings.token == nil, !settings.address.isLoopback else { return settings }
        let reason =
            settings.address == .systemd ? "may be reached from other machines" : "can be reached from other machines"
        findings.error(
            place,
            "'\(settings.address)' \(reason) and needs a token: listen: {address: …, token: {file: …}}, behind a proxy with TLS"
        )
        return nil
    }
}
