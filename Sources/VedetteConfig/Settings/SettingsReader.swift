// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// Reads `settings`, which may be spread over several files with each key in one of them.
struct SettingsReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    /// Reads the settings, and the heartbeat and the page among them.
    func settings(
        _ nodes: [YAMLNode]
    ) -> (settings: Settings, heartbeat: HeartbeatSettings?, listen: ListenSettings?) {
        var settings = Settings()
        var heartbeat: HeartbeatSettings?
        var listen: ListenSettings?
        var places: [String: Place] = [:]
        for node in nodes {
            guard let map = MapReader(node, "'settings'", keys: ConfigurationKeys.settings, values) else { continue }
            for name in ConfigurationKeys.settings.map(\.name) where map.has(name) {
                if let first = places[name] {
                    findings.error(map.key(name), "'\(name)' is set at \(first.text) already; keep one")
                }
                places[name] = places[name] ?? map.key(name)
            }
            if map.has("give_up") { settings.giveUp = map.duration("give_up") ?? settings.giveUp }
            map.warn(giveUp: settings.giveUp)
            let retain = map.object("retain")
            settings.keepEvents = retain?.duration("events") ?? settings.keepEvents
            settings.keepBytes = retain?.integer("size").map(Int64.init) ?? settings.keepBytes
            settings.postgres = map.object("journal").flatMap(server) ?? settings.postgres
            settings.watcher = map.text("watcher") ?? settings.watcher
            settings.publicURL = publicURL(map) ?? settings.publicURL
            heartbeat = map.object("heartbeat").flatMap(self.heartbeat) ?? heartbeat
            listen = ListenReader().settings(map) ?? listen
        }
        if let place = places["public_url"] { warn(of: settings.publicURL, listen, at: place) }
        return (settings, heartbeat, listen)
    }

    /// Warns of an address in messages for whose host the page answers 421.
    private func warn(of publicURL: String?, _ listen: ListenSettings?, at place: Place) {
        // A setting that an error is about may be right by then.
        guard !findings.hasErrors, let url = publicURL.flatMap(WebURL.init), let listen else { return }
        let host = url.host.contains(":") ? "[\(url.host)]" : url.host
        guard !PageHost.isAccepted(host, among: Set(listen.hosts)) else { return }
        findings.warn(
            place,
            "'public_url' leads to \(quoted(host)), a name for which the page answers 421; write "
                + "listen: {address: …, hosts: [\(host)]}")
    }

    private func publicURL(_ map: MapReader) -> String? {
        guard let text = map.text("public_url") else { return nil }
        guard let url = WebURL(text), url.authorityProblem == nil, url.query == nil, !text.contains("#") else {
            // What is before an '@' or behind a '?' may be a secret.
            let found = text.contains { "@?".contains($0) } ? "; it has no user and no query" : ", not \(quoted(text))"
            map.refuse(
                "public_url", "'public_url' is where people open the page, as https://vedette.example.com\(found)")
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private func heartbeat(_ map: MapReader) -> HeartbeatSettings? {
        guard let url = map.secret("url") else { return nil }
        if !url.value.isEmpty, WebURL(url.value).map({ $0.authorityProblem != nil }) ?? true {
            findings.error(map.key("url"), "'url' must be the address of a monitor, with http or https")
        }
        var heartbeat = HeartbeatSettings(url: url)
        heartbeat.every = map.duration("every") ?? heartbeat.every
        heartbeat.method = map.choice("method") ?? heartbeat.method
        heartbeat.token = map.secret("token")
        return heartbeat
    }

    /// Reads `journal`.
    func server(_ map: MapReader) -> PostgresServer? {
        guard let text = map.text("postgres") else { return nil }
        do throws(ConnectionString.Problem) {
            let connection = try ConnectionString(text)
            let password = map.secret("password")
            return map.has("password") && password == nil ? nil : PostgresServer(connection, password: password)
        } catch {
            map.refuse("postgres", "'postgres' \(error.detail)")
            return nil
        }
    }
}
