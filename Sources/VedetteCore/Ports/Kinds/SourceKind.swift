// SPDX-License-Identifier: Apache-2.0

/// How a source is requested and read. A kind does no I/O: it builds a request and reads a response. Limits, redirects,
/// retries and paging exist once, in the engine and the fetcher.
public protocol SourceKind: Sendable {
    /// Whether an absent item is gone.
    var mode: ReadingMode { get }
    /// A digest of the options that define the items and their keys. Another identity makes the next poll a new baseline.
    var identity: UInt64 { get }
    /// A digest of the options that each compared field is read with; 0 for a field that is not listed. A field whose
    /// fingerprint differs from the snapshot's gets a new baseline, since a new option is no change of the item.
    var fingerprints: [String: UInt64] { get }
    /// The fields and notes that its items may have besides key, title, state and url, for the validation of rules and
    /// templates. Nil when only the server knows.
    var fieldNames: [String]? { get }
    /// The names among `fieldNames` that are stored and shown but never compared.
    var noteNames: Set<String> { get }
    /// The names among `fieldNames` that are numbers of which only bounds are compared.
    var measureNames: Set<String> { get }
    /// The states that its items can have; nil when only the server knows.
    var stateNames: StateNames? { get }
    /// Builds the request for the first page.
    /// - Parameter base: the source's absolute URL.
    func request(base: String, context: PollContext) -> RequestTemplate
    /// Reads one complete page. The body may be changed (a JSON reader appends padding).
    func read(_ page: inout PageBody) throws(ReadError) -> Page
    /// A `jq` program that transforms every body before it is read; nil for none.
    var jqProgram: String? { get }
    /// Returns the resources that an item links to and that have further values of it.
    /// - Parameter all: whether to return every link, for a person who looks at the item, or only those of its options.
    func links(of item: Item, base: String, all: Bool) -> [ItemLink]
    /// Reads a linked resource as notes of the item.
    func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields
    /// Returns whether time alone takes an item out of a list, as an event that is over: its absence is no event.
    func isOver(_ item: Item, at now: Timestamp) -> Bool
    /// Returns the keys of items that time alone brings into a list, as the next dates of a recurring event: they make no event.
    /// - Parameters:
    ///   - known: the keys of the snapshot.
    ///   - last: when the last good poll was.
    func entered(_ items: [Item], known: Dictionary<String, StoredItem>.Keys, since last: Timestamp) -> Set<String>
}

/// The states that the items of a source can have, for the validation of rules.
public struct StateNames: Sendable {
    /// The states with a name.
    public var known: [String]
    /// Accepts further states that cannot be listed; nil when there are none.
    public var isOther: (@Sendable (String) -> Bool)?

    /// Creates the states of a kind; none for a kind whose items have no state.
    public init(_ known: [String] = [], isOther: (@Sendable (String) -> Bool)? = nil) {
        (self.known, self.isOther) = (known, isOther)
    }

    /// Whether the items have no state at all.
    public var isNone: Bool { known.isEmpty && isOther == nil }
    /// Whether there are no states but the known ones.
    public var isClosed: Bool { isOther == nil }
    /// Returns whether an item can have that state.
    public func contains(_ state: String) -> Bool { known.contains(state) || isOther?(state) == true }
}

extension SourceKind {
    /// No notes.
    public var noteNames: Set<String> { [] }
    /// No measures.
    public var measureNames: Set<String> { [] }
    /// Only the server knows.
    public var stateNames: StateNames? { nil }
    /// No program.
    public var jqProgram: String? { nil }
    /// No links.
    public func links(of item: Item, base: String, all: Bool) -> [ItemLink] { [] }
    /// No notes.
    public func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields { [:] }
    /// No item.
    public func isOver(_ item: Item, at now: Timestamp) -> Bool { false }
    /// No item.
    public func entered(_ items: [Item], known: Dictionary<String, StoredItem>.Keys, since last: Timestamp) -> Set<
        String
    > { [] }
}

/// A kind whose item is the response itself: a refused connection and a status 500 are states, not failures. Its mode is
/// `list`.
public protocol ObservingKind: SourceKind {
    /// Reads a response or a failure as an item.
    func observe(_ observed: Observed, _ context: ObservationContext) -> Page
    /// Returns whether an item's state is `down`, which is confirmed only after `fails` polls in a row.
    func isDown(_ item: Item) -> Bool
    /// Fields that come from the body. While an item is down they keep their last values, since an error page has none.
    var bodyFields: Set<String> { get }
}

/// What an `ObservingKind` reads.
public enum Observed: Sendable {
    /// A response of any status.
    case response(Response)
    /// No response.
    case failed(FetchError)
}

/// Where and when something was observed.
public struct ObservationContext: Sendable {
    /// The source's absolute URL.
    public var url: String
    /// The time of the observation.
    public var now: Timestamp

    /// Creates a context.
    public init(url: String, now: Timestamp) { (self.url, self.now) = (url, now) }
}

/// A resource that an item links to. Equal addresses are requested once and cached for `lifetime`.
public struct ItemLink: Sendable, Hashable {
    /// The relation to the item: `owner`.
    public var name: String
    /// The absolute address.
    public var url: String
    /// How long it is cached; zero for one poll.
    public var lifetime: Duration

    /// Creates a link.
    public init(_ name: String, url: String, lifetime: Duration = .seconds(3600)) {
        (self.name, self.url, self.lifetime) = (name, url, lifetime)
    }
}

/// What the absence of an item means.
public enum ReadingMode: String, Sendable, Hashable {
    /// The items are complete; an absent one is gone.
    case list
    /// The items are the newest part; absence means nothing.
    case window
}

/// What a kind can use from the last good poll to build a request.
public struct PollContext: Sendable {
    /// The newest item time seen so far; nil before the first good poll.
    public var newest: Timestamp?
    /// The time of the request.
    public var now: Timestamp

    /// Creates a context.
    public init(newest: Timestamp? = nil, now: Timestamp = Timestamp(milliseconds: 0)) {
        (self.newest, self.now) = (newest, now)
    }
}

/// The part of a request that the kind determines. The server adds credentials, TLS and its headers, which replace those of
/// the kind.
public struct RequestTemplate: Sendable {
    /// The method.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The headers.
    public var headers: [Header]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// Redirects to follow; with 0 a redirect is the response.
    public var redirects: Int
    /// See `Request.inspectsConnection`.
    public var inspectsConnection: Bool
    /// Changes when the same body has to be read anew, for a kind whose items depend on the time of day.
    public var period: UInt64 = 0

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil, redirects: Int = 5,
        inspectsConnection: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.redirects, self.inspectsConnection) = (redirects, inspectsConnection)
    }
}

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

/// A response that could not be read, so that the poll failed.
public struct ReadError: Error, Sendable, Hashable {
    /// The class.
    public var failure: Failure
    /// What is wrong, in one sentence.
    public var detail: String

    /// Creates an error.
    public init(_ failure: Failure, _ detail: String) { (self.failure, self.detail) = (failure, detail) }
}

/// Passes a body through the user's `jq` program (`SourceKind.jqProgram`) before it is read.
public protocol BodyTransformer: Sendable {
    /// Transforms a body.
    /// - Parameter body: the complete body, decoded.
    /// - Returns: one JSON value; several outputs of the program are one array, no output is an empty one.
    /// - Throws: what is wrong with the body or the program, or which limit was hit; `.cancelled` when the task was.
    func transform(_ body: [UInt8], with program: String) async throws(ReadError) -> [UInt8]
}
