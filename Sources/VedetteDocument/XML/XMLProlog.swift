// SPDX-License-Identifier: Apache-2.0

/// Where an XML document begins when something stands before it that does not belong to it.
enum XMLProlog {
    /// A declaration further in than this is not looked for.
    static let reach = 8192

    /// NUL and other control characters are dropped everywhere; here they would hide the beginning.
    static func afterSpace(_ bytes: ArraySlice<UInt8>) -> Int {
        var rest = bytes
        while let first = rest.first {
            if first <= 0x20 {
                rest.removeFirst()
            } else if rest.starts(with: [0xEF, 0xBB, 0xBF]) {
                rest.removeFirst(3)
            } else {
                break
            }
        }
        return rest.startIndex
    }

    /// The XML declaration, at the beginning or after a text, a comment or the HTML of an error message. Nil when a document
    /// without one begins earlier: `<?xml` may stand in the text of any.
    static func declaration(in bytes: ArraySlice<UInt8>) -> Int? {
        let rest = bytes[afterSpace(bytes)...]
        if isDeclaration(rest) { return rest.startIndex }
        guard let first = rest.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        if first == UInt8(ascii: "<"), !isMessage(rest) { return nil }
        return rest.indices.first { rest[$0] == UInt8(ascii: "<") && isDeclaration(rest[$0...]) }
    }

    private static func isDeclaration(_ bytes: ArraySlice<UInt8>) -> Bool {
        Sniffer.begins(bytes, with: "<?xml") && bytes.dropFirst(5).first.map { $0 <= 0x20 } ?? false
    }

    private static func isMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
        Sniffer.begins(bytes, with: "<!--") || Sniffer.begins(bytes, with: "<br") || Sniffer.begins(bytes, with: "<b>")
            || Sniffer.begins(bytes, with: "<p>") || Sniffer.begins(bytes, with: "<div")
    }
}
