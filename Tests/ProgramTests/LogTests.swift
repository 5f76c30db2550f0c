// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import vedette

@Suite("The log")
struct LogTests {
    private func boot(_ seconds: Double) -> BootTime { BootTime(milliseconds: Int64(seconds * 1000)) }

    private func line(_ number: Int, _ level: LogLevel = .warning) -> LogFolding.Line {
        LogFolding.Line(
            level: level, fields: LogFields(source: "s\(number)", poll: "p-\(number)f"),
            text: "s\(number): timeout: no answer in \(number) s (p-\(number)f)")
    }

    @Test("of lines that differ in numbers, source and poll alone ten are written, and the last tells how many more")
    func folds() {
        var folding = LogFolding()
        let written = (0..<422).filter { folding.accepts(line($0), at: boot(Double($0) / 100)) }
        #expect(written == Array(0..<10))
        let early = folding.expired(at: boot(9))
        #expect(folding.isFolding && early.isEmpty)
        let folded = folding.expired(at: boot(10))
        #expect(folded.map(\.text) == ["s421: timeout: no answer in 421 s (p-421f) (and 411 more like it)"])
        let isFolding = folding.isFolding
        let isNext = folding.accepts(line(500), at: boot(11))
        #expect(!isFolding && isNext, "the next window begins anew")
    }

    @Test("lines of another level or text are not folded with them, and the end tells what is left")
    func others() {
        var folding = LogFolding()
        for number in 0..<11 { _ = folding.accepts(line(number), at: boot(0)) }
        let (ofError, ofOther): (Bool, Bool)
        ofError = folding.accepts(line(1, .error), at: boot(0))
        var other = line(1)
        other.text = "s1: refused: no answer"
        ofOther = folding.accepts(other, at: boot(0))
        #expect(ofError && ofOther)
        let rest = folding.expired(at: nil).map(\.text)
        #expect(rest == [line(10).text], "one is no more than itself")
    }

    private func format(_ style: LogStyle, isForJournald: Bool = false) -> LogFormat {
        LogFormat(style: style, isForJournald: isForJournald) { _ in "10:42:07" }
    }

    @Test("a terminal gets the local time, journald a priority, a program JSON that names what the line is about")
    func formats() throws {
        let time = Timestamp(rfc3339: "2026-11-22T10:42:07Z") ?? Timestamp(milliseconds: 0)
        var hostile = line(1)
        hostile.text = "s1: \u{1B}[31mred"
        #expect(format(.text).line(hostile, at: time) == "10:42:07 warning: s1: \\x1b[31mred\n")
        #expect(format(.text).line(line(1, .notice), at: time).hasPrefix("10:42:07 s1: "))
        var narrow = format(.text)
        narrow.columns = { 20 }
        #expect(narrow.line(hostile, at: time) == "10:42:07 warning:\n         s1:\n         \\x1b[31mred\n")
        #expect(format(.text, isForJournald: true).line(hostile, at: time) == "<4>s1: \\x1b[31mred\n")
        let json = format(.json).line(hostile, at: time)
        #expect(
            json == #"{"time":"2026-11-22T10:42:07.000Z","level":"warning","text":"s1: \u001b[31mred","#
                + #""source":"s1","poll":"p-1f"}"# + "\n")
        #expect(format(.json, isForJournald: true).line(line(1, .error), at: time).hasPrefix("<3>{"))
    }

    @Test("the log writes each line with its fields, and what is folded at its end")
    func whole() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let writer = LineWriter(descriptor: ends[1])
        let log = StderrLog(level: .info, style: .json, writer: writer, environment: [:])
        log.log(.debug, "hidden")
        log.log(.notice, LogFields(source: "a", sink: "b", message: "msg_1"), "first")
        for number in 0..<12 { log.log(.warning, LogFields(source: "s\(number)"), "s\(number): timeout") }
        log.finish()
        writer.flush(within: .seconds(10))
        close(ends[1])
        defer { close(ends[0]) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends[0], &buffer, buffer.count)
        let lines = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 12)
        #expect(
            lines.first?.contains(#""level":"notice","text":"first","source":"a","sink":"b","message":"msg_1"}"#)
                == true)
        #expect(lines.last?.contains("s11: timeout (and 1 more like it)") == true)
    }
}
