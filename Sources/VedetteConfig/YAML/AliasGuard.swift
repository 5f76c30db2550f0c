// SPDX-License-Identifier: Apache-2.0

/// Yams hashes a mapping's keys while it reads, so an alias of an alias of an alias … in a key takes for ever before
/// anybody can count. This counts first, by the text alone, and always too much rather than too little.
enum AliasGuard {
    private static let most = 64 << 20

    static func isBomb(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return hasAliasInKey(bytes) && expansion(of: bytes) > most
    }

    /// How many bytes the text would have with every alias written out: each counts for all that stands between the
    /// anchor and the first use of it, which is at least what it stands for.
    private static func expansion(of bytes: [UInt8]) -> Int {
        var total = 0
        var last = 0
        var anchors: [ArraySlice<UInt8>: (start: Int, weight: Int?)] = [:]
        for (sigil, name) in references(in: bytes) {
            total += name.startIndex - last
            last = name.startIndex
            if sigil == UInt8(ascii: "&") {
                anchors[name] = (total, nil)
            } else if let anchor = anchors[name] {
                let weight = anchor.weight ?? total - anchor.start
                anchors[name]?.weight = weight
                total = min(total + weight, most * 2)
            }
        }
        return total
    }

    private static func references(in bytes: [UInt8]) -> [(sigil: UInt8, name: ArraySlice<UInt8>)] {
        bytes.indices.compactMap { i in
            guard bytes[i] == UInt8(ascii: "&") || bytes[i] == UInt8(ascii: "*") else { return nil }
            let name = bytes[(i + 1)...].prefix(while: isNamePart)
            return name.isEmpty ? nil : (bytes[i], name)
        }
    }

    /// A key that is an alias, or a list or map, which may hold one: `? `, `*name :`, `] :`, `} :`.
    private static func hasAliasInKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.contains(UInt8(ascii: "*")) else { return false }
        var last: UInt8 = 10
        var inAlias = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "?"): return true
            case UInt8(ascii: ":"): if inAlias || last == UInt8(ascii: "]") || last == UInt8(ascii: "}") { return true }
            case UInt8(ascii: "*"): inAlias = true
            case 9, 10, 13, 32: continue
            default: if !isNamePart(byte) { inAlias = false }
            }
            last = byte
        }
        return false
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
