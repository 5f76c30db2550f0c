// SPDX-License-Identifier: Apache-2.0

extension Duration {
    private static let units: [(suffix: String, milliseconds: Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// Reads a duration of the configuration or command line: `200ms`, `1.5s`, `5m`, `1h`, `30d`. Returns nil for any other
    /// text.
    public init?(configured text: String) {
        guard let unit = Duration.units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        // Double alone would also read hexadecimal digits and exponents.
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal =
            parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }
        guard isDecimal, let value = Double(number), value < 1e6 else { return nil }
        self = .milliseconds(Int64((value * unit.milliseconds).rounded()))
    }

    /// The duration as the configuration has it, in the largest unit of which it is a whole number: `90s`, `2h`.
    public var configured: String {
        let milliseconds = wholeMilliseconds
        let unit = Duration.units.last { milliseconds % Int64($0.milliseconds) == 0 } ?? Duration.units[0]
        return "\(milliseconds / Int64(unit.milliseconds))\(unit.suffix)"
    }
}

/// Writes durations for people.
public enum DurationText {
    /// Returns a duration in its two largest units: `4 min 12 s`, `2 d 3 h`.
    public static func long(seconds: Double) -> String { text(seconds, isWhole: true) }

    /// Returns a duration in its largest unit: `4 min`, `2 d`.
    public static func short(seconds: Double) -> String { text(seconds, isWhole: false) }

    private static func text(_ seconds: Double, isWhole: Bool) -> String {
        let whole = Int64(seconds.isNaN ? 0 : min(max(0, seconds.rounded()), 1e15))
        if whole == 0, seconds > 0 { return "under 1 s" }
        guard let first = units.firstIndex(where: { whole >= $0.seconds }) else { return "0 s" }
        let high = String(whole / units[first].seconds) + units[first].name
        guard isWhole, first + 1 < units.count else { return high }
        let low = whole % units[first].seconds / units[first + 1].seconds
        return low == 0 ? high : high + " " + String(low) + units[first + 1].name
    }

    private static let units: [(seconds: Int64, name: String)] = [
        (86_400, " d"), (3600, " h"), (60, " min"), (1, " s"),
    ]
}
