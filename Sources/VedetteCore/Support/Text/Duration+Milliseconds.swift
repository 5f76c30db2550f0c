// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole milliseconds, rounded towards zero and saturating.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (high, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return high.addingClamped(attoseconds / 1_000_000_000_000_000)
    }

    /// Seconds, with a resolution of milliseconds.
    public var inSeconds: Double { Double(wholeMilliseconds) / 1000 }
}

extension Int64 {
    /// Returns the sum, or the nearest value in case of overflow.
    public func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
