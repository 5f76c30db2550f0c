// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// The TLS sessions of one server under one policy. The next handshake with it resumes one (RFC 8446 §2.2), which costs half the
/// time and no signature. By the loop's thread alone.
final class TLSSessions {
    let share: UnsafeMutableRawPointer

    /// Nil when there is no memory.
    init?() {
        guard let share = curl_share_init() else { return nil }
        cc_share_data(share, CURL_LOCK_DATA_SSL_SESSION)
        self.share = share
    }

    /// No handle may have the share any more: libcurl would not free it.
    deinit { curl_share_cleanup(share) }
}

/// The sessions of the servers that were used last.
///
/// libcurl keeps eight sessions for a share and five for a handle (7.88; from 8.12 on 25 for a multi handle), so a watcher of
/// more servers would resume none: each gets a share of its own. A share has one policy too, since libcurl compares pins
/// without regard to case.
struct TLSSessionCache {
    /// Servers whose sessions are kept (I8). One takes about 10 KB, most of it the server's certificate.
    static let maximumServers = 4096

    struct Server: Hashable {
        var origin: String
        var tls: TLSPolicy
        /// Of what the policy trusts.
        var generation = 0
    }

    private var recent: [Server: TLSSessions] = [:]
    /// What was recent before half of the servers were used since; it goes when they are.
    private var earlier: [Server: TLSSessions] = [:]

    /// Returns the sessions of a server, which may be none yet; nil when there is no memory.
    mutating func sessions(of server: Server) -> TLSSessions? {
        if let sessions = recent[server] { return sessions }
        guard let sessions = earlier.removeValue(forKey: server) ?? TLSSessions() else { return nil }
        if recent.count >= Self.maximumServers / 2 { (earlier, recent) = (recent, [:]) }
        recent[server] = sessions
        return sessions
    }

    mutating func removeAll() { (recent, earlier) = ([:], [:]) }
}
