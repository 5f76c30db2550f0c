// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests, for polls and deliveries alike.
public protocol Fetcher: Sendable {
    /// Sends a request, follows its redirects, and returns the final response, of any status.
    ///
    /// Cancelling the calling task ends the transfer with `.cancelled`; cancelling a finished fetch does nothing.
    func fetch(_ request: Request) async throws(FetchError) -> Response
}
