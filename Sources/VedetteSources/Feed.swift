// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Atom 1.0 (RFC 4287) and RSS 2.0, told apart by the root element.
struct Feed: SourceKind {
    static let entry = SourceKindEntry(
        name: "feed", summary: "Feeds in Atom 1.0 and RSS 2.0.", options: [], every: .seconds(1800),
        make: { _ throws(OptionProblem) in Feed() })

    /// Characters of an entry's content that are kept and compared.
    static let contentLimit = 2000

    var mode: ReadingMode { .window }
    var identity: UInt64 { Digest.of(["feed"]) }
    var fingerprints: [String: UInt64] { [:] }
    var fieldNames: [String]? { ["content", "author", "categories", "published", "updated"] }

    func request(base: String, context: PollContext) -> Ask {
        Ask(
            url: base,
            headers: [
                Header("Accept", "application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.8")
            ])
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let handler = FeedHandler(url: page.url)
        do throws(DocumentError) {
            let warnings = try FeedHandler.reader.read(page.bytes, charset: page.headers.charset, handler: handler)
            return Page(
                items: handler.items, next: handler.next, warnings: warnings.map(\.description),
                freshFor: handler.freshFor)
        } catch {
            throw ReadError(error)
        }
    }
}
