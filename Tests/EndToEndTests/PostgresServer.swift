// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteTestSupport

/// A PostgreSQL server that `Tests/lab/postgres` runs as long as this lives.
final class PostgresServer: Sendable {
    let directory = NSTemporaryDirectory() + "vdt-pge-\(UUID().uuidString.prefix(8))"
    /// Its end ends the server.
    private let input = Pipe()
    private let output = Pipe()

    init() throws {
        let process = Process()
        process.executableURL = Program.root.appending(path: "Tests/lab/postgres")
        process.arguments = [directory, "-c", "fsync=off"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.runUnblocked()
        try expect("ready")
    }

    /// Stops the server, as its administrator does, and keeps the data.
    func stop() throws { try order("stop", "stopped") }

    /// Starts it again.
    func start() throws { try order("start", "ready") }

    /// Lets it answer nothing; connections stay open.
    func freeze() throws { try order("freeze", "frozen") }

    /// Lets it go on.
    func thaw() throws { try order("thaw", "thawed") }

    private func order(_ line: String, _ answer: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        try expect(answer)
    }

    private func expect(_ answer: String) throws {
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line == answer + "\n" else { throw Trouble("Tests/lab/postgres printed '\(line)'") }
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// As in `journal: {postgres: …}`.
    var keywords: String { "host=\(directory) user=vedette dbname=postgres" }
    /// As in `--state`.
    var url: String { "postgres://vedette@/postgres?host=\(directory)" }
}
