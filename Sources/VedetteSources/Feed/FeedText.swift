// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The form of the text of an element (RFC 4287 §3.1 and §4.1.3, Atom 0.3 §3.1.1).
enum FeedText {
    case plain
    case html
    /// Base64 of a text, plain or HTML.
    case encoded(isHTML: Bool)
    /// Base64 of something that is a text or not.
    case binary
    /// No text, such as a picture.
    case none

    /// Returns the form of an Atom element, and whether its child elements are a part of it.
    static func atom(type: String?, mode: String?, isPresentElsewhere: Bool = false) -> (FeedText, XMLAction) {
        if isPresentElsewhere { return (.none, .skip) }
        if mode == nil, type == nil || type == "text" { return (.plain, .text) }
        if mode == nil, type == "html" { return (.html, .text) }
        let type = type?.prefix { $0 != ";" }.lowercased().trimmingSpace() ?? "text"
        let isHTML = type.hasSuffix("html")
        switch mode?.lowercased() {
        case "escaped": return (isHTML ? .html : .plain, .text)
        case "base64": return (isHTML || isText(type) ? .encoded(isHTML: isHTML) : .binary, .text)
        case "xml": return (.html, .markup)
        default: break
        }
        switch type {
        case "html", "text/html": return (.html, .text)
        case "xhtml", "application/xhtml+xml": return (.html, .markup)
        default:
            if isText(type) { return (.plain, .text) }
            if type.hasSuffix("/xml") || type.hasSuffix("+xml") { return (.html, .markup) }
            // Anything else is Base64 (RFC 4287 §4.1.3.3), of a medium in any length. A short PDF may be all ASCII.
            let isMedium = ["image/", "audio/", "video/", "application/pdf"].contains { type.hasPrefix($0) }
            return isMedium ? (.none, .skip) : (.binary, .text)
        }
    }

    private static func isText(_ type: String) -> Bool {
        type == "text" || type.hasPrefix("text/") && type != "text/xml"
    }

    /// - Parameter keepsUnknownTags: a name in angle brackets that is no element of HTML is text, as in `vector<int>`.
    func read(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int, keepsUnknownTags: Bool = false) -> String {
        switch self {
        case .plain: HTMLText.collapse(bytes, limit: limit)
        case .html: HTMLText.plain(bytes, limit: limit, keepsUnknownTags: keepsUnknownTags)
        case .encoded(let isHTML):
            Base64.decodeSkippingOthers(bytes).withUnsafeBufferPointer {
                (isHTML ? FeedText.html : .plain).read($0, limit: limit)
            }
        case .binary:
            FeedText.text(in: Base64.decodeSkippingOthers(bytes)).map { HTMLText.collapse($0, limit: limit) } ?? ""
        case .none: ""
        }
    }

    /// Returns bytes as a text; nil when they are none.
    private static func text(in bytes: [UInt8]) -> String? {
        let isControlled = bytes.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return isControlled ? nil : String(validating: bytes, as: UTF8.self)
    }

    static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var (start, end) = (0, bytes.count)
        while start < end, bytes[start] <= 0x20 { start += 1 }
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        return UnsafeBufferPointer(rebasing: bytes[start..<end])
    }
}

extension String {
    fileprivate func trimmingSpace() -> String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
