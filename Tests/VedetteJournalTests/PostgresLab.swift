// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore

@testable import VedettePostgres

/// The PostgreSQL server of all tests of this target, which `Tests/lab/postgres` runs until this process ends. Each test
/// has a schema of its own.
struct PostgresLab: Sendable {
    static let shared = Result { try PostgresLab() }

    private let directory = NSTemporaryDirectory() + "vdt-pg-\(getpid())"
    private let lastSchema = LastNumber()

    private final class LastNumber: Sendable {
        private let number = Mutex(0)

        func next() -> Int {
            number.withLock { number in
                number += 1
                return number
            }
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = root.appending(path: "Tests/lab/postgres")
        process.arguments = [directory, "-c", "fsync=off", "-c", "max_connections=400"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard line == "ready\n" else { throw Failure(description: "Tests/lab/postgres printed '\(line)'") }
        // Open until this process ends, which ends the server.
        _ = Unmanaged.passRetained(input)
    }

    /// A new, empty schema.
    func schema() throws -> PostgresServer {
        let name = "test\(lastSchema.next())"
        try Connection(server("")).run("create schema \(name)")
        return try server(" options='-c search_path=\(name)' application_name=\(name)")
    }

    /// The server with other settings of the connection.
    func server(_ settings: String) throws -> PostgresServer {
        PostgresServer(try ConnectionString("host=\(directory) user=vedette dbname=postgres\(settings)"))
    }
}
