// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The misbehaving servers of contrib/lab. One for all tests; it ends when this process, and so its stdin, does.
struct FaultsLab: Sendable {
    let plain: String
    let tls: String
    let certificate: String
    let pin: String

    static let shared = Result { try FaultsLab() }
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    init(_ options: String..., servers: String = "faults") throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["python3", FaultsLab.root.appending(path: "contrib/lab/lab.py").path, "--only", servers] + options
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        var line = Data()
        while !line.contains(10), case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            line += more
        }
        let said = try JSONSerialization.jsonObject(with: line) as? [String: String] ?? [:]
        func value(_ name: String) -> String { said[name] ?? "" }
        plain = value("faults")
        tls = servers == "faults" ? value("faults_tls") : value(servers)
        (certificate, pin) = (value("certificate"), value("pin"))
        // The write end must outlive the pipe object: its end is the lab's end.
        _ = dup(input.fileHandleForWriting.fileDescriptor)
    }
}
