// SPDX-License-Identifier: Apache-2.0

/// Reads the fixed-width digits of a date.
struct DigitScanner {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func digits(_ count: Int) -> Int? {
        guard at + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[at..<at + count] {
            guard (48...57).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        at += count
        return value
    }

    mutating func skip(_ any: Unicode.Scalar...) -> Bool {
        guard at < bytes.count, any.contains(Unicode.Scalar(bytes[at])) else { return false }
        at += 1
        return true
    }

    /// Reads a fraction of any length as milliseconds; nil without a digit.
    mutating func fraction() -> Int? {
        var (value, scale, count) = (0, 100, 0)
        while at < bytes.count, (48...57).contains(bytes[at]) {
            value += Int(bytes[at] - 48) * scale
            (scale, count, at) = (scale / 10, count + 1, at + 1)
        }
        return count == 0 ? nil : value
    }

    /// Reads `Z`, `+02:00` or `-0530` as minutes east of UTC.
    mutating func zone() -> Int? {
        if skip("Z", "z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = digits(2) else { return nil }
        _ = skip(":")
        guard let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
