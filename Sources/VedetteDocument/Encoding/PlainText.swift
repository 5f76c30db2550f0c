// SPDX-License-Identifier: Apache-2.0

/// Reads a text that is no document of a known structure.
public enum PlainText {
    /// Decodes by byte order mark, then by the response's charset, then as UTF-8; what does not fit becomes U+FFFD.
    ///
    /// - Parameter charset: the `charset` parameter of the response's Content-Type.
    public static func decode(_ body: [UInt8], charset: String?) throws(DocumentError) -> String {
        let encoding = try CharacterEncoding.detect(body, charset: charset)
        let bytes = body[encoding.markBytes...]
        guard let name = encoding.iconvName else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: try CharacterDecoder.decode(bytes, from: name).0, as: UTF8.self)
    }

    /// True when a text begins as an HTML page does.
    public static func isHTML(_ text: String) -> Bool { Sniffer.isHTML(Array(text.utf8.prefix(4096))[...]) }
}
