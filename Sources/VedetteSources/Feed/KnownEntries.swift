// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The entries of a feed by the digests of their bytes. Most entries of a feed that changed are those that it had before: they
/// are neither parsed nor read again.
struct KnownEntries: Sendable {
    struct Known: Sendable {
        var entry: FeedEntry
        /// The depth of its element.
        let depth: Int
        /// Its elements, itself included.
        let elements: Int
        /// Its size in bytes, estimated.
        let bytes: Int

        init(_ entry: FeedEntry, depth: Int, elements: Int) {
            (self.entry, self.depth, self.elements) = (entry, depth, elements)
            bytes = 512 + entry.textBytes
        }
    }

    /// A digest of all that its entries were read with: the root's start tag, the address of the document, the options.
    let context: UInt64
    /// The document could not be read with marks, which is not tried again.
    private(set) var isUnmarkable = false
    private(set) var known: [UInt64: Known] = [:]
    private(set) var bytes = 0

    init(context: UInt64, isUnmarkable: Bool = false) { (self.context, self.isUnmarkable) = (context, isUnmarkable) }

    /// Adds an entry, while there is room for one.
    mutating func add(_ entry: Known, digest: UInt64) {
        guard bytes + entry.bytes <= ReadingCache.mostBytes, known.updateValue(entry, forKey: digest) == nil else {
            return
        }
        bytes += entry.bytes
    }

    /// A digest for this process alone: whoever writes a part of a feed could make two entries with one digest, if it began
    /// with a known number.
    static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var digest = start
        digest.add(bytes)
        return digest.value
    }

    private static let start: StableHash = {
        var start = StableHash()
        start.add(UInt64.random(in: 0 ... .max))
        return start
    }()
}

extension XMLKnownElements {
    /// The entries for a reader of documents; those of a feed that is read with marks for the first time are none.
    init(_ entries: KnownEntries?) {
        self.init(names: ["entry", "item"], digest: KnownEntries.digest) { entries?.known[$0] != nil }
    }
}

extension FeedEntry {
    /// Bytes of its texts in memory, estimated.
    fileprivate var textBytes: Int {
        let texts = [id, about, title, page, link, enclosure, content].compactMap { $0 } + authors + categories
        return texts.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride + 32 }
    }
}
