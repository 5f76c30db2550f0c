// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's session begins: with a login form, or with a header that a refusal gives.
struct SessionReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    func read(_ map: MapReader, into server: inout Server) {
        switch (map.has("login"), map.has("header")) {
        case (true, false): server.login = login(map, server)
        case (false, true): server.handshake = handshake(map)
        case (true, true):
            findings.error(map.key("login"), "'login' and 'header' are two ways to begin a session; keep one")
        case (false, false): findings.error(map.node.place, "'session' needs 'login' with 'fields', or 'header'")
        }
    }

    private func handshake(_ map: MapReader) -> SessionHandshake? {
        guard let name = map.text("header"), let status = map.integer("from") else { return nil }
        guard HTTPSyntax.isToken(name) else {
            map.refuse("header", "'\(name)' is not a header name; it takes letters, digits and '-'")
            return nil
        }
        return SessionHandshake(header: name, status: status)
    }

    private func login(_ map: MapReader, _ server: Server) -> LoginForm? {
        guard let place = map.text("login") else { return nil }
        guard let fields = map.node("fields")?.entries("'fields'", findings), !fields.isEmpty else {
            findings.error(
                map.key("login"), "'login' needs 'fields' beside it: the names of the form's inputs and their values")
            return nil
        }
        if server.cookies == .none { findings.error(map.key("login"), "'login' needs cookies; remove 'cookies: none'") }
        let read = fields.compactMap(field)
        guard let base = server.url.flatMap(WebURL.init), read.count == fields.count else { return nil }
        guard let url = base.resolving(place), url.origin == base.origin else {
            map.refuse("login", "'login' is on another origin than the server, which gets no password")
            return nil
        }
        return LoginForm(url: url.text, fields: read)
    }

    /// A field whose name tells that it is a secret must be one.
    private func field(_ entry: YAMLEntry) -> LoginForm.Field? {
        let what = "'\(entry.name)' of 'fields'"
        let words = ["pass", "secret", "token", "pin"]
        if entry.value.isMap || words.contains(where: entry.name.lowercased().contains) {
            return values.secrets.secret(entry.value, what).map { LoginForm.Field(entry.name, .secret($0)) }
        }
        return values.text(entry.value, what).map { LoginForm.Field(entry.name, .plain($0)) }
    }
}
