// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteConfig
import VedetteCore

/// What the system allows this program. Pure.
struct SystemCheck {
    /// Open files that one process may have; nil for no limit.
    let openFiles: UInt64?
    /// `$NOTIFY_SOCKET`, and whether one is there.
    let notifySocket: (path: String, isThere: Bool)?
    let sources: Int

    /// Idle connections that are kept, requests in flight (I7), and the journal, logs and children.
    private static let idle = 256
    private static let others = 64 + 16 + 32 + 48

    var findings: [Finding] { files + service }

    private var needed: UInt64 { UInt64(min(sources, SystemCheck.idle) + SystemCheck.others) }

    private var files: [Finding] {
        guard let openFiles, openFiles < needed else {
            return [
                .ok(
                    "open files",
                    "\(openFiles.map(String.init) ?? "any number") may be open, \(needed) are needed at most")
            ]
        }
        return [
            .warning(
                "open files", "only \(openFiles) may be open; \(counted(sources, "source")) may need \(needed)",
                remedy: "`ulimit -n 4096`, or LimitNOFILE=4096 in the unit")
        ]
    }

    private var service: [Finding] {
        guard let notifySocket, !notifySocket.isThere else { return [] }
        return [
            .failure(
                "systemd", "NOTIFY_SOCKET names \(notifySocket.path), where no socket is",
                remedy: "unset it, or start the watcher by its unit")
        ]
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
