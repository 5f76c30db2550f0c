// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@Suite("Text of a JSON object")
struct JSONObjectWriterTests {
    @Test("numbers, strings, flags and objects are written in their order; nil is left out")
    func members() throws {
        var writer = JSONObjectWriter()
        writer.member("least", Int64.min)
        writer.member("most", Int64.max)
        writer.member("zero", Int64(0))
        writer.member("no number", Int64?.none)
        writer.member("no text", String?.none)
        writer.member("text", "a\"\n\u{9B}é")
        writer.object("empty") { _ in }
        writer.object("object") { writer in
            writer.member("flag", true)
            writer.object("inner") { $0.member("flag", false) }
        }
        writer.numbers("states", ["b\"": 2, "a": -1])
        writer.member("last", true)
        let text = String(decoding: writer.finished(), as: UTF8.self)
        #expect(
            text == #"{"least":-9223372036854775808,"most":9223372036854775807,"zero":0,"#
                + #""text":"a\"\n\u009bé","empty":{},"object":{"flag":true,"inner":{"flag":false}},"#
                + #""states":{"a":-1,"b\"":2},"last":true}"#)
        #expect(try JSON(parsing: Array(text.utf8)).text == text)
    }

    @Test("an object without members is a whole one")
    func empty() {
        #expect(JSONObjectWriter().finished() == Array("{}".utf8))
    }

    @Test("a record that is stored and read is the same, whatever it has")
    func record() throws {
        var full = SourceRecord(name: "a")
        var head = SnapshotHead(identity: .max, fingerprints: ["x": 1, "y": .max], goodAt: Timestamp(milliseconds: 5))
        head.validators = Validators(etag: "W/\"1\"", lastModified: "x")
        (head.digest, head.asked, head.count, head.pendingAbsences) = (7, 8, 3, 2)
        (head.isWhole, head.hasOtherKeys, head.resume) = (true, true, "last")
        (head.newest, head.oldest) = (Timestamp(milliseconds: 9), Timestamp(milliseconds: -9))
        head.unannounced = .init(count: 4, last: "k", at: Timestamp(milliseconds: 10), isUndated: true)
        head.oldestPublication = Timestamp(milliseconds: -8)
        (head.order.direction, head.order.front) = (-1, [1, .max])
        head.sharedKeys.insert("N/A")
        head.emptiness = .init(polls: 2, since: Timestamp(milliseconds: 11), isReplaced: true)
        head.states = ["Ready": 2, "Starting": 1]
        full.snapshot = head
        _ = full.health.pollFailed(
            .timeout, detail: "no answer", isUnreadable: true, fails: 1, at: Timestamp(milliseconds: 12))
        (full.due, full.notBefore, full.urlDigest) = (Timestamp(milliseconds: 1), Timestamp(milliseconds: 2), 3)
        full.intervalDigest = .max - 2
        (full.connection, full.movedTo) = (.polled("why"), "https://b.example/new")
        var open = SourceRecord(name: "a")
        open.connection = .open
        for record in [full, open, SourceRecord(name: "a")] {
            #expect(SourceRecord(name: "a", json: try JSON(parsing: record.bytes)) == record)
        }
    }

    @Test("what must be escaped is escaped at every place of a long text")
    func places() throws {
        for scalar in (0...0x7F).compactMap(Unicode.Scalar.init) + ["\u{9B}", "é", "\u{2028}", "\u{202E}", "\u{3042}"] {
            for place in 0..<20 {
                let text = String("some words of text more".prefix(place)) + String(scalar) + "and some other words"
                let written = JSON.string(text).bytes
                #expect(try JSON(parsing: written) == .string(text))
                let shown = String(decoding: written, as: UTF8.self).unicodeScalars
                let isEscaped = scalar.value < 0x20 || [0x22, 0x5C, 0x7F, 0x9B, 0x2028, 0x202E].contains(scalar.value)
                #expect(shown.contains("\\") == isEscaped, "\(scalar.value)")
            }
        }
    }
}
