// SPDX-License-Identifier: Apache-2.0

/// The kind of reference that an `&` begins (XML 1.0 §4.1). Lengths are in bytes and include the `&`.
enum XMLReference: Equatable {
    /// A predefined entity, or a reference to a character that XML allows.
    case good(Int)
    /// An entity that HTML defines and XML does not.
    case html(String, Int)
    /// A reference to a character that XML forbids.
    case forbidden(Int)
    /// No reference: the `&` is text.
    case bare

    init(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) {
        let limit = min(bytes.count, start + 40)
        var end = start + 1
        while end < limit, bytes[end] != UInt8(ascii: ";") {
            guard bytes[end].isLetter || bytes[end].isDigit || end == start + 1 else { break }
            end += 1
        }
        guard end < limit, bytes[end] == UInt8(ascii: ";"), end > start + 1 else {
            self = .bare
            return
        }
        let name = UnsafeBufferPointer(rebasing: bytes[start + 1..<end])
        let length = end + 1 - start
        if name[0] == UInt8(ascii: "#") {
            guard let code = characterCode(name.dropFirst()) else {
                self = .bare
                return
            }
            self = Self.isAllowed(code) ? .good(length) : .forbidden(length)
        } else if Self.isPredefined(name) {
            self = .good(length)
        } else if let character = HTMLEntities.named[String(decoding: name, as: UTF8.self)] {
            self = .html(String(character), length)
        } else {
            self = .bare
        }
    }

    private static func isPredefined(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        switch name.count {
        case 2: name[1] == UInt8(ascii: "t") && (name[0] == UInt8(ascii: "l") || name[0] == UInt8(ascii: "g"))
        case 3: name.elementsEqual("amp".utf8)
        case 4: name.elementsEqual("quot".utf8) || name.elementsEqual("apos".utf8)
        default: false
        }
    }

    /// XML 1.0 §2.2, Char.
    private static func isAllowed(_ code: UInt32) -> Bool {
        switch code {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }
}

/// Returns the number of `#65` or `#x41` after the `#`; nil when it is not a number. A number beyond Unicode is 0x110000.
func characterCode(_ digits: some Collection<UInt8>) -> UInt32? {
    let isHex = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
    let digits = isHex ? digits.dropFirst() : digits.dropFirst(0)
    guard !digits.isEmpty else { return nil }
    var code: UInt32 = 0
    for byte in digits {
        guard let digit = byte.hexValue, isHex || digit < 10 else { return nil }
        code = min(code * (isHex ? 16 : 10) + digit, 0x11_0000)
    }
    return code
}
