// SPDX-License-Identifier: Apache-2.0

/// PostgreSQL's `text` holds every character but U+0000 (https://www.postgresql.org/docs/15/datatype-character.html). That
/// one is written as the noncharacter U+10FFFF and a 0, and U+10FFFF itself as U+10FFFF and a 1.
enum SQLText {
    private static let escape: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 == 0 || $0 == escape[0] }) else { return bytes }
        var encoded: [UInt8] = []
        var i = 0
        while i < bytes.count {
            if bytes[i] == 0 {
                encoded += escape + [0x30]
                i += 1
            } else if bytes[i...].starts(with: escape) {
                encoded += escape + [0x31]
                i += escape.count
            } else {
                encoded.append(bytes[i])
                i += 1
            }
        }
        return encoded
    }

    static func decode(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(escape[0]) else { return bytes }
        var decoded: [UInt8] = []
        var i = 0
        while i < bytes.count {
            if bytes[i...].starts(with: escape), i + escape.count < bytes.count {
                decoded += bytes[i + escape.count] == 0x30 ? [0] : escape
                i += escape.count + 1
            } else {
                decoded.append(bytes[i])
                i += 1
            }
        }
        return decoded
    }
}
