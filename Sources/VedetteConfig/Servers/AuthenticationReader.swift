// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads how a server's requests are authenticated: in at most one way.
struct AuthenticationReader {
    let secrets: SecretReader
    let environment: [String: String]
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }
    private var headers: HeaderReader { HeaderReader(secrets: secrets, findings: findings) }

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
        let isDigest = map["auth"].flatMap { scalars.choice($0, "'auth'", among: ["basic", "digest"]) } == "digest"
        // All are read, so that errors in a second one are reported, too.
        let all = given.map { name -> Credentials? in
            switch name {
            case "user": password(map, isDigest: isDigest)
            case "netrc": map["netrc"].flatMap { netrc($0, host: host, isDigest: isDigest) }
            case "token": map["token"].flatMap { secrets.secret($0, "'token'") }.map { .bearer($0) }
            case "query": map["query"].flatMap(query)
            case "aws": map["aws"].flatMap(signature).map { .signature($0) }
            default: map["oauth2"].flatMap(grant).map { .grant($0) }
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
        let user = map["user"].flatMap { headers.value($0, "'user'") }
        let password = map["password"].flatMap { secrets.secret($0, "'password'") }
        if let user, user.contains(":"), let node = map["user"] {
            findings.error(node.place, "'user' cannot hold ':' (RFC 7617)")
            return nil
        }
        guard let user, let password else { return nil }
        return isDigest ? .digest(user: user, password: password) : .basic(user: user, password: password)
    }

    private func query(_ node: YAMLNode) -> Credentials? {
        guard let entries = node.entries("'query'", findings) else { return nil }
        guard entries.count == 1, let entry = entries.first else {
            findings.error(node.place, "'query' takes one parameter: its name, and the secret behind it")
            return nil
        }
        guard !entry.value.isAbsent else {
            findings.error(entry.key.place, "'\(entry.name)' has no value; write one or remove the key")
            return nil
        }
        return secrets.secret(entry.value, "'\(entry.name)' of 'query'").map { .query(name: entry.name, value: $0) }
    }

    private func signature(_ node: YAMLNode) -> AWSSignature? {
        guard let map = MapReader(node, "'aws'", keys: ConfigurationKeys.aws, findings) else { return nil }
        // A colon or slash would move the parts of the scope that is signed.
        func word(_ name: String) -> String? {
            guard let node = map[name], let text = scalars.text(node, "'\(name)'") else { return nil }
            guard HTTPSyntax.isToken(text) else {
                findings.error(node.place, "'\(name)' takes letters, digits and '-', not '\(text)'")
                return nil
            }
            return text
        }
        let (region, service, key) = (word("region"), word("service"), word("key_id"))
        let secret = map["secret_key"].flatMap { secrets.secret($0, "'secret_key'") }
        guard let region, let service, let key, let secret else { return nil }
        return AWSSignature(region: region, service: service, key: key, secret: secret)
    }

    private func grant(_ node: YAMLNode) -> ClientGrant? {
        guard let map = MapReader(node, "'oauth2'", keys: ConfigurationKeys.oauth2, findings) else { return nil }
        let server = ServerReader(secrets: secrets, environment: environment, findings: findings)
        let url = map["token_url"].flatMap { server.url($0, "'token_url'") }
        let client = map["client_id"].flatMap { scalars.text($0, "'client_id'") }
        let secret = map["client_secret"].flatMap { secrets.secret($0, "'client_secret'") }
        let scope = map["scope"].flatMap { scalars.texts($0, "'scope'") }?.joined(separator: " ")
        let audience = map["audience"].flatMap { scalars.text($0, "'audience'") }
        let inBody = map["in_body"].flatMap { scalars.flag($0, "'in_body'") } ?? false
        guard let url, let client, let secret else { return nil }
        return ClientGrant(url: url, client: client, secret: secret, scope: scope, audience: audience, inBody: inBody)
    }
}
