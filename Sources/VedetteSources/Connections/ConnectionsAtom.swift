// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Reads one page of an Atom feed of updates and finds the next one.
enum ConnectionsAtom {
    /// - Parameter takesBefore: the resource accepts an upper bound of time.
    static func read(_ page: PageBody, takesBefore: Bool) throws(ReadError) -> Page {
        let url = WebURL(page.url)
        let handler = ConnectionsHandler(url: url)
        do throws(DocumentError) {
            let warnings = try ConnectionsHandler.reader.read(
                page.bytes, charset: page.headers.charset, handler: handler)
            let following = url.flatMap { next(handler, of: $0, takesBefore: takesBefore) }
            return Page(items: handler.items, next: following, warnings: warnings.map(\.description))
        } catch {
            throw ReadError(error)
        }
    }

    /// Returns the next page. A page without `rel=next` is the last; in a feed without any paging link, an empty page is, since a
    /// page may have fewer entries than its size.
    ///
    /// Rows move between numbered pages while they are read, and a deletion hides a row for good. So the next page is requested by
    /// time, *before* this page's last entry, and by number only where times do not distinguish entries.
    private static func next(_ handler: ConnectionsHandler, of url: WebURL, takesBefore: Bool) -> NextPage? {
        if handler.next == nil, handler.hasPages || handler.items.isEmpty { return nil }
        if takesBefore, let bound = bound(handler.items, of: url) {
            return NextPage(url.setting([("before", bound.seconds)]))
        }
        // A server behind a proxy may use its internal name; then its link only shows that there is a next page.
        guard let link = handler.next, link.origin == url.origin else { return counted(url) }
        return NextPage(link.setting(kept(of: url)))
    }

    /// Returns an exclusive bound just above the last entry, which is read again, since others may have the same time. A server
    /// may show whole seconds of times that it stores more exactly.
    private static func bound(_ items: [Item], of url: WebURL) -> Timestamp? {
        let times = items.compactMap(\.time)
        let page = url.parameter("page") ?? "1"
        guard page == "1", times.count == items.count, let last = times.last,
            zip(times, times.dropFirst()).allSatisfy({ $0 >= $1 })
        else { return nil }
        let bound = last.advanced(by: last.milliseconds % 1000 == 0 ? .seconds(1) : .milliseconds(1))
        // The bound does not move back: a page is full of entries of one instant, or the server ignores `before`.
        if let asked = url.parameter("before").flatMap({ Timestamp(rfc3339: $0) }), bound >= asked { return nil }
        return bound
    }

    /// Returns the parameters of this page's request: a next link may drop the page size, and pages of another size leave gaps.
    private static func kept(of url: WebURL) -> [(name: String, value: String)] {
        (url.query ?? "").split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = FormEncoding.decoded(parts[0])
            return name == "page" ? nil : (name, parts.count > 1 ? FormEncoding.decoded(parts[1]) : "")
        }
    }

    private static func counted(_ url: WebURL) -> NextPage {
        let page = url.parameter("page").flatMap { Int($0) } ?? 1
        return NextPage(url.setting([("page", String(page.addingReportingOverflow(1).partialValue))]))
    }
}
