// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What makes a rule the same one after a reload.
enum RuleIdentity {
    /// Returns a digest of name, `when`, `for`, `limit`, `nothing` and `at_least`. A rule keeps its memory over a reload while
    /// it is the same.
    static func of(_ map: MapReader, _ name: String) -> UInt64 {
        var digest = StableHash()
        digest.add(name)
        for key in ["when", "for", "limit", "nothing", "at_least"] {
            digest.add(key)
            map.value(key)?.add(to: &digest)
        }
        return digest.value
    }
}
