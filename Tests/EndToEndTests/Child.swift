// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import VedetteTestSupport

/// A process of ours with its output, line by line. It is over when it ended and both of its streams did.
final class Child: Sendable {
    enum Stream: Int { case out, err }

    private struct State {
        var bytes = [Data(), Data()]
        var openStreams = 2
        var code: Int32?
        var isLate = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// A killed one may have left children that keep its streams open.
        var isOver: Bool { code != nil && (openStreams == 0 || isLate) }
        var count: Int { bytes[0].count + bytes[1].count }
    }

    private let state = Mutex(State())
    private let process: Mutex<Process>
    private let input = Pipe()
    /// Standard error that nobody reads, kept open.
    private let unread: Pipe?

    /// - Parameter readsErrors: false for a standard error of 4 KiB that nobody reads.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], readsErrors: Bool = true
    ) throws {
        let process = Process()
        self.process = Mutex(process)
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        var all = ProcessInfo.processInfo.environment
        for name in ["DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "NOTIFY_SOCKET", "JOURNAL_STREAM"] { all[name] = nil }
        process.environment = all.merging(environment) { $1 }
        let pipes = [Pipe(), Pipe()]
        unread = readsErrors ? nil : pipes[1]
        if !readsErrors {
            _ = fcntl(pipes[1].fileHandleForWriting.fileDescriptor, setPipeSize, 4096)
            state.withLock { $0.openStreams = 1 }
        }
        (process.standardOutput, process.standardError, process.standardInput) = (pipes[0], pipes[1], input)
        process.terminationHandler = { [weak self, input] process in
            // Foundation keeps a process with its pipes. With more than 1,300 descriptors its `run` may read behind the
            // end of a directory's buffer.
            try? input.fileHandleForWriting.close()
            let code = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
            self?.change { $0.code = code }
        }
        try process.runUnblocked()
        for (i, pipe) in pipes.enumerated() where readsErrors || i == 0 { read(pipe.fileHandleForReading, into: i) }
    }

    deinit {
        if state.withLock({ $0.code == nil }) { Glibc.kill(process.withLock { $0.processIdentifier }, SIGKILL) }
    }

    /// On a thread of its own until the stream ends: FileHandle's readabilityHandler loses an end now and then.
    private func read(_ handle: FileHandle, into stream: Int) {
        Thread.detachNewThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var count = 0
            repeat {
                count = Glibc.read(handle.fileDescriptor, &buffer, buffer.count)
                if count < 0 { continue }
                let data = Data(buffer.prefix(max(0, count)))
                self?.change { state in
                    state.bytes[stream] += data
                    if data.isEmpty { state.openStreams -= 1 }
                }
            } while count != 0
            try? handle.close()
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var pid: Int32 { process.withLock { $0.processIdentifier } }

    func text(of stream: Stream) -> String {
        String(decoding: state.withLock { $0.bytes[stream.rawValue] }, as: UTF8.self)
    }

    /// Whole lines; the rest behind the last of them only once nothing can follow.
    func lines(of stream: Stream) -> [String] {
        let (bytes, isOver) = state.withLock { ($0.bytes[stream.rawValue], $0.isOver) }
        let end = isOver ? bytes.endIndex : bytes.lastIndex(of: 10) ?? bytes.startIndex
        return String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func kill(_ signal: Int32) { if state.withLock({ $0.code == nil }) { Glibc.kill(pid, signal) } }

    /// Waits until something new was printed or it is over.
    private func news(since count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = state.count > count || state.isOver
                if !isReady { state.waiters.append(continuation) }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    /// Killed after so many seconds, times the program's slowness, unless cancelled before.
    private func killer(after seconds: Int) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: .seconds(seconds * Program.slowness))
            change { $0.isLate = true }
            kill(SIGKILL)
        }
    }

    /// Waits for `condition` on what was printed; killed and failed after `limit` seconds. The limit is for a program that
    /// hangs: a busy machine may need a minute for what takes a second.
    @discardableResult
    func wait(
        for stream: Stream = .out, limit: Int = 120, until condition: @Sendable ([String]) -> Bool
    ) async throws -> [String] {
        let killer = killer(after: limit)
        defer { killer.cancel() }
        while true {
            let (count, isOver, isLate) = state.withLock { ($0.count, $0.isOver, $0.isLate) }
            let lines = lines(of: stream)
            if condition(lines) { return lines }
            if isOver {
                let reason = isLate ? "it was killed after \(limit * Program.slowness) s" : "it ended"
                let printed = [text(of: .out), text(of: .err)].joined(separator: "\n")
                throw Trouble("\(reason) before it printed what was waited for:\n\(printed)")
            }
            await news(since: count)
        }
    }

    /// The exit code, 128 + signal for a killed one; killed after `limit` seconds.
    func end(within limit: Int = 120) async -> Int32 {
        let killer = killer(after: limit)
        defer { killer.cancel() }
        while true {
            if let code = state.withLock({ $0.isOver ? $0.code : nil }) { return code }
            await news(since: .max)
        }
    }

    /// The port of the page of a watcher, which its log tells.
    var pagePort: UInt16? {
        text(of: .err).components(separatedBy: "the page is at http://127.0.0.1:").dropFirst().last.flatMap { rest in
            UInt16(rest.prefix { $0.isNumber })
        }
    }

    /// Sends SIGKILL and waits; for helpers of a test, which need not end in order.
    func destroy() async {
        kill(SIGKILL)
        _ = await end(within: 10)
    }

    /// SIGTERM, and the code. Ten seconds are what the program promises (I10): a slower one is killed, 137.
    func stop() async -> Int32 {
        kill(SIGTERM)
        return await end(within: 10)
    }
}

/// F_SETPIPE_SZ of fcntl(2), which Glibc shows with _GNU_SOURCE alone.
private let setPipeSize: Int32 = 1031
