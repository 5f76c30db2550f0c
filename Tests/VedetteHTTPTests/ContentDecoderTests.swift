// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("Content decoding")
struct ContentDecoderTests {
    /// A gzip member (RFC 1952) with one stored block (RFC 1951 §3.2.4).
    static func member(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let size = UInt16(bytes.count)
        func little(_ value: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: value.littleEndian) { Array($0) }
        }
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + stored(bytes, size) + little(crc(bytes)) + little(UInt32(size))
        func stored(_ bytes: [UInt8], _ size: UInt16) -> [UInt8] { [1] + little(size) + little(~size) + bytes }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }

    private func text(_ body: [UInt8], encoding: String = "gzip", limit: Int = 1000) throws(FetchError) -> String {
        String(decoding: try ContentDecoder.decode(body, encoding: encoding, limit: limit), as: UTF8.self)
    }

    @Test("several gzip members are one body, and bytes after them are padding")
    func members() throws {
        #expect(try text(Self.member("one ") + Self.member("two")) == "one two")
        #expect(try text(Self.member("one") + [0, 0, 0, 0]) == "one")
        #expect(try text(Self.member("one"), encoding: "x-gzip") == "one")
    }

    @Test("every cut of a gzip stream is an error, never a shorter body")
    func cut() {
        let body = Self.member("one ") + Self.member("two")
        let whole = Self.member("one ").count
        for count in 1..<body.count {
            // A member that ends before its two magic bytes is the same as padding.
            if count == whole || count == whole + 1 { continue }
            #expect(throws: FetchError.self, "\(count) bytes") { try text(Array(body[..<count])) }
        }
    }

    @Test("raw deflate is accepted as deflate")
    func raw() throws {
        let stored = Array(Self.member("one").dropFirst(10).dropLast(8))
        #expect(try text(stored, encoding: "deflate") == "one")
        #expect(throws: FetchError.self) { try text(Array(stored.dropLast()), encoding: "deflate") }
    }

    @Test("what inflates beyond its limit is too large", .tags(.I8))
    func limit() {
        let error = #expect(throws: FetchError.self) { try text(Self.member("123456"), limit: 5) }
        #expect(error?.failure == .tooLarge)
    }

    @Test("damaged bodies and unknown encodings are encoding errors, without the server's control characters")
    func damage() {
        var body = Self.member("one")
        body[15] ^= 1
        #expect(throws: FetchError.self) { try text(body) }
        let error = #expect(throws: FetchError.self) { try text([1], encoding: "br\u{1B}[31m") }
        #expect(error?.failure == .encoding && error?.detail.contains("\u{1B}") == false)
    }
}
