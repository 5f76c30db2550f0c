// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A place between the elements of a document that is read with marks.
public enum XMLMark: Sendable, Hashable {
    /// Here stood an element that is known, by the digest of its bytes.
    case known(UInt64)
    /// Before and behind an element that is not known, as far as its tags show.
    case begin(UInt64)
    case end(UInt64)
}

/// Elements that an earlier version of a document had.
public struct XMLKnownElements {
    /// Their possible names, without a prefix. Of a document the one that comes first counts.
    public let names: [String]
    /// A digest of bytes that nobody outside can collide.
    public let digest: (UnsafeRawBufferPointer) -> UInt64
    /// Whether the element whose bytes have a digest is known.
    public let contains: (UInt64) -> Bool

    public init(
        names: [String], digest: @escaping (UnsafeRawBufferPointer) -> UInt64, contains: @escaping (UInt64) -> Bool
    ) {
        (self.names, self.digest, self.contains) = (names, digest, contains)
    }
}

/// A document in which a mark stands in place of each known entry, and one on each side of each other entry.
///
/// Where an entry begins and ends is guessed by its tags, which may stand in a comment or in CDATA as well. A mark is a
/// processing instruction, which the parser reports inside an element only where another element could stand (XML 1.0 §2.6,
/// §3.1). When it has reported all of them there in order, each known entry stood in the place of its mark, and the rest of the
/// document is as well-formed as the whole. Whether one element alone stands between two marks, the handler must count.
struct XMLMarks {
    private(set) var text: XMLText
    private(set) var all: [XMLMark] = []

    /// The target of the instructions.
    static let target = "vedette"

    /// Returns nil for a document without entries, and for one that has such instructions itself.
    init?(_ source: XMLText, _ known: XMLKnownElements) {
        var (out, marks): ([UInt8], [XMLMark]) = ([], [])
        let isMarked = source.bytes.withUnsafeBufferPointer { bytes in
            guard XMLMarks.find("<?" + XMLMarks.target, in: bytes, from: source.start) == nil,
                let name = XMLMarks.first(of: known.names, in: bytes, from: source.start)
            else { return false }
            out.reserveCapacity(bytes.count + 1024)
            var at = source.start
            while let segment = XMLMarks.next(name, in: bytes, from: at) {
                out.append(contentsOf: bytes[at..<segment.lowerBound])
                let digest = known.digest(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[segment]))
                if known.contains(digest) {
                    XMLMarks.append(.known(digest), &marks, &out)
                } else {
                    XMLMarks.append(.begin(digest), &marks, &out)
                    out.append(contentsOf: bytes[segment])
                    XMLMarks.append(.end(digest), &marks, &out)
                }
                at = segment.upperBound
            }
            out.append(contentsOf: bytes[at...])
            return !marks.isEmpty
        }
        guard isMarked else { return nil }
        (text, all) = (XMLText(bytes: out), marks)
    }

    private static func append(_ mark: XMLMark, _ marks: inout [XMLMark], _ out: inout [UInt8]) {
        out.append(contentsOf: "<?\(target) \(marks.count)?>".utf8)
        marks.append(mark)
    }

    /// Returns the name whose tag comes first.
    private static func first(of names: [String], in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> String? {
        var (first, end): (String?, Int) = (nil, bytes.count)
        for name in names {
            let before = UnsafeBufferPointer(rebasing: bytes[..<end])
            if let place = startTag(name, in: before, from: start) { (first, end) = (name, place) }
        }
        return first
    }

    /// Returns the place of the next entry, from its start tag to its end tag.
    private static func next(
        _ name: String, in bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Range<Int>? {
        guard let begin = startTag(name, in: bytes, from: start), var end = find("</\(name)", in: bytes, from: begin)
        else { return nil }
        end += name.utf8.count + 2
        while end < bytes.count, bytes[end].isSpace { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ">") else { return nil }
        return begin..<end + 1
    }

    private static func startTag(_ name: String, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var at = start
        while let found = find("<\(name)", in: bytes, from: at) {
            let behind = found + name.utf8.count + 1
            if behind < bytes.count, bytes[behind].isSpace || bytes[behind] == UInt8(ascii: ">") { return found }
            at = behind
        }
        return nil
    }

    /// Finds a text that begins with `<`.
    private static func find(_ mark: String, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var mark = mark
        return mark.withUTF8 { mark in
            guard let base = bytes.baseAddress, let text = mark.baseAddress else { return nil }
            var at = start
            while let found = XMLScan.next(UInt8(ascii: "<"), in: bytes, from: at), found + mark.count <= bytes.count {
                if memcmp(base + found, text, mark.count) == 0 { return found }
                at = found + 1
            }
            return nil
        }
    }
}
