// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Where a server of the configuration has its secret. Places are `file:line`.
public enum ServerSecret: Sendable, Hashable {
    /// `{credential: NAME}`.
    case credential(String)
    /// `{file: PATH}`, absolute.
    case file(String)
    /// An environment variable, and the place that names it.
    case environment(String, place: String)
    /// The output of a command.
    case command(place: String)
    /// The configuration itself.
    case literal(place: String)
    /// The server has none. Its own place.
    case none(place: String)
}

extension ConfigurationLoader {
    /// Finds where a server has its secret, also when the files have errors: a missing secret is one. Reads no secret.
    /// - Returns: nil when there is no such server.
    public func secret(ofServer name: String) -> ServerSecret? {
        for root in roots() {
            if let server = root.member("servers")?.member(name) { return ServerSecret(ofServer: server, environment) }
        }
        return nil
    }

    /// The servers whose secret is a credential, also when the files have errors. Reads no secret.
    public func servers(withCredential name: String) -> Set<String> {
        let servers = roots().compactMap { $0.member("servers") }.flatMap(\.members)
        return Set(
            servers.filter { ServerSecret(ofServer: $0.value, environment) == .credential(name) }.map(\.name))
    }

    /// The credentials that servers, sources and sinks name, also when the files have errors. Reads no secret.
    public func credentials() -> Set<String> {
        Set(roots().flatMap(\.origins).compactMap { $0.member("credential")?.text })
    }
}

extension ServerSecret {
    /// The keys of a server that hold a secret.
    fileprivate static let paths = [
        ["password"], ["token"], ["oauth2", "client_secret"], ["oauth2", "password"],
        ["oauth2", "refresh_token"], ["aws", "secret_key"], ["session", "password"],
    ]

    fileprivate init(ofServer server: YAMLNode, _ environment: [String: String]) {
        let nodes = ServerSecret.paths.compactMap { path in path.reduce(server) { $0?.member($1) } }
        let query = server.member("query")?.members.map(\.value).prefix(1) ?? []
        if let node = (nodes + query).first ?? ServerSecret.inside(server) {
            self.init(node, environment)
        } else {
            self = .none(place: "\(server.place.file):\(server.place.line)")
        }
    }

    /// Returns the secret in a login or a header, which has a name of its own there: one that can be stored, else the first.
    fileprivate static func inside(_ server: YAMLNode) -> YAMLNode? {
        let session = server.member("session")
        let places = [session?.member("fields"), session?.member("json"), server.member("headers")]
        let origins = places.compactMap { $0 }.flatMap(\.origins)
        return origins.first { $0.member("credential") != nil || $0.member("file") != nil } ?? origins.first
    }

    fileprivate init(_ node: YAMLNode, _ environment: [String: String]) {
        let place = "\(node.place.file):\(node.place.line)"
        if let name = node.member("credential")?.text {
            self = .credential(name)
        } else if let path = node.member("file")?.text {
            self = .file(FilePath.resolve(path, in: node.source.file.directory, environment))
        } else if let variable = node.member("env")?.text {
            self = .environment(variable, place: place)
        } else if node.member("command") != nil {
            self = .command(place: place)
        } else {
            self = .literal(place: place)
        }
    }
}

extension YAMLNode {
    /// The pairs of a map, with those that `<<` merges.
    fileprivate var members: [YAMLEntry] { isMap ? entries("the map", Findings()) ?? [] : [] }

    /// Returns the value of a key, also of one that `<<` merges.
    fileprivate func member(_ name: String) -> YAMLNode? { members.first { $0.name == name }?.value }

    /// The maps at any depth that tell where a secret is, as `{credential: NAME}`, in their order.
    fileprivate var origins: [YAMLNode] {
        if isList { return (elements("the list", Findings()) ?? []).flatMap(\.origins) }
        let members = members
        let names = ConfigurationKeys.secret.map(\.name)
        return members.count == 1 && names.contains(members[0].name) ? [self] : members.flatMap(\.value.origins)
    }
}
