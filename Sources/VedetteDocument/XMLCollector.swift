// SPDX-License-Identifier: Apache-2.0

/// The text or the markup of the element that is being collected.
struct XMLCollector {
    private(set) var bytes: [UInt8] = []
    /// A start tag still lacks its `>`: it may yet turn out to be empty.
    private var tagIsOpen = false

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        tagIsOpen = false
    }

    mutating func plain(_ text: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: text) }

    mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        closeTag()
        for byte in text { append(byte, inAttribute: false) }
    }

    mutating func start(_ local: UnsafePointer<UInt8>, _ attributes: XMLAttributes) {
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
    }

    mutating func end(_ local: UnsafePointer<UInt8>) {
        if tagIsOpen {
            bytes.append(contentsOf: "/>".utf8)
            tagIsOpen = false
        } else {
            bytes.append(contentsOf: "</".utf8)
            append(name: local)
            bytes.append(UInt8(ascii: ">"))
        }
    }

    mutating func finish() { closeTag() }

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
