// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises a page of HTML: proposes its feeds (https://www.rssboard.org/rss-autodiscovery), else the things in its
/// scripts, its rows, its product or its text.
enum HTMLRecogniser {
    private static let types = [
        "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
        "application/json",
    ]

    /// The likeliest first; the last is the page as a whole.
    static func proposals(_ body: [UInt8], url: String, charset: String?) -> [Proposal] {
        var page = Proposal("html", .text, because: "a page of HTML")
        guard let tree = try? DOMReader().html(body, charset: charset, mustEnd: false) else { return [page] }
        let title = texts("//title", tree).first.map { HTMLText.collapse($0, limit: 80) } ?? ""
        if let index = directory(tree, title) { return [index] }
        if !title.isEmpty { page.reason = "a page of HTML, '\(title)'" }
        page.alternates = feeds(tree, WebURL(url))
        if !texts("//input[@type='password']/@type", tree).isEmpty {
            page.remarks.append(
                "It asks for a password: the content may be behind it. A server with 'session: {login: …}' logs in by such a form."
            )
        }
        let words = HTMLText.collapse(texts("//body", tree).first ?? "", limit: 200).lowercased()
        if ["verifying you are human", "enable javascript", "access denied", "captcha"].contains(where: words.contains)
        {
            page.remarks.append("It looks like a check for robots or a refusal, not like what a browser shows.")
        } else if words.isEmpty {
            page.remarks.append("It has no text: scripts build it. Look for the JSON that they fetch, and probe that.")
        }
        let things = ScriptRecogniser.proposals(tree, url: url)
        if !things.isEmpty, let feed = page.alternates.first {
            page.alternates = []
            page.remarks.append("The page also names a feed, of something else: \(feed)")
        }
        guard let root = (try? XPath("/*")).flatMap({ try? tree.nodes($0) })?.first else { return things + [page] }
        let content = PageContent(PageElement(root, tree)) { path in
            (try? XPath(path)).flatMap { try? tree.nodes($0).count } ?? 0
        }
        return things
            + content.proposals(
                page, next: texts("//a[@rel='next']/@href", tree).isEmpty ? nil : "//a[@rel='next']/@href",
                isProduct: texts("//meta[@property='og:type']/@content", tree).contains { $0.hasSuffix("product") },
                price: ["product:price:amount", "og:price:amount"].map { "//meta[@property='\($0)']/@content" }
                    .first { !texts($0, tree).isEmpty })
    }

    /// Recognises the list of a directory that Apache, nginx and others make, and proposes its entries.
    private static func directory(_ tree: DOMTree, _ title: String) -> Proposal? {
        guard ["Index of ", "Directory listing for "].contains(where: title.hasPrefix) else { return nil }
        // What leads to the directory above, and what sorts the list, is no entry.
        let entry = "a[not(starts-with(@href, '?') or starts-with(@href, '/') or starts-with(@href, '..'))]"
        let place = ["//td/", "//pre/", "//li/"].first { !texts($0 + entry + "/@href", tree).isEmpty }
        guard let items = (place ?? ["//pre/", "//td/", "//li/"].first { !texts($0 + "a/@href", tree).isEmpty }) else {
            return nil
        }
        let count = texts(items + entry + "/@href", tree).count
        var proposal = Proposal("html", .presence, because: "the list of a directory, '\(title)'")
        proposal.set("items", .text(items + entry), "\(count) of them now")
        proposal.set("key", .text("@href"))
        proposal.set("title", .text("."))
        proposal.set("link", .text("@href"))
        proposal.isOftenEmpty = count == 0
        return proposal
    }

    private static func feeds(_ tree: DOMTree, _ url: WebURL?) -> [String] {
        guard let path = try? XPath("//link[@href][@rel][@type]"), let nodes = try? tree.nodes(path) else { return [] }
        let base = texts("//base/@href", tree).first.flatMap { url?.resolving($0) } ?? url
        var seen = Set<String>()
        return nodes.prefix(200).compactMap { node in
            func attribute(_ name: String) -> String {
                guard let path = try? XPath("@" + name) else { return "" }
                return (try? tree.texts(path, at: node))?.first ?? ""
            }
            let relations = attribute("rel").lowercased().split(whereSeparator: \.isWhitespace)
            guard relations.contains("alternate"), types.contains(attribute("type").lowercased()) else { return nil }
            return base?.resolving(attribute("href"))?.text
        }.filter { seen.insert($0).inserted }
    }

    private static func texts(_ text: String, _ tree: DOMTree) -> [String] {
        guard let path = try? XPath(text) else { return [] }
        return (try? tree.texts(path, at: tree.root)) ?? []
    }
}
