// SPDX-License-Identifier: Apache-2.0

/// An address of this page: a path whose segments and values are encoded. Keys of items go into the query, since a segment
/// that is empty or consists of dots would be taken for a relative path.
struct PagePath: Sendable, Hashable {
    /// As it is written in a link.
    let text: String

    /// - Parameter query: those with a value are added, in order.
    init(_ segments: String..., query: [(name: String, value: String?)] = []) {
        self.init(segments: segments, query: query)
    }

    init(segments: [String], query: [(name: String, value: String?)]) {
        let path = segments.map { "/" + Self.encoded($0) }.joined()
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(Self.encoded($0))" } }
        text = (path.isEmpty ? "/" : path) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }

    private static func encoded(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
