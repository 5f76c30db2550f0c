// SPDX-License-Identifier: Apache-2.0

/// Detects aliases that expand too much. Yams hashes the keys of a map while it reads, so nested aliases in a key take very
/// long before their size can be counted. This guard counts in the text, and rather too much than too little.
enum AliasGuard {
    /// The largest size with every alias replaced, in bytes.
    private static let maximum = 64 << 20

    /// Returns whether the text must not be parsed.
    static func isBomb(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return hasAliasInKey(bytes) && expansion(of: bytes) > maximum
    }

    /// Returns how many bytes the text has with every alias replaced. An alias counts as everything between its anchor and
    /// its first use, which is at least its value.
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
                total = min(total + weight, maximum * 2)
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

    /// Returns whether a key is an alias, or a list or map, which may contain one: `? `, `*name :`, `] :`, `} :`.
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
