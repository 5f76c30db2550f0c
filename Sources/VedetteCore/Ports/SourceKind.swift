// SPDX-License-Identifier: Apache-2.0

/// How a source asks and reads. A kind does no I/O: it builds a request and reads a response; politeness, limits,
/// redirects, retries and paging exist once, elsewhere.
public protocol SourceKind: Sendable {
    /// Whether what is absent is gone.
    var mode: ReadingMode { get }
    /// A digest of the options that say which items there are and what keys them. Another identity makes the next poll
    /// a new baseline.
    var identity: UInt64 { get }
    /// Per compared field, a digest of the options it is read with; a field that is not listed counts as 0. A field whose
    /// fingerprint differs from the snapshot's starts as baseline: a new option is no change of the item.
    var fingerprints: [String: UInt64] { get }
    /// The fields and notes that its items may have, beside key, title, state and url; rules and templates are checked
    /// against them. Nil when only the server knows.
    var fieldNames: [String]? { get }
    /// The first page's request.
    /// - Parameter base: the source's absolute URL.
    func request(base: String, context: PollContext) -> Ask
    /// Reads one complete page. The body may be changed (a JSON reader appends padding).
    func read(_ page: inout PageBody) throws(ReadError) -> Page
}

public enum ReadingMode: String, Sendable, Hashable {
    /// Complete: what is absent is gone.
    case list
    /// The newest part: absence means nothing.
    case window
}

/// What a kind may want to know of the last good poll.
public struct PollContext: Sendable {
    /// The newest item time seen so far; nil before the first good poll.
    public var newest: Timestamp?

    public init(newest: Timestamp? = nil) { self.newest = newest }
}

/// The kind's share of a request; the source's server adds credentials, TLS and its own headers, which win.
public struct Ask: Sendable {
    public var method: String
    public var url: String
    public var headers: [Header]
    public var body: [UInt8]?

    public init(method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

public struct PageBody: Sendable {
    public var bytes: [UInt8]
    public var headers: ResponseHeaders
    /// The page's own address, for relative links.
    public var url: String
    /// 1 for the first page of a poll.
    public var number: Int

    public init(bytes: [UInt8], headers: ResponseHeaders = .init(), url: String, number: Int = 1) {
        (self.bytes, self.headers, self.url, self.number) = (bytes, headers, url, number)
    }
}

/// What one page holds, in document order.
public struct Page: Sendable {
    public var items: [Item]
    /// The next page, absolute; nil when this is the last.
    public var next: String?
    /// Illnesses that were mended, as `status` shows them.
    public var warnings: [String]
    /// How long the document says it stays fresh (RSS `ttl`); it slows the default `every` only.
    public var freshFor: Duration?

    public init(items: [Item], next: String? = nil, warnings: [String] = [], freshFor: Duration? = nil) {
        (self.items, self.next, self.warnings, self.freshFor) = (items, next, warnings, freshFor)
    }
}

/// A response that could not be read: the poll failed.
public struct ReadError: Error, Sendable, Hashable {
    public var failure: Failure
    /// One clear sentence.
    public var detail: String

    public init(_ failure: Failure, _ detail: String) { (self.failure, self.detail) = (failure, detail) }
}
