// SPDX-License-Identifier: Apache-2.0

/// A complete page of a response.
public struct PageBody: Sendable {
    /// The body, decoded.
    public var bytes: [UInt8]
    /// The headers of the response.
    public var headers: ResponseHeaders
    /// The address of the page, for relative links.
    public var url: String
    /// 1 for the first page of a poll.
    public var number: Int
    /// When it was received, for documents that depend on the time of day (RSS `skipHours`).
    public var receivedAt: Timestamp
    /// Values that key nothing, since earlier polls or pages found several items with them.
    public var sharedKeys: SharedKeys
    /// Of a record of a stream: the name of its server-sent event. Nil for a page.
    public var event: String?
    /// Whether nothing but its end tag shows that a page of HTML is whole, or the last good one had it.
    public var needsEndTag = false

    /// Creates a page.
    public init(
        bytes: [UInt8], headers: ResponseHeaders = .init(), url: String, number: Int = 1,
        receivedAt: Timestamp = Timestamp(milliseconds: 0), sharedKeys: SharedKeys = SharedKeys()
    ) {
        (self.bytes, self.headers, self.url, self.number) = (bytes, headers, url, number)
        (self.receivedAt, self.sharedKeys) = (receivedAt, sharedKeys)
    }
}
