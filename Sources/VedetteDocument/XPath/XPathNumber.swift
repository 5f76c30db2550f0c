// SPDX-License-Identifier: Apache-2.0

/// A number of XPath as a text, which has no exponent (XPath 1.0 §4.2).
enum XPathNumber {
    /// Returns the decimal form of a number.
    /// - Parameter written: the number as libxml2 writes it: with 15 digits, and an exponent where it is large or small.
    static func text(_ value: Double, written: String) -> String {
        if value == value.rounded(), abs(value) < 0x1p63 { return String(Int64(value)) }
        let parts = written.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]), abs(exponent) <= 400 else { return written }
        let sign = parts[0].hasPrefix("-") ? "-" : ""
        let number = parts[0].dropFirst(sign.count).split(separator: ".", omittingEmptySubsequences: false)
        let digits = number.joined()
        let point = number[0].count + exponent
        func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }
        if point <= 0 { return "\(sign)0.\(zeros(-point))\(digits)" }
        let whole = digits.prefix(point) + zeros(point - digits.count)
        return point < digits.count ? "\(sign)\(whole).\(digits.dropFirst(point))" : sign + whole
    }
}
