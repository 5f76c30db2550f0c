// SPDX-License-Identifier: Apache-2.0

/// How a source is requested and read. A kind does no I/O: it builds a request and reads a response. Limits, redirects,
/// retries and paging exist once, in the engine and the fetcher.
public protocol SourceKind: Sendable {
    /// Whether an absent item is gone.
    var mode: ReadingMode { get }
    /// Whether a document of a window may say that it is complete, so that what is absent from it is gone; see `Page.isComplete`.
    var mayBeComplete: Bool { get }
    /// A digest of the options that define the items and their keys. Another identity makes the next poll a new baseline.
    var identity: UInt64 { get }
    /// A digest of the options that each compared field is read with; 0 for a field that is not listed. A field whose
    /// fingerprint differs from the snapshot's gets a new baseline, since a new option is no change of the item.
    ///
    /// `SnapshotHead.everyField` has the version of the reading. Raise it with a change of the program that reads another value
    /// of a compared field from the same bytes: else each row is told once as changed. Nothing that really changes between the
    /// last poll of the old program and the first of the new one is told then, so do not raise it for less.
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
    /// Reads what the server says in the body of a response that refuses the request, as the kind's protocol defines it, in
    /// any length; nil for a body that is no such document.
    func refusal(in page: PageBody) -> String?
    /// Whether it applies `Options.filter` while it reads, before it bounds texts and reads numbers in them.
    var filtersTexts: Bool { get }
    /// Options that can be read but are hardly meant, each with the sentence of a warning.
    var doubts: [OptionProblem] { get }
    /// A `jq` program that transforms every body before it is read; nil for none.
    var jqProgram: String? { get }
    /// Returns the resources that an item links to and that have further values of it.
    /// - Parameter all: whether to return every link, for a person who looks at the item, or only the links of its options.
    func links(of item: Item, base: String, all: Bool) -> [ItemLink]
    /// Reads a linked resource as notes of the item.
    func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields
    /// Returns when an item was first made public, by the server's clock; its `time` may be later, or bounded by now.
    func publication(of item: Item) -> Timestamp?
    /// Returns what else identifies an item whose key the server changed, each kind of mark at its own place. A mark at the
    /// first place is enough; with another one an item that is newer than all before needs its title, too.
    /// - Parameter shared: values that several items have: they mark none.
    func marks(of item: Item, besides shared: SharedKeys) -> [String?]
    /// Returns the keys of two items of different pages that have one key although they are two; nil for one item, read twice.
    /// - Parameter shared: values that several items have; takes that key.
    func keys(of first: Item, besides second: Item, _ shared: inout SharedKeys) -> (String, String)?
    /// Returns whether time alone takes an item out of a list, as an event that is over: its absence is no event.
    func isOver(_ item: Item, at now: Timestamp) -> Bool
    /// Returns the keys of items that time alone brings into a list, as the next dates of a recurring event: they make no event.
    /// - Parameters:
    ///   - known: the keys of the snapshot.
    ///   - last: when the last good poll was.
    func entered(_ items: [Item], known: Dictionary<String, StoredItem>.Keys, since last: Timestamp) -> Set<String>
}

extension SourceKind {
    /// No document says so.
    public var mayBeComplete: Bool { false }
    /// No notes.
    public var noteNames: Set<String> { [] }
    /// No measures.
    public var measureNames: Set<String> { [] }
    /// Only the server knows.
    public var stateNames: StateNames? { nil }
    /// No words.
    public func refusal(in page: PageBody) -> String? { nil }
    /// Whoever reads with it does.
    public var filtersTexts: Bool { false }
    /// No doubts.
    public var doubts: [OptionProblem] { [] }
    /// No program.
    public var jqProgram: String? { nil }
    /// No links.
    public func links(of item: Item, base: String, all: Bool) -> [ItemLink] { [] }
    /// No notes.
    public func read(_ link: ItemLink, _ page: inout PageBody) throws(ReadError) -> Fields { [:] }
    /// Its time.
    public func publication(of item: Item) -> Timestamp? { item.time }
    /// No marks: a key that the user names is believed.
    public func marks(of item: Item, besides shared: SharedKeys) -> [String?] { [] }
    /// One item: a key that the server or the user names is believed.
    public func keys(of first: Item, besides second: Item, _ shared: inout SharedKeys) -> (String, String)? { nil }
    /// No item.
    public func isOver(_ item: Item, at now: Timestamp) -> Bool { false }
    /// No item.
    public func entered(_ items: [Item], known: Dictionary<String, StoredItem>.Keys, since last: Timestamp) -> Set<
        String
    > { [] }
}
