// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Makes addresses absolute: against `xml:base` where it is set, else against the document's own.
struct FeedLinkResolver {
    private let url: WebURL?
    /// The base of the element whose text is a link; it is known only where the element starts.
    private var held: WebURL?
    /// The last chain of `xml:base`, each with the base that it makes: links share all of it or its beginning.
    private var chain: [(written: String, base: WebURL?)] = []
    private var base: WebURL? { chain.isEmpty ? url : chain[chain.count - 1].base }

    init(url: WebURL?) {
        self.url = url
        held = url
    }

    /// A link to another page of the document. It is resolved once, so it may take over a base of any length: without
    /// it the page would count as the last.
    struct PageLink {
        fileprivate let reference: String
        fileprivate let base: WebURL?

        var target: String? { FeedLinkResolver.resolve(reference, against: base, copying: .max) }
    }

    /// The relation of a link, as far as the reader uses it.
    enum Relation {
        case alternate, enclosure, next, archive, other
    }

    /// Returns the relation of a link. Without `rel` it is the alternate; `http://www.iana.org/assignments/relation/alternate` is too (RFC 4287 §4.2.7.2).
    static func relation(_ element: borrowing XMLElement) -> Relation {
        guard let bytes = element.attributeBytes(FeedName.rel.token) else { return .alternate }
        if bytes.elementsEqual("alternate".utf8) { return .alternate }
        let text = String(decoding: FeedText.trimmed(bytes), as: UTF8.self).lowercased()
        return switch text.split(separator: "/").last ?? "alternate" {
        case "alternate": .alternate
        case "enclosure": .enclosure
        case "next": .next
        case "prev-archive": .archive
        default: .other
        }
    }

    /// True for a link to a page for people, false for the same content as JSON.
    static func isPage(_ element: borrowing XMLElement) -> Bool {
        guard let bytes = element.attributeBytes(FeedName.type.token) else { return true }
        if bytes.elementsEqual("text/html".utf8) { return true }
        let type = String(decoding: bytes, as: UTF8.self).lowercased()
        return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
    }

    /// Returns the absolute target of a link's `href`.
    mutating func target(_ element: borrowing XMLElement) -> String? {
        guard let bytes = element.attributeBytes(FeedName.href.token) else { return nil }
        let text = FeedText.trimmed(bytes)
        if FeedLink.isPlain(text) { return String(decoding: text, as: UTF8.self) }
        return resolve(String(decoding: text, as: UTF8.self), element)
    }

    mutating func resolve(_ reference: String, _ element: borrowing XMLElement) -> String? {
        FeedLinkResolver.resolve(reference, against: base(of: element))
    }

    mutating func hold(_ element: borrowing XMLElement) { held = base(of: element) }

    /// Returns the target of a link that is an element's text. What cannot be resolved stays as it is, since it still
    /// distinguishes entries.
    func target(ofText bytes: UnsafeBufferPointer<UInt8>) -> String? {
        let text = FeedText.trimmed(bytes)
        if text.isEmpty { return nil }
        let string = String(decoding: text, as: UTF8.self)
        return FeedLink.isPlain(text) ? string : FeedLinkResolver.resolve(string, against: held) ?? string
    }

    /// Returns the link to another page; nil without an address.
    mutating func page(_ element: borrowing XMLElement, at href: XMLToken) -> PageLink? {
        guard let reference = element.attribute(href)?.trimmed(), !reference.isEmpty else { return nil }
        return PageLink(reference: reference, base: base(of: element))
    }

    static func resolve(
        _ reference: String, against base: WebURL?, copying most: Int = WebURL.longestBase
    ) -> String? {
        let reference = FeedLink.cleaned(reference)
        if reference.isEmpty { return nil }
        // A file has no host, so its relative links stay as they are.
        guard let base else { return WebURL(reference)?.text ?? reference }
        return base.resolving(reference, copying: most)?.text
    }

    private mutating func base(of element: borrowing XMLElement) -> WebURL? {
        let bases = element.bases
        chain.removeSubrange(zip(chain, bases).prefix { $0.written == $1 }.count...)
        for written in bases[chain.count...] { chain.append((written, WebURL.base(written, below: base))) }
        return base
    }
}
