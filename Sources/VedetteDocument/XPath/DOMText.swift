// SPDX-License-Identifier: Apache-2.0
import CXML2

/// Collects the text of a node with its white space joined; in HTML without what a browser does not show, and with a space where
/// a block ends.
struct DOMText {
    private(set) var bytes: [UInt8] = []
    private var spaceIsDue = false
    private let isHTML: Bool
    private let limit: Int

    init(isHTML: Bool, limit: Int) { (self.isHTML, self.limit) = (isHTML, limit) }

    var isFull: Bool { bytes.count > limit }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ text: UnsafePointer<UInt8>?) {
        guard var at = text else { return }
        while at.pointee != 0, !isFull {
            // U+00A0, which HTML uses as white space. The second byte is the terminator when the first is the last.
            if at[0] == 0xC2, at[1] == 0xA0 {
                space()
                at += 2
                continue
            }
            if at.pointee <= 0x20 || at.pointee == 0x7F {
                space()
            } else {
                if spaceIsDue { bytes.append(0x20) }
                spaceIsDue = false
                bytes.append(at.pointee)
            }
            at += 1
        }
    }

    private mutating func space() { spaceIsDue = !bytes.isEmpty }

    /// Appends the texts of a node and of all nodes below it, in document order, without recursion. A script or a
    /// hidden element is read only when it is the node itself.
    mutating func append(_ top: xmlNodePtr) {
        var node = top
        while !isFull {
            if let child = enter(node, isTop: node == top) {
                node = child
                continue
            }
            leave(node)
            while node != top, node.pointee.next == nil, let parent = node.pointee.parent {
                node = parent
                leave(node)
            }
            guard node != top, let next = node.pointee.next else { return }
            node = next
        }
    }

    /// Returns the first child; nil when the node has none that is read.
    private mutating func enter(_ node: xmlNodePtr, isTop: Bool) -> xmlNodePtr? {
        switch node.pointee.type {
        case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
            append(node.pointee.content)
            return nil
        case XML_ELEMENT_NODE:
            guard isHTML else { return node.pointee.children }
            let name = DOMText.name(node)
            if !HTMLText.inline.contains(name) { space() }
            return isTop || DOMText.isShown(node) ? node.pointee.children : nil
        case XML_ATTRIBUTE_NODE, XML_DOCUMENT_NODE, XML_HTML_DOCUMENT_NODE: return node.pointee.children
        default: return nil
        }
    }

    private mutating func leave(_ node: xmlNodePtr) {
        guard isHTML, node.pointee.type == XML_ELEMENT_NODE, !HTMLText.inline.contains(DOMText.name(node)) else {
            return
        }
        space()
    }

    static func name(_ node: xmlNodePtr) -> String { node.pointee.name.map { String(cString: $0) } ?? "" }

    /// Whether a browser shows an element of HTML that stands in one that it shows.
    static func isShown(_ node: xmlNodePtr) -> Bool {
        !HTMLVisibility.unseen.contains(name(node)) && !isHidden(node)
    }

    private static func isHidden(_ node: xmlNodePtr) -> Bool {
        var attribute = node.pointee.properties
        while let current = attribute {
            switch current.pointee.name.map({ String(cString: $0) }) {
            case "hidden": return true
            case "style":
                let style = current.pointee.children?.pointee.content
                let bytes = UnsafeBufferPointer(start: style, count: Int(xmlStrlen(style)))
                if HTMLVisibility.hides(style: Array(bytes)[...]) { return true }
            default: break
            }
            attribute = current.pointee.next
        }
        return false
    }
}
