// SPDX-License-Identifier: Apache-2.0
import CJSON

/// What the first bytes of a document say about it.
enum Sniffer {
    /// True when the document begins as an HTML page, whatever its letters' case: after comments, an XML declaration and white
    /// space there stands `<!doctype html` or `<html`.
    static func isHTML(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body.prefix(4096)
        while true {
            rest = rest.drop { JSONDiagnosis.isSpace($0) }
            if begins(rest, with: "<!--"), let end = end(of: "-->", in: rest) {
                rest = rest[end...]
            } else if begins(rest, with: "<?"), let end = end(of: "?>", in: rest) {
                rest = rest[end...]
            } else {
                return begins(rest, with: "<!doctype html") || begins(rest, with: "<html")
            }
        }
    }

    static func begins(_ bytes: ArraySlice<UInt8>, with word: StaticString) -> Bool {
        guard bytes.count >= word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in zip(bytes, word).allSatisfy { lowercased($0) == $1 } }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: mark) }.map { $0 + mark.count }
    }
}

/// Well-formedness of UTF-8, by simdjson: several gigabytes a second.
enum UTF8Check {
    static func isValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { cj_valid_utf8($0, buffer.count) == 1 } ?? true
        }
    }
}
