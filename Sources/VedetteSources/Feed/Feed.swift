// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Feeds in RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, and JSON Feed, recognised by content.
struct Feed: SourceKind {
    static let entry = SourceKindEntry(
        name: "feed", summary: "Feeds in RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, and JSON Feed.",
        options: [
            OptionSpec(
                "key", .oneOrMany(.choice(FeedOptions.keys)),
                "What keys an entry; several are joined by `/`. For feeds whose ids change or are shared.",
                default: "`guid`, then `link`, then what else is its own"),
            OptionSpec(
                "compare", .list(.choice(FeedOptions.comparable)),
                "Fields that are compared beside the title; the rest is stored and shown.", default: "[content]"),
            OptionSpec(
                "content_limit", .integer(0...65_536),
                "Bytes of an entry's content, as plain text, that are kept and compared; 0 keeps none.",
                default: "\(FeedOptions.standardLimit)"),
        ],
        every: FeedSchedule.usual,
        streams: .documents, make: { options throws(OptionProblem) in Feed(options) })

    private let options: FeedOptions
    let fingerprints: [String: UInt64]

    init(_ options: Options) {
        var own = FeedOptions()
        if options["compare"] != nil { own.compared = options.texts("compare") }
        own.contentLimit = options.integer("content_limit") ?? own.contentLimit
        own.key = options.texts("key")
        self.options = own
        fingerprints = Feed.fingerprints(own)
    }

    /// Returns the fingerprints of fields whose options differ from the defaults; a field that is not listed counts as 0.
    private static func fingerprints(_ options: FeedOptions) -> [String: UInt64] {
        var fingerprints: [String: UInt64] = [SnapshotHead.everyField: 1]
        for name in FeedOptions.comparable where name != "content" && options.compared.contains(name) {
            fingerprints[name] = StableHash.of([name])
        }
        if !options.compared.contains("content") || options.contentLimit == 0 {
            fingerprints["content"] = StableHash.of(["no content"])
        } else if options.contentLimit != FeedOptions.standardLimit {
            fingerprints["content"] = StableHash.of(["\(options.contentLimit)"])
        }
        return fingerprints
    }

    var mode: ReadingMode { .window }
    var mayBeComplete: Bool { true }
    var identity: UInt64 { StableHash.of(["feed"] + options.key) }
    var fieldNames: [String]? { ["content", "link", "author", "categories", "enclosure", "published", "updated"] }
    var noteNames: Set<String> { Set(FeedOptions.comparable).subtracting(options.compared) }
    var stateNames: StateNames? { StateNames() }

    func publication(of item: Item) -> Timestamp? {
        (item["published"] ?? item["updated"]).flatMap { Timestamp(rfc3339: $0.description) } ?? item.time
    }

    func marks(of item: Item, besides shared: SharedKeys) -> [String?] {
        guard options.key.isEmpty else { return [] }
        let published = item["published"].flatMap { date in item.title.map { "\(date.description) \($0)" } }
        let addresses = [item.url, item["enclosure"]?.description].map { address in
            address.flatMap { shared.contains(FeedLink.key($0)) ? nil : FeedLink.bare($0) }
        }
        return [FeedLink.bare(item.key)] + addresses + [published]
    }

    func keys(of first: Item, besides second: Item, _ shared: inout SharedKeys) -> (String, String)? {
        var keys = FeedKeys(by: [], shared: shared)
        let chosen = options.key.isEmpty ? keys.choose(for: [FeedEntry(first), FeedEntry(second)]) : []
        guard chosen.count == 2 else { return nil }
        shared = keys.shared
        return (chosen[0].key, chosen[1].key)
    }

    func request(base: String, context: PollContext) -> RequestTemplate {
        let accept = """
            application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, \
            application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1
            """
        return RequestTemplate(url: base, headers: [Header("Accept", accept)])
    }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, [.xml]) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        if FeedJSON.isJSON(page.bytes) { return try FeedJSON.read(&page, options) }
        let handler = FeedHandler(page, options)
        do throws(DocumentError) {
            let mended = try FeedHandler.reader.read(page.bytes, charset: page.headers.charset, handler: handler)
            return Feed.page(try handler.finish(), mended, receivedAt: page.receivedAt)
        } catch {
            throw ReadError(error)
        }
    }

    private static func page(_ reading: FeedReading, _ mended: [DocumentWarning], receivedAt: Timestamp) -> Page {
        let head = reading.head
        var warnings = mended.map { "lenient: \($0)" }
        if head.lacksNamespace { warnings.append("lenient: the feed does not declare Atom's namespace") }
        // The next page of a file is no relative address.
        let next = [head.next, head.archive].lazy.compactMap { $0?.target }.first { WebURL($0) != nil }
        var page = Page(
            items: reading.items.all, next: next.map { NextPage($0) },
            warnings: warnings + reading.items.warnings, freshFor: head.schedule.freshFor(at: receivedAt),
            // A document with a next page is not complete, whatever it declares.
            isComplete: head.isComplete && next == nil)
        page.sharedKeys = reading.items.sharedKeys
        return page
    }
}
