// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's session begins: with a login form, or with a header that a refusal gives.
struct SessionReader {
    let secrets: SecretReader
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func read(_ node: YAMLNode, into server: inout Server) {
        guard let map = MapReader(node, "'session'", keys: ConfigurationKeys.session, findings) else { return }
        switch (map["login"], map["header"]) {
        case (let page?, nil): server.login = login(page, map, server)
        case (nil, let header?): server.handshake = handshake(header, map)
        case (_?, _?):
            findings.error(map.key("login"), "'login' and 'header' are two ways to begin a session; keep one")
        case (nil, nil): findings.error(node.place, "'session' needs 'login' with 'fields', or 'header'")
        }
    }

    private func handshake(_ node: YAMLNode, _ map: MapReader) -> SessionHandshake? {
        let status = map["from"].map { scalars.integer($0, "'from'", in: 400...499) } ?? 409
        guard let name = scalars.text(node, "'header'"), let status else { return nil }
        guard HTTPSyntax.isToken(name) else {
            findings.error(node.place, "'\(name)' is not a header name; it takes letters, digits and '-'")
            return nil
        }
        return SessionHandshake(header: name, status: status)
    }

    private func login(_ node: YAMLNode, _ map: MapReader, _ server: Server) -> LoginForm? {
        guard let place = scalars.text(node, "'login'") else { return nil }
        guard let fields = map["fields"]?.entries("'fields'", findings), !fields.isEmpty else {
            findings.error(
                map.key("login"), "'login' needs 'fields' beside it: the names of the form's inputs and their values")
            return nil
        }
        if server.cookies == .none { findings.error(map.key("login"), "'login' needs cookies; remove 'cookies: none'") }
        let read = fields.compactMap(field)
        guard let base = server.url.flatMap(WebURL.init), read.count == fields.count else { return nil }
        guard let url = base.resolving(place), url.origin == base.origin else {
            findings.error(node.place, "'login' is on another origin than the server, which gets no password")
            return nil
        }
        return LoginForm(url: url.text, fields: read)
    }

    /// A field whose name tells that it is a secret must be one.
    private func field(_ entry: YAMLEntry) -> LoginForm.Field? {
        let what = "'\(entry.name)' of 'fields'"
        let words = ["pass", "secret", "token", "pin"]
        if entry.value.isMap || words.contains(where: entry.name.lowercased().contains) {
            return secrets.secret(entry.value, what).map { LoginForm.Field(entry.name, .secret($0)) }
        }
        return scalars.text(entry.value, what).map { LoginForm.Field(entry.name, .plain($0)) }
    }
}
