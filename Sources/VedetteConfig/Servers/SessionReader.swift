// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's session begins: with a login form, a POST, or a header that a refusal gives.
struct SessionReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    func read(_ map: MapReader, into server: inout Server) {
        let given = ["login", "post", "header"].filter(map.has)
        guard given.count <= 1 else {
            findings.error(
                map.key(given[0]), "'\(given[0])' and '\(given[1])' are two ways to begin a session; keep one")
            return
        }
        switch given.first {
        case "login": server.login = login(map, server)
        case "post": server.tokenLogin = TokenLoginReader(values: values).login(map, server)
        case "header": server.handshake = handshake(map)
        default:
            findings.error(map.node.place, "'session' needs 'login' with 'fields', or 'post', or 'header'")
        }
        guard !map.has("post") else { return }
        for name in ["json", "user", "password", "token", "send", "expires"] where map.has(name) {
            findings.error(map.key(name), "'\(name)' needs 'post' beside it")
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
        let read = fields.compactMap { LoginFieldReader(values: values).field($0) }
        guard let base = server.url.flatMap(WebURL.init), read.count == fields.count else { return nil }
        guard let url = base.resolving(place), url.origin == base.origin else {
            map.refuse("login", "'login' is on another origin than the server, which gets no password")
            return nil
        }
        return LoginForm(url: url.text, fields: read)
    }
}
