// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds and heals what libxml2 would refuse or drop although its meaning is plain: control characters, a bare `&`, HTML
/// entities. libxml2's own recovery shortens texts silently, so the document is healed before it is parsed.
enum XMLDefects {
    /// Healthy documents, nearly all of them, are only scanned: a few per cent of the time that parsing takes.
    static func heal(_ text: inout XMLText, attributes: Int) throws(DocumentError) {
        let start = text.start
        let (isBomb, isIll) = text.bytes.withUnsafeBufferPointer { buffer in
            let bytes = UnsafeBufferPointer(rebasing: buffer[start...])
            let isBomb = hasTooManyAttributes(bytes, limit: attributes)
            return (isBomb, !isBomb && (hasControl(bytes) || hasBadReference(bytes)))
        }
        if isBomb { throw DocumentError(.tooLarge, "an XML element has more attributes than the limit") }
        if isIll {
            var healer = XMLSanitizer(text.bytes, from: start)
            healer.run()
            text = XMLText(bytes: healer.out, warnings: text.warnings + healer.warnings)
        }
    }

    /// Eight bytes at a time: a byte below 0x20 borrows from its own top bit.
    static func hasControl(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var at = 0
        while at + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            let hit = (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
            if hit != 0, raw[at..<at + 8].contains(where: isControl) { return true }
            at += 8
        }
        return raw[at...].contains(where: isControl)
    }

    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D }

    static func hasBadReference(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        while let found = next(UInt8(ascii: "&"), in: bytes, from: at) {
            if let length = lengthOfCommon(bytes, at: found) {
                at = found + length
                continue
            }
            guard case .good(let length) = XMLReference(bytes, at: found) else { return true }
            at = found + length
        }
        return false
    }

    /// Of `&lt;`, `&gt;` and `&amp;`, which nearly all references are; nil for another.
    private static func lengthOfCommon(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        guard start + 5 <= bytes.count else { return nil }
        let name = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: start + 1, as: UInt32.self).littleEndian
        // As they stand in memory, the first letter lowest.
        switch name & 0xFF_FFFF {
        case 0x3B_746C, 0x3B_7467: return 4
        default: return name == 0x3B70_6D61 ? 5 : nil
        }
    }

    /// libxml2 compares each attribute of an element with all before it: a megabyte of them would take hours. A tag lies
    /// between two `<`, so only long stretches need a closer look.
    private static func hasTooManyAttributes(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        var at = next(UInt8(ascii: "<"), in: bytes, from: 0)
        while let start = at {
            let end = next(UInt8(ascii: "<"), in: bytes, from: start + 1)
            let stretch = bytes[start..<(end ?? bytes.count)]
            // Each attribute has at least four bytes: ` a=""` without the space that parsers forgive.
            if stretch.count > 4 * limit, countAttributes(stretch) > limit { return true }
            at = end
        }
        return false
    }

    private static func countAttributes(_ tag: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        if tag.dropFirst().first.map({ $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "?") }) ?? true { return 0 }
        var quote: UInt8?
        var count = 0
        for byte in tag {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "=") {
                count += 1
            } else if byte == UInt8(ascii: ">") {
                break
            }
        }
        return count
    }

    static func next(_ byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}
