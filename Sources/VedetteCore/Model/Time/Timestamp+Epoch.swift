// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads a number since 1970, whose size tells its unit: seconds up to the year 5138, then milliseconds, microseconds and
    /// nanoseconds. Nil for any other text.
    public init?(sinceEpoch text: String) {
        guard let number = Timestamp.number(text) else { return nil }
        switch number {
        case ..<100_000_000_000: self.init(milliseconds: number * 1000 + Timestamp.thousandths(text))
        case ..<100_000_000_000_000: self.init(milliseconds: number)
        case ..<100_000_000_000_000_000: self.init(milliseconds: number / 1000)
        default: self.init(milliseconds: number / 1_000_000)
        }
    }

    /// Returns the whole part of a number that is not negative and has no exponent.
    private static func number(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        return Int64(first)
    }

    /// Returns 250 for `1795226400.25`.
    private static func thousandths(_ text: String) -> Int64 {
        guard let point = text.firstIndex(of: ".") else { return 0 }
        return Int64((text[text.index(after: point)...] + "000").prefix(3)) ?? 0
    }
}
