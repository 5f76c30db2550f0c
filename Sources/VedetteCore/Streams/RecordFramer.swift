// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a stream into records. A pure value: the same bytes give the same records, however they are cut.
public struct RecordFramer: Sendable {
    private enum Framing: Sendable {
        case events(EventFramer)
        case lines(LineSplitter)
    }

    private var framing: Framing

    /// - Parameter limit: bytes of one record at most.
    public init(_ format: StreamSettings.Format, limit: Int = StreamSettings.recordLimit) {
        switch format {
        case .events: framing = .events(EventFramer(limit: limit))
        case .lines: framing = .lines(LineSplitter(endsAtCR: false, limit: limit))
        }
    }

    /// Bytes of the record that is not complete.
    public var size: Int {
        switch framing {
        case .events(let events): events.size
        case .lines(let lines): lines.partial.count
        }
    }

    /// How long the server wants a client to wait before it connects again; nil when it says nothing.
    public var retry: Duration? { if case .events(let events) = framing { events.retry } else { nil } }

    /// Appends the records that are complete now.
    /// - Throws: `.tooLarge` when a record exceeds the limit.
    public mutating func add(_ bytes: UnsafeRawBufferPointer, into records: inout [StreamRecord]) throws(FetchError) {
        switch framing {
        case .events(var events):
            // The value is moved out, or every piece would copy the incomplete record.
            framing = .lines(LineSplitter(endsAtCR: false, limit: 0))
            defer { framing = .events(events) }
            try events.add(bytes, into: &records)
        case .lines(var lines):
            framing = .lines(LineSplitter(endsAtCR: false, limit: 0))
            defer { framing = .lines(lines) }
            try lines.add(bytes) { line throws(FetchError) in RecordFramer.append(line, to: &records) }
        }
    }

    /// Appends a last line that has no end. A server-sent event that is not complete is dropped (WHATWG HTML §9.2.6).
    public mutating func finish(into records: inout [StreamRecord]) throws(FetchError) {
        guard case .lines(var lines) = framing else { return }
        try lines.finish { line throws(FetchError) in RecordFramer.append(line, to: &records) }
        framing = .lines(lines)
    }

    /// Empty lines keep a connection alive. JSON text sequences begin each text with the record separator (RFC 7464).
    private static func append(_ line: borrowing [UInt8], to records: inout [StreamRecord]) {
        var rest = line[...]
        if rest.first == 0x1E { rest.removeFirst() }
        if rest.last == 0x0D { rest.removeLast() }
        if !rest.isEmpty { records.append(StreamRecord(Array(rest))) }
    }
}
