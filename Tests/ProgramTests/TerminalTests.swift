// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import VedetteCore

@testable import vedette

@Suite("Terminal")
struct TerminalTests {
    @Test("text of sources holds no character that a terminal obeys, coloured or not")
    func escapes() {
        let hostile = "a\u{9B}31m\u{7F}\r\u{202E}b\u{1B}[2J"
        let safe = #"a\x9b31m\x7f\r\u202eb\x1b[2J"#
        #expect(StyledText(hostile).text == safe)
        #expect(Palette.plain.paint(hostile, .bad).text == safe)
        #expect(Palette(isOn: true).paint(hostile, .bad).text == "\u{1B}[31m\(safe)\u{1B}[0m")
    }

    @Test("a terminal that tells its columns alone keeps them")
    func size() {
        #expect(TerminalSize(columns: 200, rows: 0) == TerminalSize(columns: 200, rows: 24))
        #expect(TerminalSize(columns: 0, rows: 50) == TerminalSize(columns: 80, rows: 50))
    }

    @Test("columns are as wide as what they show, colours not counted, and no line ends in spaces")
    func table() {
        var table = TextTable(["NAME", "HEALTH", "REMARK"], Palette(isOn: true))
        table.add([StyledText("a"), Palette(isOn: true).paint("ok", .good), StyledText("")])
        table.add(["long name", "failing", "timeout\n"])
        #expect(
            table.lines.map(\.text) == [
                "\u{1B}[2mNAME\u{1B}[0m       \u{1B}[2mHEALTH\u{1B}[0m   \u{1B}[2mREMARK\u{1B}[0m",
                "a          \u{1B}[32mok\u{1B}[0m", #"long name  failing  timeout\n"#,
            ])
    }

    @Test("a combining mark fills no cell, a wide character and an emoji two")
    func cells() {
        for (text, cells) in [
            ("abc", 3), ("e\u{301}", 1), ("한국어", 6), ("日本", 4), ("👩‍👩‍👧‍👦", 2), ("❤️", 2), ("🇮🇹", 2), ("…", 1), ("שלום", 4),
        ] {
            #expect(StyledText(text).width == cells, "\(text)")
        }
    }

    @Test("text that is too long ends with an ellipsis, after a word where one ends near, and its colour ends with it")
    func truncated() {
        func cut(_ text: String, _ limit: Int) -> String { StyledText(text).truncated(to: limit).text }
        #expect(cut("connection refused", 18) == "connection refused")
        #expect(cut("connection refused", 17) == "connection…")
        #expect(cut("connection refused", 11) == "connection…")
        #expect(cut("connection refused", 8) == "connect…")
        #expect(cut("日本語", 4) == "日…", "half of a wide character is not shown")
        #expect(cut("e\u{301}e\u{301}e\u{301}", 2) == "e\u{301}…")
        let painted = Palette(isOn: true).paint("connection refused by all", .bad).truncated(to: 20)
        #expect(painted.text == "\u{1B}[31mconnection refused…\u{1B}[0m" && painted.width == 19)
    }

    @Test("a table that is wider than the terminal shortens the columns that may lose text")
    func fittingTable() {
        var table = TextTable(["NAME", "STATES", "REMARK"])
        table.add(["systems", "5 Ready for use, 3 Stopped", "TLS is not checked (insecure)"])
        #expect(
            table.lines(within: 50, shrinking: [2, 1]).map(\.text) == [
                "NAME     STATES                      REMARK", "systems  5 Ready for use, 3 Stopped  TLS is not…",
            ])
        #expect(table.lines(within: 40, shrinking: [2, 1]).allSatisfy { $0.width <= 40 })
    }

    @Test("a sentence that is wider than the terminal is broken between words; a pipe gets it whole")
    func fitted() {
        let sentence = StyledText("rules.yaml:3:5: unknown key 'ever' in source 'two'; did you mean 'every'?")
        #expect(sentence.wrapped(to: nil) == [sentence])
        #expect(sentence.wrapped(to: 80) == [sentence])
        #expect(
            sentence.wrapped(to: 40).map(\.text) == [
                "rules.yaml:3:5: unknown key 'ever' in", "  source 'two'; did you mean 'every'?",
            ])
        let address = "https://www.example.com/" + String(repeating: "x", count: 40)
        #expect(
            StyledText("the name of \(address) is unknown").wrapped(to: 40).map(\.text) == [
                "the name of", "  " + address, "  is unknown",
            ], "an address stays whole, so that it can be copied")
    }

    @Test("usage and errors of the command line are broken between words; a page of help is laid out already")
    func parserMessages() {
        let usage = "USAGE: vedette outbox list [--sink <sink>] [--rule <rule>] [--older-than <duration>]"
        let example = "  vedette wait lab-systems Billing --to 'Ready for use' --timeout 20m && ./deploy"
        #expect(
            ParserMessage.lines("\(usage)\n\n\(example)", columns: 60, isOwn: true).map(\.text) == [
                "USAGE: vedette outbox list [--sink <sink>] [--rule <rule>]", "       [--older-than <duration>]", "",
                example,
            ])
        #expect(ParserMessage.lines("\tcase x", columns: 60, isOwn: true).map(\.text) == ["\tcase x"])
        #expect(ParserMessage.lines(usage, columns: nil, isOwn: true).map(\.text) == [usage])
        #expect(
            ParserMessage.lines("Error: --from\u{9B} and --to exclude each other", columns: 30, isOwn: false).map(
                \.text) == [
                    "Error: --from\\x9b and --to", "       exclude each other",
                ])
    }

    @Test("an event's line has the palette's colours, and none without it")
    func event() {
        var event = Event.sample
        event.item?.title = "\u{1B}[31mred"
        let line = Palette(isOn: true).line(of: event)
        #expect(line.text.contains("\u{1B}[36msystems\u{1B}[0m  \\x1b[31mred  \u{1B}[32mappeared\u{1B}[0m"))
        #expect(!Palette.plain.line(of: event).text.contains("\u{1B}"))
        #expect(line.width == Palette.plain.line(of: event).width)
    }

    @Test("an unknown name is an error with the nearest one, else with those that there are")
    func unknownNames() {
        func text(_ name: String, _ known: [String]) -> String {
            Exit.unknown("source", name, among: known).description
        }
        #expect(text("lav", ["web", "lab"]) == "there is no source 'lav'; did you mean 'lab'?")
        #expect(text("jobs", ["web", "lab"]) == "there is no source 'jobs'; there are: lab, web")
        #expect(text("jobs", (100...120).map(String.init)).hasSuffix(", 111 and 9 more"))
        #expect(text("jobs", []) == "there is no source 'jobs'; none is configured")
    }

    @Test("every error has one sentence and a code of sysexits.h, those too that nobody expects")
    func exits() {
        struct Unexpected: Error {}
        for (error, code) in [
            (Exit(.data, "x") as any Error, Exit.Code.data), (JournalError(.busy, "x"), .busy),
            (JournalError(.locked(pid: 1), "x"), .temporary), (JournalError(.denied, "x"), .permission),
            (JournalError(.corrupt, "x"), .data), (OptionProblem("items", detail: "is required"), .configuration),
            (ReadError(.malformed, "x"), .data), (FetchError(.timeout, "x"), .unavailable),
            (CancellationError(), .temporary), (CocoaError(.fileNoSuchFile), .inputOutput), (Unexpected(), .software),
        ] {
            let exit = Exit(error)
            #expect(exit.code == code && !exit.description.isEmpty && !exit.description.contains("\n"))
        }
    }
}

@Suite("The systemd units")
struct UnitTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Whether a start with the same files ends in the same way. A new code must be put into one of the two groups.
    private static func isLasting(_ code: Exit.Code) -> Bool {
        switch code {
        case .usage, .data, .cannotCreate, .permission, .configuration: true
        case .unavailable, .software, .busy, .inputOutput, .temporary: false
        }
    }

    @Test("every exit code is in the table of the documentation", arguments: Exit.Code.allCases)
    func documented(_ code: Exit.Code) throws {
        let file = Self.root.appending(path: "Sources/vedette/Documentation.docc/Commands.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("| \(code.rawValue) |") })
    }

    @Test(
        "the unit restarts the watcher after passing faults, and not after lasting ones", arguments: ["user", "system"])
    func restarts(_ unit: String) throws {
        let file = Self.root.appending(path: "contrib/systemd/\(unit)/vedette.service")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let prefix = "RestartPreventExitStatus="
        let listed = lines.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count).split(separator: " ") ?? []
        #expect(listed.map { Int32($0) } == Exit.Code.allCases.filter(Self.isLasting).map(\.rawValue).sorted())
        #expect(lines.contains("Restart=on-failure") && lines.contains { $0.hasPrefix("WatchdogSec=") })
    }
}

extension Event {
    fileprivate static var sample: Event {
        let time = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!
        var event = Event(
            id: SystemRandomGenerator().identifier(at: time), kind: .appeared, time: time, source: "systems",
            sourceKind: "json", poll: "p-1")
        event.item = Item(key: "1", title: "prod")
        return event
    }
}

@Suite("Lines to a reader that does not read", .timeLimit(.minutes(10)))
struct LineWriterTests {
    @Test("a full pipe holds up no caller: lines beyond the limit are dropped, and counted when the reader reads again")
    func full() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        _ = fcntl(ends[1], setPipeSize, 4096)
        let writer = LineWriter(descriptor: ends[1], limit: 10_000)
        writer.reportDropped { "dropped \($0)\n" }
        // No reader yet: without a limit this would wait for ever.
        for number in 0..<10_000 { writer.write("line \(number)\n") }
        writer.flush(within: .milliseconds(1))
        let isRead = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var text = ""
        let input = ends[0]
        Thread.detachNewThread {
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
            while case let count = read(input, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
            text = String(decoding: bytes, as: UTF8.self)
            isRead.signal()
        }
        writer.flush(within: .seconds(30))
        close(ends[1])
        isRead.wait()
        let lines = text.split(separator: "\n")
        let kept = lines.compactMap { $0.hasPrefix("line ") ? Int($0.dropFirst("line ".count)) : nil }
        let dropped = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst("dropped ".count)) : nil }
        #expect(kept.count + dropped.count == lines.count, "whole lines")
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0 < $1 } && kept.first == 0, "in order")
        let count = dropped.reduce(0, +)
        #expect(kept.count + count == 10_000 && count > 1000)
    }
}

/// F_SETPIPE_SZ of fcntl(2), which Glibc shows with _GNU_SOURCE alone.
private let setPipeSize: Int32 = 1031
