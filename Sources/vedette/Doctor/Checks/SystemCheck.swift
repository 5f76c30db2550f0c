// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Checks the system's limit of open files and the socket of systemd. Pure.
struct SystemCheck {
    /// Files that the watcher may have open; nil for no limit.
    let openFiles: UInt64?
    /// `$NOTIFY_SOCKET`, and whether a socket is there.
    let notifySocket: (path: String, exists: Bool)?
    let sources: Int
    /// Connections of the page; 0 when it is not offered.
    let pageConnections: Int

    /// The journal, the log and children.
    private static let others = 48

    /// Files that are needed with every lane full (I7): a source has one connection, under way or idle.
    private var needed: UInt64 {
        func all(_ lanes: [Lane]) -> Int { lanes.reduce(0) { $0 + $1.slots + $1.maximumUnanswered } }
        let polling = min(sources, all([.polls, .slowHosts, .streams]))
        return UInt64(polling + all([.deliveries]) + SystemCheck.others + pageConnections)
    }

    @Findings var findings: [Finding] {
        if let openFiles, openFiles < needed {
            .warning(
                "open files", "only \(openFiles) are allowed; \(counted(sources, "source")) may need \(needed)",
                remedy: "LimitNOFILE=4096 in the unit, or a hard limit of 4096 in limits.conf(5)")
        } else {
            .ok(
                "open files",
                "\(openFiles.map(String.init) ?? "any number") are allowed, at most \(needed) are needed")
        }
        if let notifySocket, !notifySocket.exists {
            .failure(
                "systemd", "NOTIFY_SOCKET names \(notifySocket.path), which is not a socket",
                remedy: "unset it, or start the watcher by its unit")
        }
    }
}

extension SystemCheck {
    init(sources: Int, pageConnections: Int, _ environment: [String: String]) {
        openFiles = OpenFiles.limit.map(OpenFiles.raised)
        notifySocket = environment["NOTIFY_SOCKET"].flatMap { path in
            guard path.hasPrefix("/") else { return nil }
            var status = stat()
            return (path, stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK)
        }
        (self.sources, self.pageConnections) = (sources, pageConnections)
    }
}
