// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

/// Runs a body with a client of its own, so that no test fills the queue of another.
func withClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
    try await using(try HTTPClient(), body)
}

/// Runs a body with a client, and shuts the client down.
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
    /// Returns how a fetch failed; a success is a failed test.
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
    /// Returns the default limits with changes.
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

    /// Returns a request as the webhook sink makes it.
    static func delivery(_ url: String, _ change: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(
            method: "POST", url: url, body: Array("{}".utf8), lane: .deliveries, group: "hook", redirects: 0)
        (request.limits.received, request.limits.inflated) = (64 << 10, 64 << 10)
        change(&request)
        return request
    }
}
