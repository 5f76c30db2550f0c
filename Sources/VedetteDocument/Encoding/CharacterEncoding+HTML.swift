// SPDX-License-Identifier: Apache-2.0

/// The character encoding of an HTML page (HTML §13.2.3.2).
extension CharacterEncoding {
    /// Returns the name of a page's encoding where it has no byte order mark: the response's charset, the page's `meta`,
    /// else UTF-8 (nil) where the bytes are that, else windows-1252.
    static func nameInHTML(_ body: [UInt8], charset: String?) -> String? {
        let names = [charset, metaCharset(body.prefix(4096))].compactMap { $0 }
        let known = names.first { CharacterEncodingNames.find($0) != nil }
        return known ?? (UTF8Check.isValid(body) ? nil : "windows-1252")
    }

    /// Returns `utf-8` of `<meta charset="utf-8">` or `<meta http-equiv=Content-Type content="text/html; charset=utf-8">`.
    private static func metaCharset(_ head: ArraySlice<UInt8>) -> String? {
        var rest = head
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
            if Sniffer.begins(rest, with: "<meta"), let name = charset(in: rest[..<end]) { return name }
            rest = rest[(start + 1)...]
        }
        return nil
    }

    private static func charset(in tag: ArraySlice<UInt8>) -> String? {
        guard let at = tag.indices.first(where: { Sniffer.begins(tag[$0...], with: "charset") }) else { return nil }
        let marks = Array(" \t\r\n='\"".utf8)
        let name = tag[(at + 7)...].drop { marks.contains($0) }.prefix {
            !marks.contains($0) && $0 != 0x3B && $0 != 0x2F
        }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
