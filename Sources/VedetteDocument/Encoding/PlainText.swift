// SPDX-License-Identifier: Apache-2.0

/// Reads a text that is no document of a known structure.
public enum PlainText {
    /// Decodes by byte order mark, then by the encoding that a person names, then by the response's charset, then as UTF-8; what
    /// does not fit becomes U+FFFD.
    ///
    /// - Parameters:
    ///   - charset: the `charset` parameter of the response's Content-Type.
    ///   - encoding: what a person names; it may be one that the bytes fit by chance.
    public static func decode(
        _ body: [UInt8], charset: String?, encoding: String? = nil
    ) throws(DocumentError) -> String {
        let found = try CharacterEncoding.detect(body, charset: charset)
        let named = found.markBytes == 0 ? encoding.flatMap { PlainText.encoding($0, of: body) } : nil
        let bytes = body[found.markBytes...]
        guard let name = named.map(\.iconvName) ?? found.iconvName else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: try CharacterDecoder.decode(bytes, from: name).0, as: UTF8.self)
    }

    /// Whether a character encoding has this name and can be read (https://encoding.spec.whatwg.org/#names-and-labels).
    public static func isEncoding(_ name: String) -> Bool { CharacterEncodingNames.find(name) != nil }

    /// Whether a text that is said to be in an encoding of that name has other bytes than UTF-8.
    public static func isOtherThanUTF8(_ name: String, _ body: [UInt8]) -> Bool {
        encoding(name, of: body)?.iconvName != nil
    }

    private static func encoding(_ name: String, of body: [UInt8]) -> CharacterEncodingNames.Found? {
        CharacterEncodingNames.findWide(name, in: body[...]) ?? CharacterEncodingNames.find(name)
    }

    /// True when a text begins as an HTML page does.
    public static func isHTML(_ text: String) -> Bool { Sniffer.isHTML(Array(text.utf8.prefix(4096))[...]) }
}
