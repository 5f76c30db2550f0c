// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's requests are authenticated: in at most one way.
struct AuthenticationReader {
    let values: ValueReader

    var findings: Findings { values.findings }

    /// - Parameter host: the server's host; nil when its URL is wrong.
    func credentials(_ map: MapReader, host: String?) -> Credentials? {
        checkPairs(map)
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
            case "netrc": netrc(map, host: host, isDigest: isDigest)
            case "token": map.secret("token").map { .bearer($0) }
            case "query": query(map)
            case "aws": map.object("aws").flatMap(signature).map { .signature($0) }
            default: map.object("oauth2").flatMap(grant).map { .grant($0) }
            }
        }
        return all.first ?? nil
    }

    private func checkPairs(_ map: MapReader) {
        for (one, other) in [("user", "password"), ("password", "user")] where map.has(one) && !map.has(other) {
            findings.error(map.key(one), "'\(one)' needs '\(other)' beside it")
        }
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

    private func grant(_ map: MapReader) -> ClientGrant? {
        guard let url = map.text("token_url"), let client = map.text("client_id"),
            let secret = map.secret("client_secret")
        else { return nil }
        let scope = map.has("scope") ? map.texts("scope").joined(separator: " ") : nil
        return ClientGrant(
            url: url, client: client, secret: secret, scope: scope, audience: map.text("audience"),
            inBody: map.flag("in_body") == true)
    }
}
