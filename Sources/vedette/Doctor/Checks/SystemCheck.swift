// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Checks the system's limit of open files and the socket of systemd. Pure.
struct SystemCheck {
    /// Files that one process may have open; nil for no limit.
    let openFiles: UInt64?
    /// `$NOTIFY_SOCKET`, and whether a socket is there.
    let notifySocket: (path: String, exists: Bool)?
    let sources: Int

    /// Idle connections that are kept; requests in flight (I7), and the journal, logs and children.
    private static let idle = 256
    private static let others = 64 + 16 + 32 + 48

    @Findings var findings: [Finding] {
        let needed = UInt64(min(sources, SystemCheck.idle) + SystemCheck.others)
        if let openFiles, openFiles < needed {
            .warning(
                "open files", "only \(openFiles) are allowed; \(counted(sources, "source")) may need \(needed)",
                remedy: "`ulimit -n 4096`, or LimitNOFILE=4096 in the unit")
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
    init(sources: Int, _ environment: [String: String]) {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0
        openFiles = isKnown && limit.rlim_cur != rlim_t.max ? UInt64(limit.rlim_cur) : nil
        notifySocket = environment["NOTIFY_SOCKET"].flatMap { path in
            guard path.hasPrefix("/") else { return nil }
            var status = stat()
            return (path, stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK)
        }
        self.sources = sources
    }
}
