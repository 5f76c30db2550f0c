// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteHTTP
import VedetteTestSupport

/// The stand-in servers of Tests/lab. They end with this process, whose pipe they read.
final class Lab: Sendable {
    static let sound = Task { try Lab() }
    static let expired = Task { try Lab("--expired") }

    let faults: String
    let faultsTLS: String
    let certificate: String
    let pin: String
    private let process: Process
    private let input = Pipe()

    init(_ options: String...) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let lab = root.appending(path: "Tests/lab/lab.py").path
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", lab, "--only", "faults"] + options
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.runUnblocked()
        var line = Data()
        while !line.contains(10), let more = try output.fileHandleForReading.read(upToCount: 1) { line += more }
        let names = try JSONDecoder().decode([String: String].self, from: line)
        (faults, faultsTLS) = (try #require(names["faults"]), try #require(names["faults_tls"]))
        (certificate, pin) = (try #require(names["certificate"]), try #require(names["pin"]))
    }

    /// Returns how many requests had this text in their target.
    func received(_ marker: String, _ client: HTTPClient) async throws -> Int {
        let log = try await client.bodyText(.get(faults + "/raw-requests"))
        return log.components(separatedBy: marker).count - 1
    }
}
