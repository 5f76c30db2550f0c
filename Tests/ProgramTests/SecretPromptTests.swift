// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import vedette

@Suite("The prompt for a secret")
struct SecretPromptTests {
    private func type(_ keys: String) -> (text: String, step: SecretPrompt.Line.Step) {
        var line = SecretPrompt.Line()
        for byte in keys.utf8 {
            let step = line.take(byte)
            guard step == .more else { return (String(decoding: line.bytes, as: UTF8.self), step) }
        }
        return (String(decoding: line.bytes, as: UTF8.self), .more)
    }

    @Test("keys edit the line: backspace takes a whole character, Ctrl-U the line, Ctrl-C and an early Ctrl-D cancel")
    func keys() {
        #expect(type("hunter2\r") == ("hunter2", .finished))
        #expect(type("grö\u{7F}ß\u{8}e\n") == ("gre", .finished))
        #expect(type("wrong\u{15}right\n") == ("right", .finished))
        #expect(type("secret\u{3}") == ("secret", .cancelled))
        #expect(type("\u{4}").step == .cancelled)
        #expect(type("ab\u{4}") == ("ab", .finished))
        #expect(type("\u{7F}\u{7F}a\u{1B}b") == ("ab", .more))
        #expect(type(String(repeating: "a", count: 5000)).text.utf8.count == 4096)
    }
}
