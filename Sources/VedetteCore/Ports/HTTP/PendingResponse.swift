// SPDX-License-Identifier: Apache-2.0

/// A fetch whose first request has ended.
public protocol PendingResponse: Sendable {
    /// Finishes the fetch, as `Fetcher.fetch` does, and returns the final response. It may be called once.
    func response() async throws(FetchError) -> Response
}
