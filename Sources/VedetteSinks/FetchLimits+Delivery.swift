// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension FetchLimits {
    /// The limits of one delivery attempt. Replies are read up to 64 KiB.
    static func delivery(within timeout: Duration) -> FetchLimits {
        var limits = FetchLimits()
        (limits.received, limits.inflated) = (64 << 10, 64 << 10)
        (limits.total, limits.firstByte) = (timeout, timeout)
        limits.connect = min(limits.connect, timeout)
        return limits
    }
}
