// SPDX-License-Identifier: Apache-2.0

/// Writes an ill document anew. Comments, CDATA and processing instructions keep their `&`; control characters go everywhere.
struct XMLSanitizer {
    private let bytes: [UInt8]
    private var at: Int
    private(set) var out: [UInt8] = []
    private(set) var warnings: [DocumentWarning] = []

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        at = start
        out.reserveCapacity(bytes.count + 256)
    }

    mutating func run() {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"): markup()
            case UInt8(ascii: "&"): reference()
            default: copy()
            }
        }
    }

    private mutating func copy() {
        if XMLDefects.isControl(bytes[at]) {
            warn(.controlCharacters)
        } else {
            out.append(bytes[at])
        }
        at += 1
    }

    private mutating func markup() {
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where bytes[at...].starts(with: opening.utf8) {
            for _ in opening.utf8 { copy() }
            while at < bytes.count, !bytes[at...].starts(with: closing.utf8) { copy() }
            return
        }
        copy()
    }

    private mutating func reference() {
        switch bytes.withUnsafeBufferPointer({ XMLReference($0, at: at) }) {
        case .good(let length):
            out.append(contentsOf: bytes[at..<at + length])
            at += length
        case .html(let character, let length):
            warn(.htmlEntity)
            out.append(contentsOf: character.utf8)
            at += length
        case .forbidden(let length):
            warn(.controlCharacters)
            at += length
        case .bare:
            warn(.bareAmpersand)
            out.append(contentsOf: "&amp;".utf8)
            at += 1
        }
    }

    private mutating func warn(_ warning: DocumentWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }
}
