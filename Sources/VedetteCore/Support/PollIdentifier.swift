// SPDX-License-Identifier: Apache-2.0

/// Returns the short id of a poll, in logs, `status` and events: `p-` and eight hex digits.
public func pollIdentifier(random: UInt64) -> String {
    "p-" + Identifier.hex(random).prefix(8)
}
