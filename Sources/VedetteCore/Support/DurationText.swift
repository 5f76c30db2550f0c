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
}
