// SPDX-License-Identifier: Apache-2.0

/// Returns a text as a shell reads one word of a command, in quotes where it needs them.
public func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF: true
        default: "/._-+,:@%=~".utf8.contains(byte)
        }
    }
    return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
}
