// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The nodes of a page that a job selects.
struct JobSelection {
    /// Why a selection has no equal, as the end of a sentence.
    struct Unsupported: Error {
        var reason: String
    }

    var path: XPath
    /// Nodes that are removed before.
    var ignored: String?
    /// Whether the page is XML.
    var isXML = false
    /// Whether the order of the nodes does not matter.
    var isUnordered = false
    var namespaces: [(name: String, value: String)] = []

    /// The filters that select.
    static let filters: Set<String> = [
        "xpath", "css", "element-by-id", "element-by-class", "element-by-tag", "element-by-style",
    ]

    init(_ filter: JobFilter) throws(Unsupported) {
        isXML = filter.text("method") == "xml"
        isUnordered = filter.flag("sort")
        namespaces = JobValue.pairs(filter.settings["namespaces"])
        var text = try JobSelection.expression(filter)
        let first = filter.number("skip") ?? 0
        let most = filter.number("maxitems") ?? 0
        if first > 0 || most > 0 {
            let bounds =
                (first > 0 ? ["position() > \(first)"] : []) + (most > 0 ? ["position() <= \(first + most)"] : [])
            text = "(\(text))[\(bounds.joined(separator: " and "))]"
        }
        do throws(XPath.Invalid) {
            path = try XPath(text, namespaces: try XPathNamespaces(namespaces.map { (prefix: $0.name, uri: $0.value) }))
        } catch {
            throw Unsupported(reason: "'\(error.subject)': \(error.reason)")
        }
        ignored = try filter.text("exclude").map { text throws(Unsupported) in
            filter.name == "css" ? try JobSelection.xpath(ofCSS: text) : text
        }
    }

    private static func expression(_ filter: JobFilter) throws(Unsupported) -> String {
        let mains = [
            "css": "selector", "xpath": "path", "element-by-id": "id", "element-by-class": "class",
            "element-by-style": "style", "element-by-tag": "tag",
        ]
        let setting = mains[filter.name] ?? "path"
        guard let text = filter.text(setting, isMain: true), !text.isEmpty else {
            throw Unsupported(reason: "its '\(setting)' is missing")
        }
        switch filter.name {
        case "css": return try xpath(ofCSS: text)
        // The whole attribute is compared there, not a word of it.
        case "element-by-id", "element-by-class", "element-by-style":
            return "//*[@\(setting) = \(CSSSelector.literal(text))]"
        case "element-by-tag": return "//\(text.lowercased())"
        default: return text
        }
    }

    private static func xpath(ofCSS text: String) throws(Unsupported) -> String {
        do throws(CSSSelector.Unsupported) {
            return try CSSSelector(text).xpath
        } catch {
            throw Unsupported(reason: "'\(text)': \(error.reason)")
        }
    }
}
