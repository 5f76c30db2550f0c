// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Turns bytes of another encoding into UTF-8 by iconv.
enum CharacterDecoder {
    static func decode(_ body: ArraySlice<UInt8>, from name: String) throws(DocumentError) -> ([UInt8], isClean: Bool) {
        guard let converter = iconv_open("UTF-8", name), converter != iconv_t(bitPattern: -1) else {
            throw DocumentError(.encoding, "this system cannot decode the character encoding '\(name)'")
        }
        defer { iconv_close(converter) }
        var out: [UInt8] = []
        out.reserveCapacity(body.count + body.count / 2)
        var isClean = true
        let unit = name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1
        var input = Array(body)
        input.withUnsafeMutableBytes { input in
            var source = input.bindMemory(to: CChar.self).baseAddress
            var left = input.count
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { chunk in
                while left > 0 {
                    var target = chunk.baseAddress
                    var room = chunk.count
                    let result = iconv(converter, &source, &left, &target, &room)
                    let reason = errno
                    out.append(contentsOf: chunk[..<(chunk.count - room)].lazy.map { UInt8(bitPattern: $0) })
                    guard result == -1, reason != E2BIG else { continue }
                    out.append(contentsOf: "\u{FFFD}".utf8)
                    isClean = false
                    let skipped = min(unit, left)
                    source = source.map { $0 + skipped }
                    left -= skipped
                }
            }
        }
        return (out, isClean)
    }
}
