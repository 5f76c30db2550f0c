// SPDX-License-Identifier: Apache-2.0

/// Reads server-sent events by the rules of WHATWG HTML §9.2.6. It differs in one thing: an event without data that brings
/// another id is passed on as a record without data, since that id must be kept too.
struct EventFramer {
    private let limit: Int
    private var lines: LineSplitter
    private var data: [UInt8] = []
    private var hasData = false
    private var event = ""
    /// The id of the event that is being read, and of those after it without one.
    private var id: String?
    /// The id of the last event that was passed on.
    private var passedID: String?
    /// The reconnection time that the server asks for.
    private(set) var retry: Duration?

    init(limit: Int) {
        self.limit = limit
        lines = LineSplitter(endsAtCR: true, limit: limit)
    }

    /// Bytes of the event that is not complete.
    var size: Int { data.count + lines.partial.count }

    mutating func add(_ bytes: UnsafeRawBufferPointer, into records: inout [StreamRecord]) throws(FetchError) {
        var lines = lines
        defer { self.lines = lines }
        // The buffer has one holder, or each piece would copy the partial line.
        self.lines = LineSplitter(endsAtCR: true, limit: limit)
        try lines.add(bytes) { line throws(FetchError) in try read(line, into: &records) }
    }

    private mutating func read(_ line: borrowing [UInt8], into records: inout [StreamRecord]) throws(FetchError) {
        guard !line.isEmpty else { return dispatch(into: &records) }
        let colon = line.firstIndex(of: 0x3A)
        // A comment.
        guard colon != 0 else { return }
        var value = line.endIndex
        if let colon {
            value = colon + 1
            if value < line.endIndex, line[value] == 0x20 { value += 1 }
        }
        try set(String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self), line[value...])
    }

    private mutating func set(_ field: String, _ value: ArraySlice<UInt8>) throws(FetchError) {
        switch field {
        case "data":
            guard data.count + value.count < limit else { throw .record(limit) }
            if hasData { data.append(0x0A) }
            data.append(contentsOf: value)
            hasData = true
        case "event": event = String(decoding: value.prefix(1000), as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            let isNumber = !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }
            if isNumber { retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max / 1000) }
        default: break
        }
    }

    private mutating func dispatch(into records: inout [StreamRecord]) {
        if hasData || id != passedID {
            records.append(StreamRecord(data, event: event.isEmpty || !hasData ? "message" : event, id: id))
        }
        passedID = id
        (data, hasData, event) = ([], false, "")
    }
}
