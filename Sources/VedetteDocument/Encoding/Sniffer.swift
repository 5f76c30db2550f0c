// SPDX-License-Identifier: Apache-2.0
import CSimdjson

/// Recognises a document by its first bytes.
enum Sniffer {
    /// True when the document begins as an HTML page, whatever its letters' case: after comments, an XML declaration and white
    /// space there stands `<!doctype html` or `<html`.
    static func isHTML(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body.prefix(4096)
        while true {
            rest = rest.drop(while: \.isSpace)
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
        return word.withUTF8Buffer { word in zip(bytes, word).allSatisfy { $0.lowercased == $1 } }
    }

    private static func end(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: mark) }.map { $0 + mark.count }
    }
}

/// Validates UTF-8 with simdjson, at several gigabytes a second.
enum UTF8Check {
    static func isValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { cj_valid_utf8($0, buffer.count) == 1 } ?? true
        }
    }
}
