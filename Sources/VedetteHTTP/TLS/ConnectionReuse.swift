// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Separates pins that differ only in the case of letters. libcurl reuses a connection only for the same TLS policy, but
/// compares pins without regard to case, as if Base64 had none.
struct ConnectionReuse {
    private var pins: [String: [String]] = [:]

    /// Returns whether a transfer with this pin needs a connection of its own.
    mutating func needsOwnConnection(_ pin: String?, at origin: String) -> Bool {
        guard let pin else { return false }
        let known = pins[origin, default: []]
        if known.contains(pin) { return false }
        if known.contains(where: { $0.lowercased() == pin.lowercased() }) { return true }
        pins[origin, default: []].append(pin)
        return false
    }
}
