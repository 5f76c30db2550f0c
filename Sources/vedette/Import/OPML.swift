// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// A list of feeds as feed readers exchange it (OPML 2.0, http://opml.org/spec2.opml).
struct OPML {
    /// One feed of the list.
    struct Feed: Hashable {
        var url: String
        var title: String
        /// The page that the feed belongs to; nil where the list has none.
        var page: String?
    }

    var feeds: [Feed] = []

    init(_ feeds: [Feed]) { self.feeds = feeds }

    /// Reads the outlines that have an `xmlUrl`, in folders or not, in the order of the document.
    /// - Throws: `Exit` where the text is no OPML.
    init(_ body: [UInt8], name: String) throws {
        do {
            let tree = try DOMReader().xml(body)
            let (address, title, text, page) = (
                try XPath("@xmlUrl"), try XPath("@title"), try XPath("@text"), try XPath("@htmlUrl")
            )
            guard try !tree.nodes(XPath("/opml/body")).isEmpty else {
                throw Exit(.data, "\(name) is no OPML: it has no <opml> with a <body>")
            }
            for node in try tree.nodes(XPath("//outline[@xmlUrl]")) {
                guard let url = try tree.texts(address, at: node).first, !url.isEmpty else { continue }
                let titles = try tree.texts(title, at: node) + tree.texts(text, at: node)
                feeds.append(
                    Feed(
                        url: url, title: titles.first { !$0.isEmpty } ?? url,
                        page: try tree.texts(page, at: node).first { !$0.isEmpty }))
            }
        } catch let error as DocumentError {
            throw Exit(.data, "\(name): \(error.description.replacing("the response", with: "the file"))")
        }
    }

    /// The document, a line each.
    var lines: [String] {
        let outlines = feeds.map { feed in
            let page = feed.page.map { " htmlUrl=\"\(XMLEscape.text($0))\"" } ?? ""
            let title = XMLEscape.text(feed.title)
            return "    <outline type=\"rss\" text=\"\(title)\" title=\"\(title)\" "
                + "xmlUrl=\"\(XMLEscape.text(feed.url))\"\(page)/>"
        }
        return ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<opml version=\"2.0\">"]
            + ["  <head><title>Vedette</title></head>", "  <body>"] + outlines + ["  </body>", "</opml>"]
    }
}
