// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Timestamp {
    /// Reads the times of JSON and XML: ISO 8601 as RFC 3339 has it, with a day alone or without a zone (then UTC); the dates of RFC 2822;
    /// or a number since 1970, whose size tells its unit: seconds up to the year 5138, then milliseconds, microseconds and
    /// nanoseconds.
    init?(anyForm text: String) {
        if let time = Timestamp(rfc3339: text) {
            self = time
        } else if let number = Timestamp.number(text) {
            switch number {
            case ..<100_000_000_000: self.init(milliseconds: number * 1000 + Timestamp.thousandths(text))
            case ..<100_000_000_000_000: self.init(milliseconds: number)
            case ..<100_000_000_000_000_000: self.init(milliseconds: number / 1000)
            default: self.init(milliseconds: number / 1_000_000)
            }
        } else if let time = FeedDate.parse(text) {
            self = time
        } else {
            return nil
        }
    }

    /// Reads milliseconds since 1970 as a server writes them; nil for anything else and for a time beyond the year 9999.
    init?(milliseconds text: String?) {
        guard let text, let number = Int64(text), number.magnitude < 253_402_300_800_000 else { return nil }
        self.init(milliseconds: number)
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
