// SPDX-License-Identifier: Apache-2.0

/// Identifies a request that `CallbackFetcher.send` sent.
public struct SentRequestID: Sendable, Hashable {
    /// A number that the fetcher gives to one request only.
    public let number: UInt64

    /// Creates an identifier.
    public init(_ number: UInt64) { self.number = number }
}
