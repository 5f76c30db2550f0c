// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A PostgreSQL server that `contrib/lab/postgres` runs as long as this lives.
final class PostgresServer: Sendable {
    let directory = NSTemporaryDirectory() + "vdt-pge-\(UUID().uuidString.prefix(8))"
    /// Its end ends the server.
    private let input = Pipe()

    init() throws {
        let process = Process()
        process.executableURL = Program.root.appending(path: "contrib/lab/postgres")
        process.arguments = [directory, "-c", "fsync=off"]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.runUnblocked()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line == "ready\n" else { throw Trouble("contrib/lab/postgres printed '\(line)'") }
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// As in `journal: {postgres: …}`.
    var keywords: String { "host=\(directory) user=vedette dbname=postgres" }
    /// As in `--state`.
    var url: String { "postgres://vedette@/postgres?host=\(directory)" }
}
