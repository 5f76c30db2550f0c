// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides which transfers need a connection of their own: those to servers that send more than their answer has, such as the body
/// of a 304 (RFC 9112 §6.3) a moment after its head. The rest would be read as the next response on the connection, and no
/// version of libcurl sees it before it arrives.
///
/// Times are milliseconds of a clock that never jumps.
struct ConnectionReuse {
    /// How long connections to such a server are not reused: an hour. Then one is tried again.
    static let pause: Int64 = 3_600_000
    /// Such servers that are remembered (I8). Without one of them, its next such response costs one repeated request.
    static let maximumServers = 1024

    /// Until when no connection to a server is reused.
    private var unclean: [String: Int64] = [:]

    /// Returns whether a transfer needs a connection of its own.
    ///
    /// - Parameter server: what the connection leads to: the origin, or a proxy.
    mutating func needsOwnConnection(to server: String, now: Int64) -> Bool {
        guard let until = unclean[server] else { return false }
        if until > now { return true }
        unclean[server] = nil
        return false
    }

    /// Notes that a kept connection to a server brought bytes that belong to no response.
    mutating func foundUnclean(_ server: String, now: Int64) {
        if unclean.count >= ConnectionReuse.maximumServers, unclean[server] == nil {
            unclean = unclean.filter { $0.value > now }
            // The first to end is the one that was found first.
            if unclean.count >= ConnectionReuse.maximumServers, let first = unclean.min(by: { $0.value < $1.value }) {
                unclean[first.key] = nil
            }
        }
        unclean[server] = now + ConnectionReuse.pause
    }
}
