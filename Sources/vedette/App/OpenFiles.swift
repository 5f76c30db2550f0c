// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How many files and connections this process may have open. Most systems begin a process with 1,024, for programs that call
/// select(2), and let it have more (systemd.exec(5), LimitNOFILE=).
enum OpenFiles {
    /// What a watcher asks for: a quarter of it is for connections that are kept.
    static let wanted: UInt64 = 8192

    struct Limit: Sendable {
        /// What the process may have, and what it may raise that to.
        var current, maximum: UInt64
    }

    /// Nil where there is none, or where it cannot be read.
    static var limit: Limit? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
        return Limit(current: UInt64(limit.rlim_cur), maximum: UInt64(limit.rlim_max))
    }

    /// Returns what a watcher with this limit may have.
    static func raised(_ limit: Limit) -> UInt64 { max(limit.current, min(wanted, limit.maximum)) }

    /// Raises the limit of this process as far as it is wanted and allowed. Where that fails fewer connections are kept.
    static func raiseLimit() {
        guard let limit, raised(limit) > limit.current else { return }
        var new = rlimit(rlim_cur: rlim_t(raised(limit)), rlim_max: rlim_t(limit.maximum))
        setrlimit(resource, &new)
    }

    private static let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
}
