// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a session that begins with a POST whose response has a token.
struct TokenLoginReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    func login(_ map: MapReader, _ server: Server) -> TokenLogin? {
        let url = url(map, server)
        let body = body(map)
        AuthenticationReader(values: values).checkPairs(map)
        let password = map.has("password") ? map.secret("password") : nil
        let token = map.has("token") ? place(map) : nil
        let send = map.object("send")
        let expires = map.object("expires").flatMap { names($0, "field") }
        if map.has("token") != map.has("send") {
            let (given, other) = map.has("token") ? ("token", "send") : ("send", "token")
            findings.error(map.key(given), "'\(given)' needs '\(other)' beside it: \(Self.purposes[other] ?? "")")
            return nil
        }
        if !map.has("token"), server.cookies == .none {
            findings.error(map.key("post"), "'post' without 'token' needs cookies; remove 'cookies: none'")
        }
        guard let url, let body else { return nil }
        var login = TokenLogin(url: url)
        login.body = body
        if let user = map.text("user"), let password { login.basic = (user, password) }
        if map.has("from"), let status = map.integer("from") { login.status = status }
        login.expires = expires
        guard map.has("token") else { return login }
        guard let token, let send, let header = header(send) else { return nil }
        guard !HeaderReader.reserved.contains(header.lowercased()) else {
            send.refuse("header", "the header '\(header)' is set by the transfer; name the one that carries the token")
            return nil
        }
        (login.token, login.header) = (token, header)
        if let scheme = send.text("scheme") {
            guard HTTPSyntax.isToken(scheme) else {
                send.refuse("scheme", "'\(scheme)' is not a scheme; it takes letters, digits and '-', as Bearer")
                return nil
            }
            login.scheme = scheme
        }
        if login.header.lowercased() == "authorization", let credentials = server.credentials, !credentials.isQuery {
            send.refuse("header", "'send' and the server's own way to authenticate both set this header; keep one")
        }
        return login
    }

    private static let purposes = [
        "send": "the header that carries the token", "token": "where the response has it",
    ]

    private func url(_ map: MapReader, _ server: Server) -> String? {
        guard let place = map.text("post"), let base = server.url.flatMap(WebURL.init) else { return nil }
        guard let url = base.resolving(place) else {
            map.refuse("post", "'post' is a path or an absolute URL, not '\(place)'")
            return nil
        }
        guard base.scheme != "https" || url.scheme == "https" else {
            map.refuse("post", "'post' leads from https to http, which gets no password; write https")
            return nil
        }
        return url.text
    }

    private func body(_ map: MapReader) -> TokenLogin.Body? {
        switch (map.node("json"), map.node("fields")) {
        case (let json?, nil): return LoginFieldReader(values: values).json(json, "'json'").map { .json($0) }
        case (nil, let form?):
            guard let fields = form.entries("'fields'", findings) else { return nil }
            let read = fields.compactMap { LoginFieldReader(values: values).field($0) }
            return read.count == fields.count ? .form(read) : nil
        case (_?, _?):
            findings.error(map.key("fields"), "'fields' and 'json' are two bodies of 'post'; keep one")
            return nil
        case (nil, nil):
            if !map.has("user"), !map.has("password") {
                findings.error(
                    map.key("post"), "'post' needs what it sends beside it: 'json', 'fields', or 'user' and 'password'")
            }
            return TokenLogin.Body.none
        }
    }

    private func place(_ map: MapReader) -> TokenLogin.Place? {
        guard let token = map.object("token") else { return nil }
        let isBody = token.flag("body") == true
        switch (token.has("header"), token.has("field"), isBody) {
        case (true, false, false): return header(token).map { .header($0) }
        case (false, true, false): return names(token, "field").map { .field($0) }
        case (false, false, true): return .body
        default:
            findings.error(token.node.place, "'token' takes one of 'header', 'field' and 'body: true'")
            return nil
        }
    }

    private func header(_ map: MapReader) -> String? {
        guard let name = map.text("header") else { return nil }
        guard HTTPSyntax.isToken(name) else {
            map.refuse("header", "'\(name)' is not a header name; it takes letters, digits and '-'")
            return nil
        }
        return name
    }

    /// The names of a path to a field.
    private func names(_ map: MapReader, _ key: String) -> [String]? {
        guard let text = map.text(key) else { return nil }
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else {
            map.refuse(key, "'\(text)' is not a path of names as data.token")
            return nil
        }
        return names
    }
}

extension Credentials {
    /// Whether they are sent in the URL.
    fileprivate var isQuery: Bool {
        if case .query = self { true } else { false }
    }
}
