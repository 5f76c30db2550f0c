// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// What a source shares with others of its server.
extension Source {
    /// Its cookie jar: its server's, else its own.
    public var session: String { server.name.isEmpty ? "source " + name : server.name }

    /// The group whose failures share one message: its server, else its host.
    var failureGroup: String { server.name.isEmpty ? WebURL(url)?.authority ?? url : server.name }
}
