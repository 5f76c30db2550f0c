// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

import VedetteHTTP

/// A client of its own, so that no test fills the lanes of another.
func withOwnClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
    let client = try HTTPClient()
    do {
        let result = try await body(client)
        await client.shutdown()
        return result
    } catch {
        await client.shutdown()
        throw error
    }
}

extension HTTPClient {
    /// How a fetch failed; a success is a failed test.
    func failed(_ request: Request, _ location: SourceLocation = #_sourceLocation) async -> FetchError? {
        do throws(FetchError) {
            let response = try await fetch(request)
            Issue.record("answered \(response.status) with \(response.body.count) bytes", sourceLocation: location)
            return nil
        } catch {
            return error
        }
    }

    func bodyText(_ request: Request) async throws -> String {
        String(decoding: try await fetch(request).body, as: UTF8.self)
    }
}

extension Request {
    static func get(_ url: String, _ change: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(url: url)
        change(&request)
        return request
    }

    /// The webhook sink's way of asking.
    static func delivery(_ url: String, _ change: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(
            method: "POST", url: url, body: Array("{}".utf8), lane: .deliveries, group: "hook", redirects: 0)
        (request.limits.received, request.limits.inflated) = (64 << 10, 64 << 10)
        change(&request)
        return request
    }
}

/// The stand-in servers of contrib/lab; they end with this process, whose pipe they read.
final class WireLab: Sendable {
    static let sound = Task { try WireLab() }
    static let expired = Task { try WireLab("--expired") }

    let faults: String
    let faultsTLS: String
    let certificate: String
    let pin: String
    private let process: Process
    private let input = Pipe()

    init(_ options: String...) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // The tests may be reached through a link.
        let lab = root.resolvingSymlinksInPath().appending(path: "contrib/lab/lab.py").path
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", lab, "--only", "faults"] + options
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while !line.contains(10), let more = try output.fileHandleForReading.read(upToCount: 1) { line += more }
        let names = try JSONDecoder().decode([String: String].self, from: line)
        (faults, faultsTLS) = (try #require(names["faults"]), try #require(names["faults_tls"]))
        (certificate, pin) = (try #require(names["certificate"]), try #require(names["pin"]))
    }

    /// The heads of all requests that came with this text in their target.
    func received(_ marker: String, _ client: HTTPClient) async throws -> Int {
        let log = try await client.bodyText(.get(faults + "/raw-requests"))
        return log.components(separatedBy: marker).count - 1
    }
}
