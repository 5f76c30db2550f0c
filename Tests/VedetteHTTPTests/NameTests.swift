// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

/// Runs the inner suite of this program again, in a network namespace with its own resolv.conf.
@Suite("Case 24: names", .enabled(if: Namespace.isAllowed, "unshare -Urnm is not allowed here"))
struct NameTests {
    @Test("case 24: an unknown name, a broken, a silent and an IPv6-only name server have their class, others go on")
    func namespace() throws {
        let (status, output) = try Namespace.runInside()
        #expect(status == 0 && output.contains("Test run with 3 tests"), "\(output)")
    }
}

@Suite(
    "Inside the namespace", .enabled(if: Namespace.isInside, "run by the suite of case 24"), .timeLimit(.minutes(10)))
struct InnerNameTests {
    @Test(
        "each way to fail to resolve a name",
        arguments: zip(
            ["nothing.test", "fail.test", "silent.test", "six.test"],
            [[Failure.resolve], [.resolve], [.resolve, .timeout], [.refused, .network, .timeout]]))
    func classes(_ name: String, _ classes: [Failure]) async throws {
        let request = Request.get("http://\(name)/s3cret") { $0.limits.connect = .seconds(3) }
        let error = try await withClient { client in await client.failed(request) }
        #expect(error.map { classes.contains($0.failure) } == true, "\(error as Any)")
        #expect(error?.detail.contains("s3cret") == false && error?.detail.contains(name) == true)
    }

    @Test("a slow name server delays no other request")
    func others() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        try await withClient { client async throws in
            let slow = (0..<8).map { n in
                Task {
                    await client.failed(.get("http://silent.test:\(8000 + n)/") { $0.limits.connect = .seconds(3) })
                }
            }
            for _ in 0..<50 { #expect(try await client.status(.get(server.url(host: "good.test"))) == 200) }
            // None of them has timed out yet.
            for task in slow {
                task.cancel()
                #expect(await task.value?.failure == .cancelled)
            }
        }
    }

    @Test("where one of two addresses leads nowhere, the other is taken")
    func both() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        let request = Request.get(server.url(host: "both.test"))
        #expect(try await withClient { client in try await client.status(request) } == 200)
    }
}

private enum Namespace {
    private static let mark = "VEDETTE_TESTS_IN_NAMESPACE"

    static let isInside = ProcessInfo.processInfo.environment[mark] != nil
    static let isAllowed = !isInside && ((try? run("unshare -Urnm true", [:]))?.status == 0)

    static func runInside() throws -> (status: Int32, output: String) {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Servers/names.py").path
        let file = FileManager.default.temporaryDirectory.appending(path: "vedette-resolv-\(UUID())")
        try "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let arguments = ["--testing-library", "swift-testing", "--filter", "InnerNameTests"]
        let command = """
            ip link set lo up && mount --bind "$RESOLV" /etc/resolv.conf || exit 90
            mkfifo "$RESOLV.in" "$RESOLV.out" || exit 91
            python3 "$NAMES" < "$RESOLV.in" > "$RESOLV.out" &
            exec 3> "$RESOLV.in" 4< "$RESOLV.out"
            read -r ready <&4
            timeout 60 "$PROGRAM" \(arguments.joined(separator: " "))
            code=$?
            exec 3>&-
            wait
            rm -f "$RESOLV.in" "$RESOLV.out"
            exit $code
            """
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try run(
            "exec unshare -Urnm sh -c \"$COMMAND\"",
            ["COMMAND": command, "RESOLV": file.path, "NAMES": script, "PROGRAM": program, mark: "1"])
    }

    private static func run(_ line: String, _ environment: [String: String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        process.standardInput = FileHandle.nullDevice
        try process.runUnblocked()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return (process.waitForEnd(), text)
    }
}
