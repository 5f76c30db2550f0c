// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// Connection settings: URL, credentials, TLS, headers.
struct ServerReader {
    let secrets: SecretReader
    let environment: [String: String]
    let findings: Findings

    private var scalars: Scalars { Scalars(findings: findings) }
    private var headers: HeaderReader { HeaderReader(secrets: secrets, findings: findings) }

    func server(_ entry: YAMLEntry) -> Server? {
        guard let map = MapReader(entry.value, "server '\(entry.name)'", keys: Keys.server, findings) else {
            return nil
        }
        var server = Server(name: entry.name)
        server.url = map["url"].flatMap { url($0, "'url'") }
        server.credentials = credentials(map)
        server.tls = map["tls"].map(tls) ?? .init()
        server.headers = map["headers"].map(headers.headers) ?? []
        server.userAgent = map["user_agent"].flatMap { headers.value($0, "'user_agent'") }
        return server
    }

    /// An absolute http or https URL without credentials in it.
    func url(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = scalars.text(node, what) else { return nil }
        guard !ServerReader.hasUserInfo(text) else {
            // Not even the user's name is printed: a token may stand there.
            findings.error(
                node.place, "\(what) holds a user or password; write 'user' and 'password' of a server instead")
            return nil
        }
        guard let url = WebURL(text) else {
            findings.error(node.place, "\(what) must be an absolute URL as https://host/path, not '\(text)'")
            return nil
        }
        return url.text
    }

    static func hasUserInfo(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        return parts[1].prefix { !"/?#".contains($0) }.contains("@")
    }

    private func credentials(_ map: MapReader) -> Credentials? {
        let user = map["user"].flatMap { headers.value($0, "'user'") }
        let password = map["password"].flatMap { secrets.secret($0, "'password'") }
        for (one, other) in [("user", "password"), ("password", "user")] where map.has(one) && !map.has(other) {
            findings.error(map.key(one), "'\(one)' needs '\(other)' beside it")
        }
        if let user, user.contains(":"), let node = map["user"] {
            findings.error(node.place, "'user' cannot hold ':' (RFC 7617)")
            return nil
        }
        guard let user, let password else { return nil }
        return Credentials(user: user, password: password)
    }

    private func tls(_ node: YAMLNode) -> TLSPolicy {
        var policy = TLSPolicy()
        guard let map = MapReader(node, "'tls'", keys: Keys.tls, findings) else { return policy }
        policy.ca = map["ca"].flatMap(certificates)
        policy.pin = map["pin"].flatMap(pin)
        policy.insecure = map["insecure"].flatMap { scalars.flag($0, "'insecure'") } ?? false
        if policy.pin != nil, map.has("ca") {
            findings.error(
                map.key("ca"), "'ca' says nothing beside 'pin', which judges the certificate alone; remove one")
        }
        if policy.insecure, map.has("ca") || map.has("pin") {
            findings.error(map.key("insecure"), "'insecure' switches every check off; remove it, or 'ca' and 'pin'")
        }
        return policy
    }

    private func certificates(_ node: YAMLNode) -> String? {
        guard let text = scalars.text(node, "'ca'") else { return nil }
        let path = FilePath.resolve(text, in: node.source.file.directory, environment)
        switch BoundedFile.read(path, most: 16 << 20) {
        case .failure(let problem):
            findings.error(node.place, "'ca' names '\(path)', but \(problem.detail)")
            return nil
        case .success(let file):
            guard String(decoding: file.bytes, as: UTF8.self).contains("-----BEGIN ") else {
                findings.error(
                    node.place, "'ca' names '\(path)', which holds no PEM certificate; convert it with openssl x509")
                return nil
            }
            return path
        }
    }

    /// libcurl takes a malformed pin for a file name, and fails closed only when it connects.
    private func pin(_ node: YAMLNode) -> String? {
        guard let text = scalars.text(node, "'pin'") else { return nil }
        for part in text.split(separator: ";", omittingEmptySubsequences: false) where !ServerReader.isPin(part) {
            findings.error(
                node.place, "'pin' must be 'sha256//' and 44 base64 characters (of 32 bytes), several with ';'")
            return nil
        }
        return text
    }

    private static func isPin(_ text: Substring) -> Bool {
        guard text.hasPrefix("sha256//") else { return false }
        let code = String(text.dropFirst(8))
        return code.utf8.count == 44 && Data(base64Encoded: code)?.count == 32
    }
}
