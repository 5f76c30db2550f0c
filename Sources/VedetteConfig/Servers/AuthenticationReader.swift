// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's requests are authenticated: in at most one way.
struct AuthenticationReader {
    let values: ValueReader

    var findings: Findings { values.findings }

    /// - Parameter url: the server's; nil when it is wrong.
    func credentials(_ map: MapReader, url: WebURL?) -> Credentials? {
        checkPairs(map)
        checkScheme(map)
        let given = ConfigurationKeys.authentications.filter { map.has($0) || ($0 == "user" && map.has("password")) }
            .sorted { (map.key($0).line, map.key($0).column) < (map.key($1).line, map.key($1).column) }
        if given.count > 1 {
            findings.error(
                map.key(given[1]), "'\(given[1])' and '\(given[0])' are two ways to authenticate; keep one")
        }
        checkHeader(map, beside: given.first { $0 != "query" })
        let isDigest = map.text("auth") == "digest"
        // All are read, so that errors in a second one are reported, too.
        let all = given.map { name -> Credentials? in
            switch name {
            case "user": password(map, isDigest: isDigest)
            case "netrc": netrc(map, host: url?.host, isDigest: isDigest)
            case "token": map.secret("token").map { .bearer($0) }
            case "query": query(map)
            case "aws": map.object("aws").flatMap(signature).map { .signature($0) }
            default: map.object("oauth2").flatMap { grant($0, of: url) }.map { .grant($0) }
            }
        }
        return all.first ?? nil
    }

    func checkPairs(_ map: MapReader) {
        for (one, other) in [("user", "password"), ("password", "user")] where map.has(one) && !map.has(other) {
            findings.error(map.key(one), "'\(one)' needs '\(other)' beside it")
        }
    }

    private func checkScheme(_ map: MapReader) {
        if map.has("auth"), !map.has("user"), !map.has("password"), !map.has("netrc") {
            findings.error(map.key("auth"), "'auth' needs 'user' and 'password' beside it, or 'netrc'")
        }
    }

    /// Reports an `Authorization` header beside another way to authenticate: a request has only one.
    private func checkHeader(_ map: MapReader, beside name: String?) {
        guard let name, let keys = map.value("headers")?.keys else { return }
        for key in keys where key.text?.lowercased() == "authorization" {
            findings.error(
                key.place, "the header 'Authorization' and '\(name)' are two ways to authenticate; keep one")
        }
    }

    private func password(_ map: MapReader, isDigest: Bool) -> Credentials? {
        guard let user = map.text("user") else { return nil }
        if user.contains(":") { map.refuse("user", "'user' cannot hold ':' (RFC 7617)") }
        guard let password = map.secret("password") else { return nil }
        return isDigest ? .digest(user: user, password: password) : .basic(user: user, password: password)
    }

    private func query(_ map: MapReader) -> Credentials? {
        guard let entries = map.node("query")?.entries("'query'", findings) else { return nil }
        guard entries.count == 1, let entry = entries.first else {
            map.refuse("query", "'query' takes one parameter: its name, and the secret behind it")
            return nil
        }
        guard !entry.value.isAbsent else {
            findings.error(entry.key.place, "'\(entry.name)' has no value; write one or remove the key")
            return nil
        }
        return values.secrets.secret(entry.value, "'\(entry.name)' of 'query'").map {
            .query(name: entry.name, value: $0)
        }
    }

    private func signature(_ map: MapReader) -> AWSSignature? {
        // A colon or slash would move the parts of the scope that is signed.
        func word(_ name: String) -> String? {
            guard let text = map.text(name) else { return nil }
            if HTTPSyntax.isToken(text) { return text }
            map.refuse(name, "'\(name)' takes letters, digits and '-', not '\(text)'")
            return nil
        }
        let (region, service, key) = (word("region"), word("service"), word("key_id"))
        guard let region, let service, let key, let secret = map.secret("secret_key") else { return nil }
        return AWSSignature(region: region, service: service, key: key, secret: secret)
    }

    /// - Parameter base: the server's URL.
    private func grant(_ map: MapReader, of base: WebURL?) -> ClientGrant? {
        let kind = kind(of: map)
        // A client of a person may be a public one.
        let secret = map.has("client_secret") ? map.secret("client_secret") : kind.isClient ? nil : Secret("")
        if kind.isClient, !map.has("client_secret"),
            let key = ConfigurationKeys.oauth2.first(where: { $0.name == "client_secret" })
        {
            map.reportMissing(key)
        }
        guard let url = map.text("token_url"), let client = map.text("client_id"), let secret, let kind = kind.value
        else { return nil }
        // RFC 6749 §3.2.
        if base?.scheme == "https", let token = WebURL(url), token.scheme != "https", !token.isLoopback {
            map.refuse("token_url", "'token_url' leads from https to http, which gets no secret; write https")
            return nil
        }
        let scope = map.has("scope") ? map.texts("scope").joined(separator: " ") : nil
        var grant = ClientGrant(
            url: url, client: client, secret: secret, scope: scope, audience: map.text("audience"),
            inBody: map.flag("in_body") == true)
        grant.kind = kind
        return grant
    }

    /// - Returns: whether the client alone asks, and what it asks with; nil when that is wrong.
    private func kind(of map: MapReader) -> (isClient: Bool, value: ClientGrant.Kind?) {
        checkPairs(map)
        let hasPassword = map.has("user") || map.has("password")
        if hasPassword, map.has("refresh_token") {
            findings.error(
                map.key("refresh_token"), "'refresh_token' and 'user' are two ways to get a token; keep one")
        }
        if map.has("refresh_token") { return (false, map.secret("refresh_token").map { .refresh($0) }) }
        guard hasPassword else { return (true, .client) }
        guard let user = map.text("user"), let password = map.secret("password") else { return (false, nil) }
        return (false, .password(user: user, password: password))
    }
}
