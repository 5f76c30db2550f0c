// SPDX-License-Identifier: Apache-2.0

/// The grammar of a JSON number (RFC 8259 §6).
enum JSONNumber {
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let whole = skipDigits(&rest)
        if whole.isEmpty || (whole.count > 1 && whole.first == UInt8(ascii: "0")) { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if skipDigits(&rest).isEmpty { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            if skipDigits(&rest).isEmpty { return false }
        }
        return rest.isEmpty
    }

    private static func skipDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = rest.prefix(while: \.isDigit)
        rest = rest[digits.endIndex...]
        return digits
    }
}
