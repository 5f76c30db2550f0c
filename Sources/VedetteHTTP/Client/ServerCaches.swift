// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// What libcurl keeps of one server under one policy: TLS sessions, of which the next handshake resumes one (RFC 8446 §2.2), which
/// costs half the time and no signature; connections; and addresses. By the loop's thread alone.
final class ServerCache {
    let share: UnsafeMutableRawPointer

    /// Nil when there is no memory.
    convenience init?() {
        self.init(of: [CURL_LOCK_DATA_SSL_SESSION, CURL_LOCK_DATA_CONNECT, CURL_LOCK_DATA_DNS])
    }

    private init?(of data: [curl_lock_data]) {
        guard let share = curl_share_init() else { return nil }
        for kind in data {
            guard cc_share_data(share, kind) == CURLSHE_OK else {
                curl_share_cleanup(share)
                return nil
            }
        }
        self.share = share
    }

    /// Keeps TLS sessions alone: the multi handle has the rest. Nil when there is no memory.
    static func ofSessions() -> ServerCache? { ServerCache(of: [CURL_LOCK_DATA_SSL_SESSION]) }

    /// It closes the connections. No handle may have the share any more: libcurl would not free it.
    deinit { curl_share_cleanup(share) }
}

/// The caches of the servers with TLS that were used last.
///
/// Each server has its own, for three reasons. libcurl keeps eight sessions for a share and five for a handle (7.88; from 8.12 on 25
/// for a multi handle), so a watcher of more servers would resume none. It looks at every connection and every address of
/// a cache at the end of each transfer. (So the name of a proxy is resolved for each server behind it.) And no connection or session is used under another policy than it was verified under,
/// whatever libcurl compares: of pins it ignores the case.
struct ServerCaches {
    /// Servers that are kept (I8). One takes about 20 KB, half of it the server's certificate in its sessions.
    static let maximumServers = 4096

    struct Server: Hashable {
        var origin: String
        var tls: TLSPolicy
        /// Of two users of one proxy libcurl lets each go through the tunnel of the other.
        var proxy: ProxySelection?
    }

    private struct Entry {
        var cache: ServerCache
        /// Of the files with which what is in the cache was verified and opened.
        var files: TLSFileVersions
        var lastUse: UInt64
    }

    private var known: [Server: Entry] = [:]
    private var uses: UInt64 = 0

    /// Returns the cache of a server, which may be a new one; nil when there is no memory.
    /// - Parameter files: of the policy as they are now. What others verified or opened is dropped.
    mutating func cache(of server: Server, _ files: TLSFileVersions = TLSFileVersions()) -> ServerCache? {
        uses += 1
        known[server]?.lastUse = uses
        if let entry = known[server], entry.files == files { return entry.cache }
        guard let cache = ServerCache() else { return nil }
        if known.count >= Self.maximumServers { forgetOldest() }
        known[server] = Entry(cache: cache, files: files, lastUse: uses)
        return cache
    }

    /// Closes the idle connections of a server, and forgets its sessions, too: libcurl would look at the connections when it is
    /// asked again, and not before.
    /// - Parameter cache: the one that is meant, if it is still the server's; nil for any.
    mutating func remove(_ server: Server, where cache: ServerCache? = nil) {
        if let cache, known[server]?.cache !== cache { return }
        known[server] = nil
    }

    /// Forgets so many that it is seldom done, and so few that it takes no time: each may have a connection to close.
    private mutating func forgetOldest() {
        let first = known.values.map(\.lastUse).sorted()[Self.maximumServers / 64]
        known = known.filter { $0.value.lastUse >= first }
    }

    mutating func removeAll() { known = [:] }
}
