// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads `settings`, which may be spread over several files with each key in one of them.
struct SettingsReader {
    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    /// Reads the settings, and the heartbeat and the page among them.
    func settings(
        _ nodes: [YAMLNode]
    ) -> (settings: Settings, heartbeat: HeartbeatSettings?, listen: ListenSettings?) {
        var settings = Settings()
        var heartbeat: HeartbeatSettings?
        var listen: ListenSettings?
        var places: [String: Place] = [:]
        for node in nodes {
            guard let map = MapReader(node, "'settings'", keys: ConfigurationKeys.settings, findings) else { continue }
            for name in ConfigurationKeys.settings.map(\.name) where map.has(name) {
                if let first = places[name] {
                    findings.error(map.key(name), "'\(name)' is set at \(first.text) already; keep one")
                }
                places[name] = places[name] ?? map.key(name)
            }
            if let time = map["give_up"].flatMap({ scalars.duration($0, "'give_up'", atLeast: .seconds(60)) }) {
                settings.giveUp = time
            }
            map["retain"].map { retain($0, &settings) }
            if let node = map["journal"] { settings.postgres = server(node) ?? settings.postgres }
            settings.watcher = map["watcher"].flatMap { scalars.text($0, "'watcher'") } ?? settings.watcher
            settings.publicURL = map["public_url"].flatMap(publicURL) ?? settings.publicURL
            heartbeat = map["heartbeat"].flatMap(self.heartbeat) ?? heartbeat
            let listenReader = ListenReader(secrets: secrets, findings: findings)
            listen = map["listen"].flatMap(listenReader.settings) ?? listen
        }
        return (settings, heartbeat, listen)
    }

    private func publicURL(_ node: YAMLNode) -> String? {
        guard let text = scalars.text(node, "'public_url'") else { return nil }
        guard let url = WebURL(text), url.query == nil, !text.contains("#"), !url.authority.contains("@") else {
            findings.error(
                node.place,
                "'public_url' is where people open the page, as https://vedette.example.com, not \(quoted(text))")
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private func heartbeat(_ node: YAMLNode) -> HeartbeatSettings? {
        guard let map = MapReader(node, "'heartbeat'", keys: ConfigurationKeys.heartbeat, findings) else { return nil }
        let url = map["url"].flatMap { secrets.secret($0, "'url'") }
        if let url, !url.value.isEmpty, WebURL(url.value) == nil {
            findings.error(map.key("url"), "'url' must be the address of a monitor, with http or https")
        }
        var heartbeat = HeartbeatSettings(url: url ?? Secret(""))
        if let every = map["every"].flatMap({ scalars.duration($0, "'every'", atLeast: .seconds(10)) }) {
            heartbeat.every = every
        }
        if let method: HeartbeatSettings.Method = map["method"].flatMap({ scalars.choice($0, "'method'") }) {
            heartbeat.method = method
        }
        heartbeat.token = map["token"].flatMap { secrets.secret($0, "'token'") }
        return url == nil ? nil : heartbeat
    }

    private func retain(_ node: YAMLNode, _ settings: inout Settings) {
        guard let map = MapReader(node, "'retain'", keys: ConfigurationKeys.retain, findings) else { return }
        if let time = map["events"].flatMap({ scalars.duration($0, "'events'", atLeast: .seconds(60)) }) {
            settings.keepEvents = time
        }
        if let size = map["size"].flatMap({ scalars.size($0, "'size'") }) { settings.keepBytes = size }
    }

    /// Reads `journal`.
    func server(_ node: YAMLNode) -> PostgresServer? {
        guard let map = MapReader(node, "'journal'", keys: ConfigurationKeys.journal, findings) else { return nil }
        let password = map["password"].map { secrets.secret($0, "'password'") }
        guard let value = map["postgres"], let text = scalars.text(value, "'postgres'") else { return nil }
        do throws(ConnectionString.Problem) {
            let connection = try ConnectionString(text)
            if case .some(nil) = password { return nil }
            return PostgresServer(connection, password: password ?? nil)
        } catch {
            findings.error(value.place, "'postgres' \(error.detail)")
            return nil
        }
    }
}
