// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteTestSupport

/// Certificates for tests, made by the openssl program at first use, and deleted when this process ends.
struct Certificates: Sendable {
    private static let folder = FileManager.default.temporaryDirectory
        .appending(path: "vedette-certificates-\(ProcessInfo.processInfo.processIdentifier)")

    /// An unknown authority, a server certificate for 127.0.0.1 signed by it, a client certificate, an unknown client
    /// certificate, and a self-signed server certificate.
    static let all = Task { try Certificates() }

    var authority: String { path("ca.pem") }
    var server: Pair { Pair(certificate: path("server.pem"), key: path("server.key")) }
    var client: Pair { Pair(certificate: path("client.pem"), key: path("client.key")) }
    /// Of the client under another name.
    var successor: Pair { Pair(certificate: path("successor.pem"), key: path("successor.key")) }
    var stranger: Pair { Pair(certificate: path("stranger.pem"), key: path("stranger.key")) }
    var selfSigned: Pair { Pair(certificate: path("self.pem"), key: path("self.key")) }
    var expired: Pair { Pair(certificate: path("expired.pem"), key: path("expired.key")) }
    var otherName: Pair { Pair(certificate: path("other.pem"), key: path("other.key")) }

    struct Pair: Sendable {
        var certificate: String
        var key: String
    }

    init() throws {
        try FileManager.default.createDirectory(at: Certificates.folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: Certificates.folder) }
        try make("ca", subject: "Test Authority", extensions: "basicConstraints=critical,CA:TRUE")
        try make("self", subject: "self", extensions: "subjectAltName=IP:127.0.0.1")
        try make("stranger", subject: "stranger")
        try sign("server", subject: "server", extensions: "subjectAltName=IP:127.0.0.1", days: "100")
        try sign("other", subject: "other", extensions: "subjectAltName=DNS:other.example")
        try sign("client", subject: "lamato")
        try sign("successor", subject: "moyer")
        try sign("expired", subject: "expired", extensions: "subjectAltName=IP:127.0.0.1", days: "-1")
    }

    private func path(_ name: String) -> String { Certificates.folder.appending(path: name).path }

    private static let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private func make(_ name: String, subject: String, extensions: String? = nil) throws {
        try openssl(
            [
                "req", "-x509", "-days", "30", "-subj", "/CN=\(subject)", "-keyout", path(name + ".key"), "-out",
                path(name + ".pem"),
            ]
                + Certificates.curve + (extensions.map { ["-addext", $0] } ?? []))
    }

    private func sign(_ name: String, subject: String, extensions: String = "", days: String = "30") throws {
        try openssl(
            ["req", "-subj", "/CN=\(subject)", "-keyout", path(name + ".key"), "-out", path(name + ".csr")]
                + Certificates.curve)
        try extensions.write(toFile: path(name + ".ext"), atomically: true, encoding: .utf8)
        try openssl([
            "x509", "-req", "-in", path(name + ".csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
            "-set_serial", "\(UInt32.random(in: 1..<UInt32.max))", "-days", days, "-extfile", path(name + ".ext"),
            "-out", path(name + ".pem"),
        ])
    }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.runUnblocked()
        guard process.waitForEnd() == 0 else { throw Trouble("openssl \(arguments[0]) failed for \(arguments)") }
    }
}

struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// A server of Servers/*.py. It ends when this process closes its standard input.
final class ScriptServer: Sendable {
    let port: Int
    private let process: Process
    private let input = Pipe()

    init(_ script: String, _ arguments: [String], python: String = "python3") throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Servers/\(script)")
        process.arguments = [python, file.path] + arguments
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        try process.runUnblocked()
        var line = Data()
        while !line.contains(10), case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            line += more
        }
        guard let port = try JSONDecoder().decode([String: Int].self, from: line)["port"] else {
            throw Trouble("\(script) names no port")
        }
        self.port = port
    }

    deinit { end() }

    /// Ends the server and waits until it has ended.
    func end() {
        try? input.fileHandleForWriting.close()
        // Another child that was started at the same time may have the other end of that pipe.
        process.terminate()
        process.waitForEnd()
    }

    var origin: String { "https://127.0.0.1:\(port)" }

    /// Returns an interpreter that has a module; nil when there is none.
    static func python(with module: String) -> String? {
        ["python3", "/usr/bin/python3"].first { python in
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [python, "-c", "import \(module)"]
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            guard (try? process.runUnblocked()) != nil else { return false }
            return process.waitForEnd() == 0
        }
    }
}
