// SPDX-License-Identifier: Apache-2.0

/// Corrects two errors that servers make: bytes that are not UTF-8, and texts cut between the halves of a surrogate pair.
/// The same bytes always give the same text, so an item's key does not move between two polls.
enum JSONRepair {
    /// Returns the corrected document; nil when it has neither error.
    static func repair(_ body: [UInt8]) -> (body: [UInt8], warnings: [DocumentWarning])? {
        var repaired = body
        var warnings: [DocumentWarning] = []
        if !UTF8Check.isValid(body) {
            // A character cut at the very end is a cut document, and stays one: its root is not closed either.
            repaired = Array(String(decoding: body, as: UTF8.self).utf8)
            warnings.append(.badEncoding)
        }
        if replaceLoneSurrogates(&repaired) { warnings.append(.loneSurrogate) }
        return warnings.isEmpty ? nil : (repaired, warnings)
    }

    /// Replaces `\ud800` alone by `\ufffd`, which has the same length.
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
            guard let digit = byte.hexValue else { return nil }
            unit = unit << 4 | digit
        }
        return unit
    }
}
