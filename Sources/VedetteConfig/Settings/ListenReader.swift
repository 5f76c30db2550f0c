// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Reads `listen`: an address, or a map with an address, a token and the names of a proxy.
struct ListenReader {
    func settings(_ settings: MapReader) -> ListenSettings? {
        if settings.text("listen") != nil {
            return address("listen", of: settings).flatMap {
                checked(ListenSettings(address: $0), "listen", of: settings)
            }
        }
        guard let map = settings.object("listen"), let address = address("address", of: map) else { return nil }
        var listen = ListenSettings(address: address)
        if map.has("token") {
            guard let token = token(map) else { return nil }
            listen.token = token
        }
        listen.hosts = map.texts("hosts").map { $0.lowercased() }
        for host in listen.hosts where host.contains("*") {
            map.refuse("hosts", "'hosts' has each name in full, and '\(host)' stands for no other")
        }
        for host in listen.hosts where host.isEmpty || host.contains(where: { ":/ ".contains($0) }) {
            map.refuse("hosts", "'hosts' has names without scheme, port and path, not '\(host)'")
        }
        return checked(listen, "address", of: map)
    }

    private func address(_ name: String, of map: MapReader) -> ListenAddress? {
        guard let text = map.text(name) else { return nil }
        do throws(ListenAddress.Problem) {
            return try ListenAddress(text)
        } catch {
            map.refuse(name, "'\(name)' \(error.detail), not '\(text)'")
            return nil
        }
    }

    private func token(_ map: MapReader) -> Secret? {
        guard let token = map.secret("token") else { return nil }
        // It is empty where the command reads no secrets.
        if map.values.secrets.reads, let problem = PageToken.problem(of: token.value) {
            map.refuse("token", "'token' \(problem)")
        }
        return token
    }

    /// Without a token every program that reaches the page can read it and silence messages.
    private func checked(_ settings: ListenSettings, _ name: String, of map: MapReader) -> ListenSettings? {
        guard settings.token == nil, !settings.address.isLoopback else { return settings }
        let reason =
            settings.address == .systemd ? "may be reached from other machines" : "can be reached from other machines"
        map.refuse(
            name,
            "'\(settings.address)' \(reason) and needs a token: listen: {address: …, token: {file: …}}, behind a proxy with TLS"
        )
        return nil
    }
}
