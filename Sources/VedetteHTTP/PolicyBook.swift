// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The TLS policy that each origin was met with. An origin met with several shares connections with nobody: libcurl would
/// hand a connection that was made under one policy to a transfer with another.
struct PolicyBook {
    private var policies: [String: TLSPolicy] = [:]
    private var mixed = Set<String>()

    mutating func isMixed(_ hop: Hop) -> Bool {
        guard hop.url.scheme == "https" else { return false }
        if let policy = policies[hop.origin] {
            if policy != hop.request.tls { mixed.insert(hop.origin) }
        } else {
            policies[hop.origin] = hop.request.tls
        }
        return mixed.contains(hop.origin)
    }
}
