// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

/// A client of its own, so that no test fills the lanes of another.
func withClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
    try await using(try HTTPClient(), body)
}

/// Shuts it down in the end.
func using<Result>(_ client: HTTPClient, _ body: (HTTPClient) async throws -> Result) async throws -> Result {
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

    func status(_ request: Request) async throws -> Int { try await fetch(request).status }
    func body(_ request: Request) async throws -> [UInt8] { try await fetch(request).body }

    func bodyText(_ request: Request) async throws -> String {
        String(decoding: try await fetch(request).body, as: UTF8.self)
    }
}

extension Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension FetchLimits {
    /// The limits with some of them changed.
    static func with(_ change: (inout FetchLimits) -> Void) -> FetchLimits {
        var limits = FetchLimits()
        change(&limits)
        return limits
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
