// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Keeps pins apart that differ in the case of their letters only. libcurl gives a kept connection to no transfer with
/// another TLS policy, but it compares pins as if base64 had no case.
struct PinRegistry {
    private var pins: [String: [String]] = [:]

    /// True when a transfer with this pin may share connections with nobody.
    mutating func isAlone(_ pin: String?, at origin: String) -> Bool {
        guard let pin else { return false }
        let known = pins[origin, default: []]
        if known.contains(pin) { return false }
        if known.contains(where: { $0.lowercased() == pin.lowercased() }) { return true }
        pins[origin, default: []].append(pin)
        return false
    }
}
