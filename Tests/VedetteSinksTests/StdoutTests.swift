// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSinks

/// A pipe with a sink at its one end.
final class PipedSink: Sendable {
    let reader: CInt
    private let end: CInt
    private let isReaderClosed = Atomic(false)
    let writer: BlockingWriter
    let sink: StdoutSink

    init(_ format: LineFormat = .json, flags: CInt = 0) throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reader, end) = (ends[0], ends[1])
        if flags != 0 { _ = fcntl(end, F_SETFL, flags) }
        writer = BlockingWriter(end)
        sink = StdoutSink(writer: writer, format: format, line: EventLine { _ in "10:00:00" })
    }

    /// Reads until `isEnough` or the end, on a thread of its own: a blocked read in a task could block the task that is to
    /// write.
    func read(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> [UInt8] {
        await withCheckedContinuation { done in
            Thread.detachNewThread { [reader] in
                var out: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65536)
                while !isEnough(out) {
                    let count = Glibc.read(reader, &buffer, buffer.count)
                    if count <= 0 { break }
                    out += buffer[..<count]
                }
                done.resume(returning: out)
            }
        }
    }

    func line() async -> [UInt8] { await read { $0.last == 10 } }

    /// Closes it once: later the number may belong to another file.
    func closeReader() {
        if !isReaderClosed.exchange(true, ordering: .relaxed) { close(reader) }
    }

    /// The sink's end stays open: its thread may be about to write.
    deinit { closeReader() }
}

@Suite("stdout")
struct StdoutTests {
    @Test("json is the event with its rule and a line feed, nothing else")
    func json() async throws {
        let piped = try PipedSink()
        let message = Message.of(title: "own", text: "text")
        #expect(await piped.sink.deliver(message) == .delivered)
        #expect(await piped.line() == message.json.bytes + [10])
    }

    @Test("hostile titles stay in one line without control characters", arguments: hostileTitles)
    func hostile(_ title: String) async throws {
        for format in [LineFormat.json, .line] {
            let piped = try PipedSink(format)
            async let outcome = piped.sink.deliver(.of(.changed(title: title)))
            let bytes = await piped.line().dropLast()
            #expect(await outcome == .delivered)
            #expect(bytes.allSatisfy { $0 >= 32 && $0 != 127 })
            if case .line = format { #expect(bytes.count < 3000) }
        }
    }

    @Test("many lines arrive whole and in order, however slowly they are read", arguments: [0, O_NONBLOCK])
    func order(flags: CInt) async throws {
        let piped = try PipedSink(flags: flags)
        let lines = 2000
        async let received = piped.read { $0.suffix(9) == [10] + Array("the end\n".utf8) }
        for i in 0..<lines { #expect(await piped.sink.deliver(.of(.changed(title: "t\(i)"))) == .delivered) }
        _ = await piped.writer.write(Array("the end\n".utf8))
        let titles = await received.split(separator: 10).dropLast().map { line in
            (try? JSON(parsing: line))?["data"]?["item"]?["title"]?.string
        }
        #expect(titles == (0..<lines).map { "t\($0)" })
    }

    @Test("a closed reader ends the sink for good, and the process goes on")
    func closedReader() async throws {
        let piped = try PipedSink()
        piped.closeReader()
        for _ in 0..<2 {
            #expect(await piped.sink.deliver(.of()) == .rejected(reason: "stdout is closed"))
        }
    }

    @Test("a reader that does not read delays no other sink, and a cancelled delivery stays pending", .tags(.I7))
    func stuckReader() async throws {
        let (stuck, other) = (try PipedSink(), try PipedSink())
        let huge = Message.of(.changed(title: String(repeating: "x", count: 1 << 20)))
        let waiting = Task { await stuck.sink.deliver(huge) }
        _ = await stuck.read { !$0.isEmpty }
        #expect(await other.sink.deliver(.of()) == .delivered)
        waiting.cancel()
        #expect(await waiting.value.isRetry)
        stuck.closeReader()
    }

    @Test("a terminal that was closed ends the sink, as a closed pipe does: nothing is tried for ever")
    func closedTerminal() async throws {
        var (terminal, end): (CInt, CInt) = (-1, -1)
        try #require(openpty(&terminal, &end, nil, nil, nil) == 0)
        let sink = StdoutSink(writer: BlockingWriter(end), format: .json, line: EventLine { _ in "" })
        #expect(await sink.deliver(.of()) == .delivered)
        close(terminal)
        #expect(await sink.deliver(.of()) == .rejected(reason: "stdout is closed"))
        close(end)
    }

    @Test("an error of the system is tried again")
    func fullDisk() async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        let writer = BlockingWriter(full)
        let sink = StdoutSink(writer: writer, format: .json, line: EventLine { _ in "" })
        #expect(
            await sink.deliver(.of())
                == .retry(
                    reason: "stdout cannot be written: No space left on device", after: nil))
        close(full)
    }
}
