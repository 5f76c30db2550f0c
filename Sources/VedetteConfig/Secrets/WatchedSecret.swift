// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A secret that is kept in a file, which may change beside a running watcher.
public struct WatchedSecret: Sendable {
    /// The directory of the file.
    public let directory: String
    /// The name of the file in it.
    public let name: String
    /// The secret.
    public let secret: Secret

    init(_ secret: Secret, in path: String) {
        let slash = path.lastIndex(of: "/")
        directory = slash.map { String(path[..<$0]) } ?? "."
        name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        self.secret = secret
    }
}
