// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What makes a rule the same one after a reload.
enum RuleIdentity {
    /// The keys that decide what its rows are about, and what they wait for.
    static let ofRows = [
        "when", "for", "at_least", "nothing", "if", "unless", "depends", "quiet", "during", "once_per", "digest",
        "limit", "resolved", "recovered_for", "remind", "escalate",
    ]
    /// The keys that decide what its logs list, and when they are sent.
    static let ofLogs = ["digest", "quiet", "during"]

    /// Returns a digest of the values of these keys.
    static func of(_ map: MapReader, _ keys: [String]) -> UInt64 {
        var digest = StableHash()
        for key in keys {
            digest.add(key)
            map.value(key)?.add(to: &digest)
        }
        return digest.value
    }
}
