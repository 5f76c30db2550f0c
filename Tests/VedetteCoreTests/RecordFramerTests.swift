// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

/// Server-sent events with the examples of WHATWG HTML §9.2, and lines.
@Suite("Records of streams")
struct RecordFramerTests {
    private static func records(
        _ pieces: [[UInt8]], _ format: StreamSettings.Format = .events, limit: Int = 1000
    ) throws(FetchError) -> [StreamRecord] {
        var framer = RecordFramer(format, limit: limit)
        var records: [StreamRecord] = []
        for piece in pieces {
            let result = piece.withUnsafeBytes { bytes in
                Result { () throws(FetchError) in try framer.add(bytes, into: &records) }
            }
            try result.get()
        }
        try framer.finish(into: &records)
        return records
    }

    private static func records(
        _ text: String, _ format: StreamSettings.Format = .events, limit: Int = 1000
    ) throws(FetchError) -> [StreamRecord] {
        try records([Array(text.utf8)], format, limit: limit)
    }

    private static func record(_ data: String, _ event: String = "message", id: String? = nil) -> StreamRecord {
        StreamRecord(Array(data.utf8), event: event, id: id)
    }

    @Test("data lines are joined by line feeds")
    func joined() throws {
        #expect(try Self.records("data: YHOO\ndata: +2\ndata: 10\n\n") == [Self.record("YHOO\n+2\n10")])
    }

    @Test("comments are skipped, an id stays until it is set again, and a single space after the colon is dropped")
    func ids() throws {
        let text = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
        #expect(
            try Self.records(text) == [
                Self.record("first event", id: "1"), Self.record("second event", id: ""),
                Self.record(" third event", id: ""),
            ])
    }

    @Test("data without a value is an event, and one without an empty line after it is none")
    func empty() throws {
        #expect(try Self.records("data\n\ndata\ndata\n\ndata:") == [Self.record(""), Self.record("\n")])
        #expect(try Self.records("data:test\n\ndata: test\n\n") == [Self.record("test"), Self.record("test")])
    }

    @Test("an event has its own name, and one without data resets the name")
    func names() throws {
        let text = "event: add\ndata: 73857293\n\nevent: remove\n\ndata: 2153\n\n"
        #expect(try Self.records(text) == [Self.record("73857293", "add"), Self.record("2153")])
    }

    @Test("an id with a NUL is ignored, and one without data is kept")
    func nul() throws {
        #expect(
            try Self.records("id: 7\n\nid: a\u{0}b\ndata: x\n\n") == [
                Self.record("", id: "7"), Self.record("x", id: "7"),
            ])
    }

    @Test("the retry time is a number of milliseconds, and anything else is ignored")
    func retry() throws {
        for (text, expected) in [("1500", Duration.milliseconds(1500)), ("1.5", nil), ("", nil), ("-1", nil)] {
            var framer = RecordFramer(.events)
            var records: [StreamRecord] = []
            try Array("retry: \(text)\n\n".utf8).withUnsafeBytes { try framer.add($0, into: &records) }
            #expect(framer.retry == expected && records.isEmpty, "\(text)")
        }
    }

    @Test("unknown fields and fields with white space before the colon are ignored")
    func unknown() throws {
        #expect(try Self.records("foo: bar\n data: no\ndata : no\nDATA: no\ndata: yes\n\n") == [Self.record("yes")])
    }

    @Test("wherever the bytes are cut, and whichever line ends they have, the records are the same")
    func cuts() throws {
        let text =
            "\u{FEFF}: hello\nretry: 10\nid: é1\nevent: ä\ndata: ünö\ndata:\n\n\ndata: {\"a\":1}\n\nid: 2\n\ndata: x\n\n"
        let expected = try Self.records(text)
        #expect(expected.count == 4 && expected[0].id == "é1" && expected[0].event == "ä")
        var random = SystemRandomNumberGenerator()
        for end in ["\n", "\r", "\r\n"] {
            let bytes = Array(text.replacing("\n", with: end).utf8)
            for round in 0..<200 {
                var pieces: [[UInt8]] = []
                var start = 0
                while start < bytes.count {
                    let next = round == 0 ? start + 1 : min(bytes.count, start + Int.random(in: 1...9, using: &random))
                    pieces.append(Array(bytes[start..<next]))
                    start = next
                }
                // A last CR may be the first half of an end.
                #expect(try Self.records(pieces) == expected, "\(end.debugDescription) \(pieces)")
            }
        }
    }

    @Test("an event or a line beyond the limit is an error, also when it arrives in pieces without an end")
    func limit() throws {
        let long = String(repeating: "x", count: 99)
        #expect(throws: FetchError.self) { try Self.records("data: \(long)", limit: 100) }
        #expect(throws: FetchError.self) { try Self.records("data:\(long)\ndata:0123456789\n\n", limit: 105) }
        #expect(throws: FetchError.self) { try Self.records("\(long)x\n", .lines, limit: 99) }
        #expect(try Self.records("\(long)\n\(long)\n", .lines, limit: 99).count == 2)
    }

    @Test("each line that is not empty is a record, also the last without an end and each line of a JSON text sequence")
    func lines() throws {
        let records = try Self.records("\u{FEFF}{\"a\":1}\r\n\n\r\n\u{1E}{\"b\":2}\n{\"c\":3}", .lines)
        #expect(records == ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"].map { Self.record($0) })
    }

    @Test("the media type tells the format, and a response with a length is complete unless its type is one of streams")
    func formats() {
        var settings = StreamSettings()
        #expect(settings.format(mediaType: "text/event-stream", hasLength: true) == .events)
        #expect(settings.format(mediaType: "application/x-ndjson", hasLength: false) == .lines)
        #expect(settings.format(mediaType: "application/json", hasLength: false) == nil)
        settings.format = .lines
        #expect(settings.format(mediaType: "application/json", hasLength: false) == .lines)
        #expect(settings.format(mediaType: "application/json", hasLength: true) == nil)
        #expect(settings.format(mediaType: "text/event-stream", hasLength: false) == .events)
    }

    @Test("conditions tell items, deletions, bookmarks and expired ids apart, and by the event alone what is ignored")
    func meanings() {
        var settings = StreamSettings()
        settings.only = [RecordCondition("type", ["ADDED", "MODIFIED"])]
        settings.delete = [RecordCondition("type", ["DELETED"])]
        settings.bookmark = [RecordCondition("type", ["BOOKMARK"])]
        settings.expired = [RecordCondition("type", ["ERROR"]), RecordCondition("code", ["410"])]
        func meaning(_ type: String, code: String? = nil) -> RecordNote.Meaning {
            settings.meaning { $0 == "type" ? type : code }
        }
        #expect(meaning("ADDED") == .items && meaning("DELETED") == .deletion && meaning("BOOKMARK") == .bookmark)
        #expect(meaning("ERROR", code: "410") == .expired && meaning("ERROR", code: "500") == .nothing)
        #expect(!settings.isIgnored(event: "anything"))
        settings = StreamSettings()
        settings.only = [RecordCondition("$event", ["update"])]
        settings.delete = [RecordCondition("$event", ["delete"])]
        #expect(settings.isIgnored(event: "filters_changed") && !settings.isIgnored(event: "delete"))
        #expect(settings.isList)
    }

    @Test("a recorded stream is told by its first line, and a document is none")
    func recorded() throws {
        func records(_ text: String, _ format: StreamSettings.Format? = nil) throws -> [String]? {
            try RecordedStream(Array(text.utf8), format: format)?.records.map {
                String(decoding: $0.data, as: UTF8.self)
            }
        }
        #expect(try records(": hello\n\nid: 1\ndata: a\n\ndata: b\n\ndata: cut") == ["a", "b"])
        #expect(try records("\u{FEFF}\r\nevent: x\r\ndata: a\r\n\r\n") == ["a"])
        #expect(try records("{\"a\": 1}\n\n{\"a\": 2}") == ["{\"a\": 1}", "{\"a\": 2}"])
        #expect(try records("one\ntwo\n", .lines) == ["one", "two"])
        for document in ["", "[1]", "{\n  \"a\": 1\n}", "<feed/>", "data", "dates: 1"] {
            #expect(try records(document) == nil, "\(document)")
        }
        #expect(throws: FetchError.self) { try records("{}\n" + String(repeating: "x", count: 2 << 20)) }
    }
}
