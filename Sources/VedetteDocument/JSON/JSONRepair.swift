// SPDX-License-Identifier: Apache-2.0

/// Heals what servers really send: bytes that are not UTF-8, and texts that were cut between the halves of a surrogate pair.
/// The same bytes always give the same text, so an item's key does not move between two polls.
enum JSONRepair {
    /// The healed document, or nil when these were not its illness.
    static func heal(_ body: [UInt8]) -> (body: [UInt8], warnings: [DocumentWarning])? {
        var healed = body
        var warnings: [DocumentWarning] = []
        if !UTF8Check.isValid(body) {
            // A character cut at the very end is a cut document, and stays one: its root is not closed either.
            healed = Array(String(decoding: body, as: UTF8.self).utf8)
            warnings.append(.badEncoding)
        }
        if replaceLoneSurrogates(&healed) { warnings.append(.loneSurrogate) }
        return warnings.isEmpty ? nil : (healed, warnings)
    }

    /// `\ud800` alone becomes `\ufffd`, which is as long.
    private static func replaceLoneSurrogates(_ bytes: inout [UInt8]) -> Bool {
        var found = false
        var at = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "\\") else {
                at += 1
                continue
            }
            guard let unit = escape(bytes, at) else {
                at += 2
                continue
            }
            if unit & 0xFC00 == 0xD800, let next = escape(bytes, at + 6), next & 0xFC00 == 0xDC00 {
                at += 12
                continue
            }
            if unit & 0xF800 == 0xD800 {
                bytes.replaceSubrange(at + 2..<at + 6, with: Array("fffd".utf8))
                found = true
            }
            at += 6
        }
        return found
    }

    private static func escape(_ bytes: [UInt8], _ at: Int) -> UInt32? {
        guard at + 6 <= bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt32 = 0
        for byte in bytes[at + 2..<at + 6] {
            guard let digit = hexValue(byte) else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }
}
