// SPDX-License-Identifier: Apache-2.0

/// What the reader does with an element and everything inside it.
public enum XMLAction: Sendable {
    /// Report its child elements, but not its own text.
    case enter
    /// Report nothing of it, nor its end.
    case skip
    /// Collect the text of it and of all elements below; report only its end.
    case text
    /// Collect what is in it as markup, for Atom's `type="xhtml"`; report only its end.
    case markup
}

/// Receives the elements of a document in order. Until `XMLReader.read` has returned, the document may prove broken, so nothing
/// that was received may be used.
public protocol XMLHandler: AnyObject {
    /// An element begins. Throwing ends the reading with that error.
    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction
    /// An element ends that was entered or collected.
    func end(_ element: borrowing XMLEnd) throws(DocumentError)
    /// Discards what was received, because the document was not well-formed, was mended, and is read again from its beginning.
    /// Returning false, which is the default, keeps the first error.
    func restart() -> Bool
}

extension XMLHandler {
    public func restart() -> Bool { false }
}

/// An element that begins. Valid only during the call.
public struct XMLElement: ~Copyable {
    public let token: XMLToken
    /// 1 is the root.
    public let depth: Int
    let engine: XMLEngine
    let local: UnsafePointer<UInt8>
    let namespaceURI: UnsafePointer<UInt8>?
    let attributes: XMLAttributes

    /// The name without its prefix, for what the vocabulary does not know.
    public var name: String { String(cString: local) }

    /// The namespace's URI.
    public var namespace: String? { namespaceURI.map { String(cString: $0) } }

    /// The value of an attribute, references replaced.
    public func attribute(_ token: XMLToken) -> String? {
        attributeBytes(token).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value's bytes, without allocation.
    public func attributeBytes(_ token: XMLToken) -> UnsafeBufferPointer<UInt8>? {
        for index in 0..<attributes.count {
            let namespace = attributes.namespace(index)
            if namespace == nil, attributes.prefix(index) != nil { continue }
            if engine.token(attributes.local(index), namespace) == token { return attributes.value(index) }
        }
        return nil
    }

    /// Each `xml:base` from the root down to this element, as written: a relative link is resolved against the last, that
    /// against the one before, and the first against the address of the document.
    public var bases: [String] { engine.scopes.compactMap(\.base) }

    /// The `xml:lang` in force.
    public var language: String? { engine.scopes.last { $0.language != nil }?.language ?? nil }
}

/// An element that ends, with what was collected of it. Valid only during the call.
public struct XMLEnd: ~Copyable {
    public let token: XMLToken
    public let depth: Int
    /// The text or the markup as UTF-8; empty when the element was entered.
    public let bytes: UnsafeBufferPointer<UInt8>

    public var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The text without white space at both ends, as an id, a date or a link is read.
    public var trimmed: String {
        var start = 0
        var end = bytes.count
        while start < end, bytes[start] <= 0x20 { start += 1 }
        while end > start, bytes[end - 1] <= 0x20 { end -= 1 }
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
    }
}

/// libxml2's array of attributes: local name, prefix, namespace, and where the value begins and ends.
struct XMLAttributes {
    let fields: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    let count: Int

    func local(_ index: Int) -> UnsafePointer<UInt8> { field(index, 0) }
    func prefix(_ index: Int) -> UnsafePointer<UInt8>? { fields?[index * 5 + 1] }
    func namespace(_ index: Int) -> UnsafePointer<UInt8>? { fields?[index * 5 + 2] }

    func value(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        let start = field(index, 3)
        return UnsafeBufferPointer(start: start, count: field(index, 4) - start)
    }

    private func field(_ index: Int, _ part: Int) -> UnsafePointer<UInt8> {
        // libxml2's contract of startElementNs: these three are never NULL.
        guard let pointer = fields?[index * 5 + part] else {
            preconditionFailure("an attribute without a name or value")
        }
        return pointer
    }
}
