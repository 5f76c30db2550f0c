// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@Suite("Base64")
struct Base64Tests {
    @Test(
        "it encodes the examples of RFC 4648 §10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"), ("äö", "w6TDtg=="),
        ])
    func both(_ plain: String, _ text: String) {
        #expect(Base64.encode(plain.utf8) == text)
        #expect(Base64.decode(text) == Array(plain.utf8))
        #expect(Base64.decode(String(text.prefix { $0 != "=" })) == Array(plain.utf8))
    }

    @Test("a text that is not Base64 is refused", arguments: ["A", "A===", "Zm9v=", "Zg==Zg==", "Zm-_", "Zm 9v", "ä"])
    func refused(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("it is Foundation's")
    func foundation() {
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
        }
    }

    @Test("in a feed other characters are skipped, and the text ends at its padding")
    func skippingOthers() {
        #expect(Base64.decodeSkippingOthers("Zm 9v\r\nYm-_".utf8) == Array("foobo".utf8) + [0xBF])
        #expect(Base64.decodeSkippingOthers("Zg==Zg==".utf8) == Array("f".utf8))
    }
}
