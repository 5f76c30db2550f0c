// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteHTTP

/// A client for the length of a test.
func withClient<T>(_ body: (HTTPClient) async throws -> T) async throws -> T {
    let client = try HTTPClient()
    do {
        let value = try await body(client)
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
}

extension HTTPClient {
    /// The error that a fetch must end with.
    func failure(_ request: Request, _ location: SourceLocation = #_sourceLocation) async -> FetchError? {
        do throws(FetchError) {
            let response = try await fetch(request)
            Issue.record("a response with \(response.status) came", sourceLocation: location)
            return nil
        } catch {
            return error
        }
    }

    func status(_ request: Request) async throws -> Int { try await fetch(request).status }
    func body(_ request: Request) async throws -> [UInt8] { try await fetch(request).body }
    func text(_ request: Request) async throws -> String { String(decoding: try await body(request), as: UTF8.self) }
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
