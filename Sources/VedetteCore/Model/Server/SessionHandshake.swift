// SPDX-License-Identifier: Apache-2.0

/// A session that begins with a refusal: the response of one status has a header that every further request must repeat.
public struct SessionHandshake: Sendable, Hashable {
    /// The name of the header.
    public var header: String
    /// The status of the response that has its value.
    public var status: Int

    /// Creates a handshake.
    public init(header: String, status: Int) { (self.header, self.status) = (header, status) }
}
