// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// The real program, as a user starts it.
enum Program {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Beside the test bundle, where the build puts it.
    static let path: String = {
        if let given = ProcessInfo.processInfo.environment["VEDETTE_BINARY"] { return given }
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "vedette").path
        return FileManager.default.isExecutableFile(atPath: beside)
            ? beside : root.appending(path: ".build/debug/vedette").path
    }()

    struct Result: Sendable {
        var code: Int32
        var out: String
        var err: String

        var lines: [String] { out.split(separator: "\n").map(String.init) }
        var json: [[String: Any]] { out.split(separator: "\n").compactMap { Program.object(String($0)) } }
    }

    static func object(_ line: String) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
    }

    /// Runs to the end; what takes longer than `limit` seconds is killed and its code is 137.
    @discardableResult
    static func run(_ arguments: [String], environment: [String: String] = [:], limit: Int = 30) async throws -> Result {
        let child = try Child(path, arguments, environment: environment)
        let killer = Task {
            try await Task.sleep(for: .seconds(limit))
            child.kill(SIGKILL)
        }
        defer { killer.cancel() }
        let code = await child.end()
        return Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }
}

/// A process of ours with its output, line by line.
final class Child: Sendable {
    enum Stream { case out, err }

    private struct State {
        var texts: [String] = ["", ""]
        var isOver = false
        var code: Int32?
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let process: Mutex<Process>
    private let input = Pipe()

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let process = Process()
        self.process = Mutex(process)
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        var all = ProcessInfo.processInfo.environment
        for name in ["DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "NOTIFY_SOCKET", "JOURNAL_STREAM"] { all[name] = nil }
        process.environment = all.merging(environment) { $1 }
        let pipes = [Pipe(), Pipe()]
        (process.standardOutput, process.standardError, process.standardInput) = (pipes[0], pipes[1], input)
        process.terminationHandler = { [weak self] process in
            let code = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
            self?.change { $0.code = code }
        }
        try process.run()
        for (i, pipe) in pipes.enumerated() { read(pipe.fileHandleForReading, into: i) }
    }

    private func read(_ handle: FileHandle, into stream: Int) {
        handle.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.change { $0.texts[stream] += String(decoding: data, as: UTF8.self) }
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

    func text(of stream: Stream) -> String { state.withLock { $0.texts[stream == .out ? 0 : 1] } }

    func lines(of stream: Stream) -> [String] { text(of: stream).split(separator: "\n").map(String.init) }

    func kill(_ signal: Int32) { if state.withLock({ $0.code == nil }) { Glibc.kill(pid, signal) } }

    /// Waits until something new was printed or the process ended.
    private func news(since count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = state.texts[0].utf8.count + state.texts[1].utf8.count > count || state.code != nil
                if !isReady { state.waiters.append(continuation) }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    /// Waits for `condition` on what was printed; killed and failed after `limit` seconds.
    @discardableResult
    func wait(
        for stream: Stream = .out, limit: Int = 30, until condition: @Sendable ([String]) -> Bool
    ) async throws -> [String] {
        let killer = Task {
            try await Task.sleep(for: .seconds(limit))
            kill(SIGKILL)
        }
        defer { killer.cancel() }
        while true {
            let count = state.withLock { $0.texts[0].utf8.count + $0.texts[1].utf8.count }
            let lines = lines(of: stream)
            if condition(lines) { return lines }
            if state.withLock({ $0.code != nil }) {
                throw Trouble("it ended before it printed what was waited for:\n\(text(of: .out))\n\(text(of: .err))")
            }
            await news(since: count)
        }
    }

    /// The exit code, 128 + signal for a killed one.
    func end() async -> Int32 {
        while true {
            if let code = state.withLock({ $0.code }) { return code }
            await news(since: .max)
        }
    }

    /// SIGTERM, and the code.
    func stop() async -> Int32 {
        kill(SIGTERM)
        return await end()
    }

    deinit {
        if state.withLock({ $0.code == nil }) { Glibc.kill(process.withLock { $0.processIdentifier }, SIGKILL) }
    }
}
