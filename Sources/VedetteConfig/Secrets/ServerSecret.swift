// SPDX-License-Identifier: Apache-2.0

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
            guard let server = root.child("servers")?.child(name) else { continue }
            let nodes = ServerSecret.paths.compactMap { path in path.reduce(server) { $0?.child($1) } }
            let query = server.child("query")?.children.dropFirst().prefix(1) ?? []
            guard let node = (nodes + query).first else {
                return ServerSecret.none(place: "\(server.place.file):\(server.place.line)")
            }
            return ServerSecret(node, environment)
        }
        return nil
    }
}

extension ServerSecret {
    /// The keys of a server that hold a secret.
    fileprivate static let paths = [
        ["password"], ["token"], ["oauth2", "client_secret"], ["oauth2", "password"],
        ["oauth2", "refresh_token"], ["aws", "secret_key"], ["session", "password"],
    ]

    fileprivate init(_ node: YAMLNode, _ environment: [String: String]) {
        let place = "\(node.place.file):\(node.place.line)"
        if let name = node.child("credential")?.text {
            self = .credential(name)
        } else if let path = node.child("file")?.text {
            self = .file(FilePath.resolve(path, in: node.source.file.directory, environment))
        } else if let variable = node.child("env")?.text {
            self = .environment(variable, place: place)
        } else if node.child("command") != nil {
            self = .command(place: place)
        } else {
            self = .literal(place: place)
        }
    }
}
