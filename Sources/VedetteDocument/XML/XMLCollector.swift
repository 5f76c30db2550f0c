// SPDX-License-Identifier: Apache-2.0

/// Collects the text or markup of one element, or skips it. Elements below it are not reported to the handler.
struct XMLCollector {
    private(set) var bytes: [UInt8] = []
    private(set) var depth = 0
    private var action = XMLAction.enter
    /// The last start tag still lacks its `>`, because the element may be empty.
    private var tagIsOpen = false

    var isActive: Bool { depth > 0 }

    mutating func begin(_ action: XMLAction, at depth: Int) {
        (self.action, self.depth) = (action, depth)
        tagIsOpen = false
    }

    /// Adds text. Like `startTag`, it returns false when more was collected than the limit.
    mutating func text(_ text: UnsafeBufferPointer<UInt8>, limit: Int) -> Bool {
        switch action {
        case .text:
            // libxml2 reports the character of each reference separately.
            if text.count == 1 { bytes.append(text[0]) } else { bytes.append(contentsOf: text) }
        case .markup:
            closeTag()
            for byte in text { append(byte, inAttribute: false) }
        case .enter, .skip: return true
        }
        return bytes.count <= limit
    }

    mutating func startTag(_ local: UnsafePointer<UInt8>, _ attributes: XMLAttributes, limit: Int) -> Bool {
        guard action == .markup else { return true }
        closeTag()
        bytes.append(UInt8(ascii: "<"))
        append(name: local)
        for index in 0..<attributes.count {
            bytes.append(UInt8(ascii: " "))
            append(name: attributes.local(index))
            bytes.append(contentsOf: "=\"".utf8)
            for byte in attributes.value(index) { append(byte, inAttribute: true) }
            bytes.append(UInt8(ascii: "\""))
        }
        tagIsOpen = true
        return bytes.count <= limit
    }

    mutating func endTag(_ local: UnsafePointer<UInt8>) {
        guard action == .markup else { return }
        if tagIsOpen {
            bytes.append(contentsOf: "/>".utf8)
            tagIsOpen = false
        } else {
            bytes.append(contentsOf: "</".utf8)
            append(name: local)
            bytes.append(UInt8(ascii: ">"))
        }
    }

    /// Ends the element. Its bytes stay until `clear`.
    ///
    /// - Returns: the action that it began with.
    mutating func finish() -> XMLAction {
        closeTag()
        defer { (action, depth) = (.enter, 0) }
        return action
    }

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    private mutating func closeTag() {
        if tagIsOpen { bytes.append(UInt8(ascii: ">")) }
        tagIsOpen = false
    }

    private mutating func append(name: UnsafePointer<UInt8>) {
        var at = name
        while at.pointee != 0 {
            bytes.append(at.pointee)
            at += 1
        }
    }

    private mutating func append(_ byte: UInt8, inAttribute: Bool) {
        switch byte {
        case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
        case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
        case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
        case UInt8(ascii: "\"") where inAttribute: bytes.append(contentsOf: "&quot;".utf8)
        default: bytes.append(byte)
        }
    }
}
