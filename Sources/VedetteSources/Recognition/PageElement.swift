// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// An element of a page that a browser shows, with the elements inside.
final class PageElement {
    let name: String
    let attributes: [String: String]
    let classes: [String]
    private(set) weak var parent: PageElement?
    private(set) var children: [PageElement] = []
    private let node: DOMNode
    private let tree: DOMTree

    init(_ node: DOMNode, _ tree: DOMTree, in parent: PageElement? = nil) {
        (self.node, self.tree, self.parent) = (node, tree, parent)
        (name, attributes) = (node.name, node.attributes)
        // A quotation mark cannot stand in every XPath.
        var seen = Set<String>()
        classes = (attributes["class"] ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
            .filter { !$0.contains("'") && seen.insert($0).inserted }
        children = node.shownElements.map { PageElement($0, tree, in: self) }
    }

    lazy var text: String = (try? XPath(".")).flatMap { try? tree.texts($0, at: node) }?.first ?? ""

    /// The first text of its own, outside of the elements inside.
    lazy var ownText: String =
        (try? XPath("text()[normalize-space()]")).flatMap { try? tree.texts($0, at: node) }?.first ?? ""

    /// The elements inside, in the order of the document.
    lazy var inside: [PageElement] = children.flatMap { [$0] + $0.inside }

    /// How many of its children have each name.
    private(set) lazy var childCounts = Dictionary(children.map { ($0.name, 1) }, uniquingKeysWith: +)

    var ancestors: [PageElement] { parent.map { [$0] + $0.ancestors } ?? [] }

    /// Whether the element is a part of the site, not of the page: navigation, filters, what others bought. Some sites call
    /// the whole page so, as `with-sidebar`.
    private(set) lazy var isFrame: Bool = {
        if ["nav", "aside", "footer", "select", "title", "svg", "form", "dialog"].contains(name) {
            return name != "form" || !inside.contains { ["tr", "article", "h1", "h2", "li"].contains($0.name) }
        }
        guard !["html", "body", "main", "article", "tr", "td", "h1"].contains(name) else { return false }
        // What has more in a line than a link is no menu.
        if ["ul", "ol"].contains(name), children.contains(where: { $0.children.count > 2 }) { return false }
        let isNamed =
            name == "header" || ["navigation", "banner", "contentinfo", "search", "menu"].contains(attributes["role"])
            || ["header", "top"].contains(attributes["id"])
            || (classes + [attributes["id"] ?? ""]).contains {
                PageWords.of($0).last.map(PageWords.frames.contains) ?? false
            }
            || PageWords.asides.contains { (children.first?.text.prefix(60).lowercased() ?? "").contains($0) }
        return isNamed && !ancestors.contains { ["article", "li", "tr"].contains($0.name) }
            && !inside.contains { ["h1", "main"].contains($0.name) }
    }()

    /// Whether the element is a table's line of headings: all cells are, or each holds nothing but bold text.
    var isHeading: Bool {
        children.count > 1
            && (parent?.name == "thead"
                || children.allSatisfy { cell in
                    cell.name == "th" || cell.classes.contains { PageWords.of($0).first == "header" }
                        || (["b", "strong"].contains(cell.children.first?.name)
                            && cell.children.first?.text == cell.text)
                })
    }

    /// The elements of the content, without frames and what stands in them.
    var content: [PageElement] { children.flatMap { $0.isFrame ? [] : [$0] + $0.content } }
}

/// The tests for classes that find the same elements among some, each as short as the others permit.
final class ClassTests {
    /// The attributes `class` of the elements of each name.
    private var attributes: [String: Set<String>] = [:]
    private var counts: [String: Int] = [:]
    private var known: [String: String] = [:]

    init(_ elements: [PageElement]) {
        for element in elements {
            if let text = element.attributes["class"] { attributes[element.name, default: []].insert(text) }
            for token in element.classes { counts["\(element.name).\(token)", default: 0] += 1 }
        }
    }

    /// Returns how many of the elements of a name have a class.
    func count(_ token: String, _ name: String) -> Int { counts["\(name).\(token)"] ?? 0 }

    func test(_ token: String, _ name: String) -> String {
        let id = "\(name).\(token)"
        if let test = known[id] { return test }
        let similar = (attributes[name] ?? []).filter { $0.contains(token) }
        let isOnly = similar.allSatisfy { $0.split(whereSeparator: \.isWhitespace).contains { $0 == token } }
        let test =
            isOnly
            ? "contains(@class, '\(token)')"
            : similar.allSatisfy { text in
                text == token || !text.split(whereSeparator: \.isWhitespace).contains { $0 == token }
            } ? "@class='\(token)'" : "contains(concat(' ', normalize-space(@class), ' '), ' \(token) ')"
        known[id] = test
        return test
    }
}

/// The words that pages use as class, attribute and heading of a column.
enum PageWords {
    /// Returns `product`, `price` of `product__price` and `productPrice`.
    static func of(_ text: String) -> [String] {
        var (words, word, wasLower) = ([String](), "", false)
        for character in text {
            if !(character.isLetter || character.isNumber) || (character.isUppercase && wasLower) {
                words.append(word)
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            wasLower = character.isLowercase
        }
        return (words + [word]).filter { !$0.isEmpty }
    }

    static let frames: Set<String> = [
        "nav", "navbar", "navigation", "menu", "breadcrumb", "breadcrumbs", "pagination", "pager", "sidebar", "footer",
        "masthead", "cookie", "cookies", "consent", "legend", "facets", "filter", "filters", "related", "similar",
        "recommendations", "upsell", "upsells", "reviews", "comments", "share", "social", "swatches", "modal", "tabs",
        "slider", "carousel",
    ]
    /// What shops write above goods that belong to no list.
    static let asides = [
        "recently viewed", "also bought", "also like", "related products", "recommended for you", "zuletzt angesehen",
        "auch gefallen", "kauften auch", "ähnliche artikel",
    ]
    /// What moves whenever somebody looks.
    static let counters: Set<String> = [
        "visitor", "visitors", "visits", "counter", "hits", "viewers", "viewing", "statistics", "clock", "besucher",
    ]
    /// The colours of lamps, as classes say them.
    static let colours: Set<String> = ["green", "red", "yellow", "orange", "amber", "grey", "gray", "danger"]
    static let id: Set<String> = [
        "id", "uid", "uuid", "guid", "key", "sku", "pid", "asin", "ean", "gtin", "code", "nr", "number", "adid", "slug",
    ]
    static let place: Set<String> = ["index", "position", "idx", "row", "order", "column", "page", "list", "track"]
    static let title: Set<String> = [
        "title", "name", "heading", "headline", "subject", "summary", "product", "article", "service", "job",
        "component",
        "position", "description", "destination", "ziel", "linie", "monitor", "project", "check", "titel",
        "bezeichnung", "artikel", "produkt",
        "stelle",
    ]
    static let state: Set<String> = [
        "status", "state", "health", "availability", "stock", "result", "conclusion", "phase", "verfügbarkeit",
        "zustand",
        "bestand", "lagerbestand", "verfuegbarkeit", "badge", "inventory",
    ]
    static let price: Set<String> = ["price", "preis", "prix", "precio", "prezzo", "amount", "cost", "kosten"]
    static let noPrice: Set<String> = [
        "old", "was", "before", "strike", "rrp", "compare", "msrp", "uvp", "original", "saving", "savings", "discount",
        "currency", "symbol", "cents", "decimal", "fraction", "whole", "unit", "label", "regular", "tax",
    ]
    static let time: Set<String> = [
        "date", "time", "datetime", "datum", "zeit", "uhrzeit", "abfahrt", "ankunft", "published", "posted", "updated",
        "created", "released", "when",
    ]
    /// What is other at each poll.
    static let volatile: Set<String> = [
        "last", "updated", "ago", "uptime", "latency", "duration", "load", "cpu", "memory", "response", "checked",
        "seen",
        "refreshed", "elapsed", "next", "usage", "views", "comments", "time", "ping", "traffic", "count", "attempt",
    ]
    static let field: Set<String> = [
        "location", "company", "author", "version", "category", "brand", "severity", "priority", "region", "city",
        "department", "salary", "type", "ort", "firma", "sku", "condition", "address", "deadline",
    ]
    /// States that need no name to be known.
    static let states: Set<String> = [
        "ok", "up", "down", "online", "offline", "running", "stopped", "operational", "degraded", "good", "warning",
        "critical", "error", "failed", "failure", "failing", "passed", "passing", "success", "available", "unavailable",
        "sold", "sold out", "in stock", "out of stock", "open", "closed", "healthy", "unhealthy", "active", "inactive",
        "unknown", "pending", "queued", "maintenance", "disabled", "enabled", "reserved", "auf lager", "ausverkauft",
        "outage", "performance", "disruption", "normal", "warn", "fail", "err", "alive", "dead", "exited", "ready",
        "yes", "no", "issue", "issues", "incident", "incidents", "degradation", "lieferbar", "verfügbar", "geöffnet",
        "geschlossen", "störung", "gestört", "betrieb", "succeeded", "building", "scheduled", "cancelled", "delayed",
        "finished", "completed", "progress", "unstable", "delays", "suspended", "service", "true", "false", "✓", "✗",
        "✅", "❌", "🟢", "🔴",
        "🟡",
    ]

    /// True for `Partial Outage` and `status-ok`.
    static func areState(_ text: String) -> Bool {
        let words = of(text)
        return states.contains(text.lowercased()) || (words.count <= 3 && words.contains(where: states.contains))
    }
}
