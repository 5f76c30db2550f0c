// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The XPath expressions of one reading, in the order of their columns.
struct XPathColumns: ItemColumns {
    private(set) var paths: [XPath] = []
    private let namespaces: XPathNamespaces
    private let isHTML: Bool

    /// What an expression begins with that is a selector of CSS.
    static let selectorMark = "css:"

    /// - Parameter isHTML: whether names in selectors are in lower case.
    init(_ options: Options, isHTML: Bool = false) throws(OptionProblem) {
        self.isHTML = isHTML
        if options.map("namespaces").contains(where: { $0.name == "css" }) {
            throw OptionProblem(
                "namespaces", "css", detail: "'css:' begins a selector of CSS; choose another prefix for the namespace")
        }
        do throws(XPath.Invalid) {
            namespaces = try XPathNamespaces(options.map("namespaces").map { (prefix: $0.name, uri: $0.value) })
        } catch {
            throw OptionProblem(at: ["namespaces", error.subject], error.reason)
        }
    }

    mutating func add(_ text: String, _ place: [String]) throws(OptionProblem) -> Int {
        let path = try path(text, place)
        if place[0] == "key", path.isAbsolute {
            throw OptionProblem(
                at: place,
                "'\(text)' begins at the root of the document, so all items would have one key; write '.\(text)'")
        }
        paths.append(path)
        return paths.count - 1
    }

    /// - Parameter isRelative: whether a selector selects inside of an item, and not anywhere in the document.
    func path(_ text: String, _ place: [String], isRelative: Bool = true) throws(OptionProblem) -> XPath {
        let isSelector = text.hasPrefix(XPathColumns.selectorMark)
        let expression = isSelector ? try xpath(ofSelector: text, place, isRelative: isRelative) : text
        do throws(XPath.Invalid) {
            return try XPath(expression, namespaces: namespaces, written: text)
        } catch {
            throw OptionProblem(at: place, "'\(text)' is no XPath that can be read: \(error.reason)")
        }
    }

    private func xpath(
        ofSelector text: String, _ place: [String], isRelative: Bool
    ) throws(OptionProblem) -> String {
        do throws(CSSSelector.Unsupported) {
            let selector = String(text.dropFirst(XPathColumns.selectorMark.count))
            return try CSSSelector(selector, isRelative: isRelative, isHTML: isHTML).xpath
        } catch {
            throw OptionProblem(at: place, "'\(text)' cannot be translated into XPath: \(error.reason)")
        }
    }

    /// An expression that must yield nodes, as rows do.
    func nodes(_ text: String, _ place: [String]) throws(OptionProblem) -> XPath {
        let path = try path(text, place, isRelative: false)
        if path.result == .nodes { return path }
        let yield = path.result == .boolean ? "a truth value" : "a \(path.result.rawValue)"
        throw OptionProblem(at: place, "'\(path)' yields \(yield); '\(place[0])' needs nodes")
    }
}

/// A node of a tree as a row.
struct XPathRow: ItemRow {
    let node: DOMNode
    let tree: DOMTree
    let number: Int
    let paths: [XPath]

    func isNested(_ column: Int) -> Bool { false }

    /// The texts of a column, one for each node.
    private func texts(_ column: Int) throws(ReadError) -> [String] {
        do throws(DocumentError) { return try tree.texts(paths[column], at: node) } catch { throw ReadError(error) }
    }

    func first(_ column: Int) throws(ReadError) -> String? { try texts(column).first }

    func text(_ column: Int) throws(ReadError) -> String? { try texts(column).first { !$0.isEmpty } }

    func value(_ column: Int, isHTML: Bool) throws(ReadError) -> Value? {
        let texts = try texts(column)
        if texts.count > 1 { return .list(texts.map(TextLimit.bounded)) }
        return texts.first.map { .text(TextLimit.bounded($0)) }
    }
}
