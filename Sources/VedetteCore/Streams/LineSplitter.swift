// SPDX-License-Identifier: Apache-2.0

/// Splits bytes that arrive in pieces into lines, within a limit. A byte order mark at the start is removed.
struct LineSplitter {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether a CR ends a line too, alone or before an LF.
    private let endsAtCR: Bool
    private let limit: Int
    /// The start of a line whose end has not arrived.
    private(set) var partial: [UInt8] = []
    private var isAtStart = true
    /// The last piece ended with a CR: an LF after it belongs to the same end.
    private var skipsLF = false

    init(endsAtCR: Bool, limit: Int) { (self.endsAtCR, self.limit) = (endsAtCR, limit) }

    /// Passes each line that is complete now to `body`, without its end.
    mutating func add(
        _ bytes: UnsafeRawBufferPointer, _ body: (borrowing [UInt8]) throws(FetchError) -> Void
    ) throws(FetchError) {
        var start = 0
        for i in 0..<bytes.count {
            let byte = bytes[i]
            if skipsLF {
                skipsLF = false
                if byte == 0x0A {
                    start = i + 1
                    continue
                }
            }
            guard byte == 0x0A || (endsAtCR && byte == 0x0D) else { continue }
            try append(bytes[start..<i])
            start = i + 1
            skipsLF = byte == 0x0D
            try end(body)
        }
        try append(bytes[start...])
    }

    /// Passes a last line without an end to `body`.
    mutating func finish(_ body: (borrowing [UInt8]) throws(FetchError) -> Void) throws(FetchError) {
        if !partial.isEmpty { try end(body) }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws(FetchError) {
        guard partial.count + bytes.count <= limit else { throw .record(limit) }
        partial.append(contentsOf: bytes)
    }

    private mutating func end(_ body: (borrowing [UInt8]) throws(FetchError) -> Void) throws(FetchError) {
        if isAtStart, partial.starts(with: LineSplitter.mark) { partial.removeFirst(LineSplitter.mark.count) }
        isAtStart = false
        try body(partial)
        partial.removeAll(keepingCapacity: partial.capacity <= 64 << 10)
    }
}

extension FetchError {
    static func record(_ limit: Int) -> FetchError {
        FetchError(.tooLarge, "a record of the stream is longer than \(limit) bytes")
    }
}
