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
    /// Of a record of a stream: the name of its server-sent event. Nil for a page.
    public var event: String?

    /// Creates a page.
    public init(
        bytes: [UInt8], headers: ResponseHeaders = .init(), url: String, number: Int = 1,
        receivedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        (self.bytes, self.headers, self.url, self.number) = (bytes, headers, url, number)
        self.receivedAt = receivedAt
    }
}

/// What one page contains.
public struct Page: Sendable {
    /// The items, in document order.
    public var items: [Item]
    /// The next page; nil when this is the last.
    public var next: NextPage?
    /// Faults of the document that were repaired, for `status`.
    public var warnings: [String]
    /// How long the document is fresh by its own account (RSS `ttl`); it slows only the default `every`.
    public var freshFor: Duration?
    /// Whether the document of a window says that it is complete (RFC 5005 `fh:complete`); then an absent item is gone.
    public var isComplete: Bool
    /// The time after which the request asked for changes; older items are absent without being gone. Nil for no such
    /// request.
    public var since: Timestamp?
    /// What a record of a stream means; nil where the name of its event alone tells.
    public var record: RecordNote?

    /// Creates a page.
    public init(
        items: [Item], next: NextPage? = nil, warnings: [String] = [], freshFor: Duration? = nil,
        isComplete: Bool = false, since: Timestamp? = nil
    ) {
        (self.items, self.next, self.warnings, self.freshFor) = (items, next, warnings, freshFor)
        (self.isComplete, self.since) = (isComplete, since)
    }
}

/// The request for the next page.
public struct NextPage: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The absolute address.
    public var url: String
    /// The body with the next cursor; nil repeats the first page's body.
    public var body: [UInt8]?

    /// Creates a request.
    public init(_ url: String, body: [UInt8]? = nil) { (self.url, self.body) = (url, body) }
    /// A page without a body of its own.
    public init(stringLiteral url: String) { self.init(url) }
}
