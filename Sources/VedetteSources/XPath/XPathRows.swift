// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// What of a document is an item, and what of an item is its key, title, state and fields, as XPath.
struct XPathRows: Sendable {
    /// The rows; nil when the whole document is one item.
    let items: XPath?
    let mode: ReadingMode
    private let keys: [XPath]
    /// Of several the first that says something keys an item; else all do.
    private let keysAreAlternatives: Bool
    private let titles: [XPath]
    private let states: [XPath]
    private let link: XPath?
    private let time: XPath?
    private let fields: [(name: String, path: XPath)]
    private let notes: [(name: String, path: XPath)]
    private let measures: [(name: String, path: XPath)]
    private let following: XPath?
    private let verdict: XPathErrorDetection
    let identity: UInt64
    let fingerprints: [String: UInt64]

    /// What stands in for an option that is not written.
    struct Defaults {
        /// Nil: without `items` the whole document is one item.
        var items: String?
        var keys: [String]
        var titles: [String]
        var link: String?
        /// Names that the kind gives to fields of its own.
        var taken: Set<String> = []
        /// Further options that say how every field is read.
        var reading: [String] = []
    }

    init(_ reader: XPathOptions, _ standards: Defaults) throws(OptionProblem) {
        let options = reader.options
        if let given = try reader.nodes("items") {
            items = given
        } else if let standard = standards.items {
            items = try reader.path(standard, ["items"])
        } else {
            items = nil
        }
        keys = try reader.paths("key", standard: standards.keys)
        keysAreAlternatives = options.texts("key").isEmpty
        if let key = keys.first(where: \.isAbsolute) {
            throw XPathOptions.problem(
                ["key", key.text],
                "'\(key)' begins at the root of the document, so all items would have one key; write '.\(key)'")
        }
        titles = try reader.paths("title", standard: standards.titles)
        states = try reader.paths("state")
        if let given = try reader.path("link") {
            link = given
        } else if let standard = standards.link {
            link = try reader.path(standard, ["link"])
        } else {
            link = nil
        }
        time = try reader.path("time")
        var taken = standards.taken
        fields = try reader.named("fields", taken: &taken)
        notes = try reader.named("notes", taken: &taken)
        measures = try reader.named("measures", taken: &taken)
        following = try reader.path("next")
        verdict = try XPathErrorDetection(reader)
        mode = options.text("mode").flatMap(ReadingMode.init(rawValue:)) ?? .list
        let spaces = options.map("namespaces").sorted { $0.name < $1.name }.flatMap { [$0.name, $0.value] }
        identity = Digest.of(
            [items?.text ?? "", mode.rawValue] + keys.map(\.text) + spaces)
        var fingerprints = [
            "title": Digest.of(titles.map(\.text) + standards.reading),
            "state": Digest.of(states.map(\.text) + standards.reading),
        ]
        for (name, path) in fields { fingerprints[name] = Digest.of([path.text] + standards.reading) }
        self.fingerprints = fingerprints
    }

    var fieldNames: [String] { (fields + notes + measures).map(\.name) }

    func judge(_ tree: DOMTree) throws(ReadError) { try verdict.judge(tree) }

    func rows(_ tree: DOMTree) throws(DocumentError) -> [DOMNode] {
        guard let items else { return [tree.root] }
        return try tree.nodes(items)
    }

    /// - Parameters:
    ///   - number: the item's place in the page, from 1, for errors.
    ///   - fixed: the key of an item that needs none.
    func item(_ node: DOMNode, _ tree: DOMTree, base: WebURL?, number: Int, key fixed: String? = nil)
        throws(ReadError) -> Item
    {
        do throws(DocumentError) {
            var item = Item(key: fixed ?? "")
            if fixed == nil {
                guard let key = try key(node, tree) else { throw unkeyed(number) }
                item.key = key
            }
            for path in titles where item.title == nil { item.title = try first(path, node, tree) }
            item.state = try joined(states, node, tree)
            if let link, let text = try first(link, node, tree) { item.url = base?.resolving(text)?.text ?? text }
            if let time, let text = try first(time, node, tree) { item.time = Timestamp(anyForm: text) }
            for (name, path) in fields { item.fields[name] = try value(path, node, tree) }
            for (name, path) in notes { item.notes[name] = try value(path, node, tree) }
            for (name, path) in measures {
                let text = try first(path, node, tree)
                item.measures[name] = text.flatMap { Double($0)?.isFinite == true ? .text($0) : nil }
            }
            return item
        } catch {
            throw ReadError(error)
        }
    }

    /// The next page's address, absolute.
    ///
    /// - Parameter header: what a header says where the document says nothing.
    func next(_ tree: DOMTree, base: WebURL?, header: String? = nil) throws -> NextPage? {
        // A file has one page, whatever it says.
        guard let base, let reference = try following.flatMap({ try first($0, tree.root, tree) }) ?? header else {
            return nil
        }
        return try NextPage(reference, from: base)
    }

    private func unkeyed(_ number: Int) -> DocumentError {
        let names = keys.map { "'\($0)'" }.joined(separator: keysAreAlternatives ? " or " : " and ")
        return DocumentError(
            .wrongShape, "item number \(number) has no \(names), which is its key; check 'key' and 'items'")
    }

    private func key(_ node: DOMNode, _ tree: DOMTree) throws(DocumentError) -> String? {
        var parts: [String] = []
        for path in keys {
            let part = try first(path, node, tree)
            if let part { parts.append(part) }
            if keysAreAlternatives ? part != nil : part == nil { break }
        }
        let isWhole = keysAreAlternatives ? !parts.isEmpty : parts.count == keys.count
        return isWhole ? CompositeKey.joined(parts) : nil
    }

    private func joined(_ paths: [XPath], _ node: DOMNode, _ tree: DOMTree) throws(DocumentError) -> String? {
        var parts: [String] = []
        for path in paths { if let part = try first(path, node, tree) { parts.append(part) } }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    /// The first text that is not empty.
    private func first(_ path: XPath, _ node: DOMNode, _ tree: DOMTree) throws(DocumentError) -> String? {
        try tree.texts(path, at: node).first { !$0.isEmpty }.map(TextLimit.bounded)
    }

    private func value(_ path: XPath, _ node: DOMNode, _ tree: DOMTree) throws(DocumentError) -> Value? {
        let texts = try tree.texts(path, at: node)
        if texts.count > 1 { return .list(texts.map(TextLimit.bounded)) }
        return texts.first.map { .text(TextLimit.bounded($0)) }
    }
}
