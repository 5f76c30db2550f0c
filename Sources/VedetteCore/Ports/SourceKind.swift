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
    func request(base: String, context: PollContext) -> RequestTemplate
    /// Reads one complete page. The body may be changed (a JSON reader appends padding).
    func read(_ page: inout PageBody) throws(ReadError) -> Page
    /// A `jq` program that every body passes through before it is read; nil for none.
    var shaping: String? { get }
    /// Resources that an item names and that tell more of it.
    /// - Parameter all: every one that there is, for a person who looks at this item; else those that its options ask for.
    func links(of item: Item, base: String, all: Bool) -> [ItemLink]
    /// What a linked resource says: notes of the item.
    func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields
}

extension SourceKind {
    public var shaping: String? { nil }
    public func links(of item: Item, base: String, all: Bool) -> [ItemLink] { [] }
    public func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields { [:] }
}

/// A kind that observes the response itself: refusal and 500 are its states, not failures. Its mode is a list.
public protocol ObservingKind: SourceKind {
    /// Never a failure: what there was to see is an item.
    func observe(_ seen: Observed, _ context: ObservationContext) -> Page
    /// Whether an item's state is bad news, which is believed only after as many polls in a row as the source's `fails`.
    func isDown(_ item: Item) -> Bool
    /// Fields that an item which is down does not have, since an error page says nothing of them: the last ones stand.
    var ofPageAlone: Set<String> { get }
}

public enum Observed: Sendable {
    case response(Response)
    case failed(FetchError)
}

public struct ObservationContext: Sendable {
    /// The source's absolute URL.
    public var url: String
    public var now: Timestamp

    public init(url: String, now: Timestamp) { (self.url, self.now) = (url, now) }
}

/// A resource that an item names. Equal addresses are asked once and kept for `lifetime`.
public struct ItemLink: Sendable, Hashable {
    /// What it is to the item: `owner`.
    public var name: String
    /// Absolute.
    public var url: String
    /// How long what it said is believed; zero for one poll.
    public var lifetime: Duration

    public init(_ name: String, url: String, lifetime: Duration = .seconds(3600)) {
        (self.name, self.url, self.lifetime) = (name, url, lifetime)
    }
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
    public var now: Timestamp

    public init(newest: Timestamp? = nil, now: Timestamp = Timestamp(milliseconds: 0)) {
        (self.newest, self.now) = (newest, now)
    }
}

/// The kind's share of a request; the source's server adds credentials, TLS and its own headers, which win.
public struct RequestTemplate: Sendable {
    public var method: String
    public var url: String
    public var headers: [Header]
    public var body: [UInt8]?
    /// 0: a redirect is the answer.
    public var redirects: Int
    /// See `Request.inspectsConnection`.
    public var inspectsConnection: Bool

    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil, redirects: Int = 5,
        inspectsConnection: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.redirects, self.inspectsConnection) = (redirects, inspectsConnection)
    }
}

public struct PageBody: Sendable {
    public var bytes: [UInt8]
    public var headers: ResponseHeaders
    /// The page's own address, for relative links.
    public var url: String
    /// 1 for the first page of a poll.
    public var number: Int
    /// When it was received, for what a document says of the time of day (RSS `skipHours`).
    public var receivedAt: Timestamp

    public init(
        bytes: [UInt8], headers: ResponseHeaders = .init(), url: String, number: Int = 1,
        receivedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        (self.bytes, self.headers, self.url, self.number) = (bytes, headers, url, number)
        self.receivedAt = receivedAt
    }
}

/// What one page holds, in document order.
public struct Page: Sendable {
    public var items: [Item]
    /// Nil when this is the last.
    public var next: NextPage?
    /// Illnesses that were mended, as `status` shows them.
    public var warnings: [String]
    /// How long the document says it stays fresh (RSS `ttl`); it slows the default `every` only.
    public var freshFor: Duration?
    /// A window's document says that it is whole (RFC 5005 `fh:complete`): what is absent is gone.
    public var isComplete: Bool
    /// Of a window: the request asked only for what changed after this time. What is older was not left out, and so has
    /// not gone.
    public var since: Timestamp?

    public init(
        items: [Item], next: NextPage? = nil, warnings: [String] = [], freshFor: Duration? = nil,
        isComplete: Bool = false, since: Timestamp? = nil
    ) {
        (self.items, self.next, self.warnings, self.freshFor) = (items, next, warnings, freshFor)
        (self.isComplete, self.since) = (isComplete, since)
    }
}

/// Where a reading goes on.
public struct NextPage: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Absolute.
    public var url: String
    /// Of a request with a body: the first page's with another cursor. Nil sends the first page's again.
    public var body: [UInt8]?

    public init(_ url: String, body: [UInt8]? = nil) { (self.url, self.body) = (url, body) }
    public init(stringLiteral url: String) { self.init(url) }
}

/// A response that could not be read: the poll failed.
public struct ReadError: Error, Sendable, Hashable {
    public var failure: Failure
    /// One clear sentence.
    public var detail: String

    public init(_ failure: Failure, _ detail: String) { (self.failure, self.detail) = (failure, detail) }
}
