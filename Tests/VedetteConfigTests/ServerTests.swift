// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteConfig

struct ServerTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    static let environment = ["T": "s3cret-t", "P": "s3cret-p"]

    /// A server with these words behind its URL, and what is said of it.
    func read(
        _ words: String, url: String = "https://api.example.com/v1", environment: [String: String] = environment
    ) -> (server: Server?, said: [String]) {
        let file = ConfigurationFile(
            path: directory.path + "/a.yaml", text: "servers: {h: {url: '\(url)', \(words)}}", isPrivate: false)
        let loaded = loader(environment).load([file])
        let said = loaded.problems.map { $0.description.replacing(directory.path, with: "DIR") }
        for line in said { #expect(!line.contains("s3cret"), "a secret was printed") }
        return (loaded.configuration?.servers.first, said)
    }

    @Test("errors in connection settings have place and remedy", arguments: Bad.servers)
    func wrong(bad: Bad) {
        let text = "servers: {h: {url: 'https://h',   \(bad.text)}}"
        #expect(problems(text, environment: Self.environment) == bad.expected)
    }

    @Test("each way to authenticate is read")
    func authentication() throws {
        func credentials(_ words: String) throws -> Credentials {
            let (server, said) = read(words)
            #expect(said == [])
            return try #require(server?.credentials)
        }
        guard case .basic("u", let password) = try credentials("user: u, password: {env: P}") else {
            throw Miss("basic")
        }
        #expect(password.value == "s3cret-p")
        guard case .digest("u", _) = try credentials("auth: digest, user: u, password: {env: P}") else {
            throw Miss("digest")
        }
        guard case .bearer(let token) = try credentials("token: {env: T}") else { throw Miss("bearer") }
        #expect(token.value == "s3cret-t")
        guard case .query("api_key", let key) = try credentials("query: {api_key: {env: T}}") else {
            throw Miss("query")
        }
        #expect(key.value == "s3cret-t")
        // A parameter and a header say different things.
        guard case .query = try credentials("query: {key: {env: T}}, headers: {Authorization: {env: P}}") else {
            throw Miss("query beside a header")
        }
    }

    @Test("`oauth2` is read with all its keys")
    func grant() throws {
        let words =
            "oauth2: {token_url: 'https://id.example.com/token', client_id: me, client_secret: {env: T}, "
            + "scope: [read, list], audience: api, in_body: true}"
        guard case .grant(let grant) = try #require(read(words).server?.credentials) else { throw Miss("grant") }
        #expect(grant.url == "https://id.example.com/token" && grant.client == "me")
        #expect(grant.secret.value == "s3cret-t" && grant.scope == "read list")
        #expect(grant.audience == "api" && grant.inBody)
        let local = "oauth2: {token_url: 'http://127.0.0.1:9000/token', client_id: me, client_secret: {env: T}}"
        #expect(read(local).server?.credentials != nil)
    }

    @Test("`aws` and `session` are read with all their keys")
    func signatureAndSession() throws {
        let words = "aws: {region: eu-central-1, service: ec2, key_id: AKID, secret_key: {env: T}}"
        guard case .signature(let signature) = try #require(read(words).server?.credentials) else { throw Miss("aws") }
        #expect(signature.region == "eu-central-1" && signature.service == "ec2" && signature.key == "AKID")
        #expect(signature.secret.value == "s3cret-t")
        let server = read("session: {header: X-Transmission-Session-Id}").server
        #expect(server?.handshake == SessionHandshake(header: "X-Transmission-Session-Id", status: 409))
        #expect(read("session: {header: X-S, from: 401}").server?.handshake?.status == 401)
        let login = read("session: {login: /login, fields: {user: ann, password: {env: T}}}").server?.login
        #expect(login?.url.hasSuffix("/login") == true)
        #expect(
            login?.fields.map(\.name) == ["user", "password"] && login?.fields.map(\.value) == ["ann", "s3cret-t"])
        #expect(login?.secrets.map(\.value) == ["s3cret-t"])
    }

    @Test("a `session` with `post` is read with all its keys; secrets stand in JSON at any depth")
    func tokenLogin() throws {
        let words =
            "session: {post: /v3/auth, json: {auth: {methods: [password], ttl: 5, on: true, user: {name: 'a\"b', "
            + "password: {env: T}}}}, token: {header: X-Subject-Token}, send: {header: Authorization, "
            + "scheme: Bearer}, expires: {field: token.expires_at}, from: 403}"
        let (server, said) = read(words)
        #expect(said == [])
        let login = try #require(server?.tokenLogin)
        #expect(login.url == "https://api.example.com/v3/auth" && login.status == 403)
        #expect(
            login.content.map { String(decoding: $0.bytes, as: UTF8.self) }
                == #"{"auth":{"methods":["password"],"ttl":5,"on":true,"user":{"name":"a\"b","password":"s3cret-t"}}}"#)
        #expect(login.secrets.map(\.value) == ["s3cret-t"])
        #expect(login.token == .header("X-Subject-Token") && login.header == "Authorization")
        #expect(login.scheme == "Bearer" && login.expires == ["token", "expires_at"])
        let other = try #require(
            read(
                "session: {post: 'https://id.example.org/api', user: u, password: {env: P}, token: {body: true}, "
                    + "send: {header: X-Id}}"
            ).server?.tokenLogin)
        #expect(other.url == "https://id.example.org/api" && other.basic?.password.value == "s3cret-p")
        #expect(other.token == .body && other.content == nil && other.status == 401)
        let form = try #require(read("session: {post: /in, fields: {u: ann, password: {env: P}}}").server?.tokenLogin)
        #expect(form.content.map { String(decoding: $0.bytes, as: UTF8.self) } == "u=ann&password=s3cret-p")
        #expect(form.token == nil)
    }

    @Test("`oauth2` with a user's password or a refresh token needs no secret of the client")
    func grants() throws {
        let words = "token_url: 'https://id.example.com/token', client_id: me"
        guard
            case .grant(let one) = try #require(
                read("oauth2: {\(words), user: ann, password: {env: P}}").server?.credentials),
            case .password("ann", let password) = one.kind
        else { throw Miss("password") }
        #expect(password.value == "s3cret-p" && one.secret.value == "")
        guard
            case .grant(let two) = try #require(
                read("oauth2: {\(words), client_secret: {env: P}, refresh_token: {env: T}}").server?.credentials),
            case .refresh(let token) = two.kind
        else { throw Miss("refresh") }
        #expect(token.value == "s3cret-t" && two.secrets.map(\.value) == ["s3cret-p", "s3cret-t"])
    }

    @Test("proxy, cookies, rate, concurrency and reach have their defaults and their words")
    func connection() throws {
        let plain = try #require(read("user_agent: x").server)
        guard case .environment = plain.proxy else { throw Miss("environment") }
        #expect(plain.cookies == .memory && plain.originLimits == OriginLimits() && !plain.allowsPrivate)
        #expect(plain.tls.minimum == .v1_2)
        let server = try #require(
            read(
                "proxy: none, cookies: journal, rate: {count: 4, per: 1s}, concurrency: 2, allow_private: true, "
                    + "tls: {minimum: 1.3}"
            ).server)
        guard case .none = server.proxy else { throw Miss("none") }
        #expect(server.cookies == .journal && server.allowsPrivate && server.tls.minimum == .v1_3)
        #expect(server.originLimits == OriginLimits(concurrency: 2, interval: .milliseconds(250)))
    }

    @Test(
        "a proxy's address is taken with each scheme that has the proxy look up names",
        arguments: [
            ("'http://p:3128/'", "http://p:3128"), ("HTTPS://P", "https://p"),
            ("{url: 'socks5h://[::1]:1080'}", "socks5h://[::1]:1080"),
            ("{url: 'socks4a://p', user: u}", "socks4a://p"),
        ])
    func proxies(text: String, expected: String) throws {
        let (server, said) = read("proxy: \(text)")
        #expect(said == [])
        guard case .url(let url, _, nil) = server?.proxy else { throw Miss("url") }
        #expect(url == expected)
    }

    @Test("a proxy has a user and password of its own")
    func proxyPassword() throws {
        guard
            case .url(_, "u", let password?) = read("proxy: {url: 'http://p', user: u, password: {env: P}}").server?
                .proxy
        else { throw Miss("url") }
        #expect(password.value == "s3cret-p")
    }

    @Test("a source without a server may allow private addresses, and one on a server has its server's")
    func sources() throws {
        let loaded = load(
            """
            servers: {h: {url: 'https://h', allow_private: true, concurrency: 1}}
            sources:
              a: {kind: json, url: 'https://h/', allow_private: true}
              b: {kind: json, server: h}
              c: {kind: json, server: h, allow_private: false}
              d: {kind: json, url: 'https://h/'}
            """)
        let sources = try #require(loaded.configuration?.sources)
        #expect(sources.map(\.server.allowsPrivate) == [true, true, false, false])
        #expect(sources.map(\.server.originLimits.concurrency) == [nil, 1, 1, nil])
    }

    @Test("a key of a server under a source is an error that says so")
    func remedies() {
        for key in ConfigurationKeys.server.map(\.name)
        where !ConfigurationKeys.source.contains(where: { $0.name == key }) {
            #expect(
                problems("sources: {s: {kind: json, url: 'https://h/', \(key): x}}") == [
                    "1:46: '\(key)' belongs to a server: write it under 'servers' and name that with 'server'"
                ])
        }
    }

    @Test("the client certificate and its key are PEM files, the key private and without a passphrase")
    func certificates() throws {
        try directory.write("-----BEGIN CERTIFICATE-----\n", to: "c.pem")
        try directory.write("-----BEGIN EC PRIVATE KEY-----\n", to: "k.pem", mode: 0o600)
        let good = read("tls: {certificate: c.pem, key: k.pem}")
        #expect(good.said == [])
        #expect(good.server?.tls.certificate == directory.path + "/c.pem")
        #expect(good.server?.tls.key == directory.path + "/k.pem")
        #expect(
            read("tls: {certificate: c.pem}").said == [
                "DIR/a.yaml:1:69: 'certificate' names 'DIR/c.pem', which holds no key; write 'key: FILE' beside it"
            ])
        #expect(
            read("tls: {certificate: k.pem, key: c.pem}").said == [
                "DIR/a.yaml:1:69: 'certificate' names 'DIR/k.pem', which holds no PEM certificate; convert it with openssl x509",
                "DIR/a.yaml:1:81: 'key' names 'DIR/c.pem', which holds no PEM key; convert it with openssl pkey",
            ])
        try directory.write("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n", to: "both.pem", mode: 0o600)
        #expect(read("tls: {certificate: both.pem}").said == [])
        try directory.write("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", to: "k.pem", mode: 0o640)
        #expect(
            read("tls: {certificate: c.pem, key: k.pem}").said == [
                "DIR/a.yaml:1:81: 'key' names 'DIR/k.pem', a key that others can read; write 'chmod 600 DIR/k.pem'",
                "DIR/a.yaml:1:81: 'key' names 'DIR/k.pem', a key with a passphrase, which the watcher cannot enter; "
                    + "remove it with openssl pkey",
            ])
    }
}

struct Miss: Error {
    var what: String

    init(_ what: String) { self.what = what }
}
