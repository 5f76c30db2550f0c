// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises an XML document and its rows: the elements that repeat most and have a key.
struct XMLRecogniser {
    let tree: DOMTree

    init(_ tree: DOMTree) { self.tree = tree }

    var proposals: [Proposal] {
        let name = first("local-name(/*)") ?? ""
        switch name.lowercased() {
        case "rss", "rdf": return [Proposal("feed", .arrivals, because: "a feed in RSS")]
        case "feed", "entry": return isConnections ? [connections, atom] : [atom]
        case "list" where first("boolean(/list/*) and not(/list/*[not(self::file or self::directory)])") == "true":
            return [directory]
        default: break
        }
        let found = rows
        let states = found.prefix(XMLRecogniser.maximumRows).map { state(of: $0) != nil }
        // Rows with a state before more frequent ones without, such as the machines inside of reservations.
        let first = zip(found, states).first { $0.0.count * 2 >= found[0].count && $0.1 }?.0
        let ordered = (first.map { [$0] } ?? []) + found.filter { $0.path != first?.path }
        return ordered.map { proposal($0, root: name) }
    }

    /// Rows that are tried for a state.
    private static let maximumRows = 20

    /// The list of a directory as nginx writes it (`autoindex_format xml`).
    private var directory: Proposal {
        let count = values("/list/*", "").count
        var proposal = Proposal("xml", .presence, because: "the list of a directory")
        proposal.set("items", .text("/list/*"), "\(count) of them now")
        proposal.set("key", .text("."))
        proposal.set("title", .text("."))
        proposal.set("time", .text("@mtime"))
        return proposal
    }

    private var atom: Proposal { Proposal("feed", .arrivals, because: "a feed in Atom") }

    private var connections: Proposal {
        Proposal("connections", .arrivals, because: "the updates of IBM or HCL Connections")
    }

    /// True when the ids are Life Science Identifiers of Connections, or Connections is the generator.
    private var isConnections: Bool {
        first("boolean(/*/*[local-name()='entry']/*[local-name()='id'][starts-with(., 'urn:lsid:ibm.com:')])") == "true"
            || first("boolean(/*/*[local-name()='generator'][contains(., 'Connections')])") == "true"
    }

    // MARK: Rows

    private struct Row {
        /// The path from the root, as XPath.
        var path: String
        var count: Int
        var key: String
        var namespace: String
    }

    private static let keys = [
        "@id", "@href", "@key", "@uid", "@name", "id", "Id", "ID", "key", "Key", "guid", "uid", "name", "Name", "url",
        "loc",
        "link", "link/@href", "link/@path", "title",
    ]

    /// Repeated elements, the most frequent first, and of equally many the outermost.
    private var rows: [Row] {
        let all = (2...5).flatMap(paths).enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }
        return all.prefix(XMLRecogniser.maximumPaths).map(\.element).compactMap { path, namespace, count in
            let own = names(path, namespace, ending: ["Id", "ID", "Arn"])
            let text = isLeaf(path, namespace) ? ["."] : []
            let keys =
                Array(XMLRecogniser.keys.prefix { $0 != "name" }) + own + XMLRecogniser.keys.drop { $0 != "name" }
                + text
            guard let key = keys.first(where: { isUnique($0, path, namespace, count) }) else { return nil }
            return Row(path: path, count: count, key: XMLRecogniser.prefixed(key, namespace), namespace: namespace)
        }
    }

    /// Each path is tried with every key, through the whole document.
    private static let maximumPaths = 200

    /// Returns the paths of the elements at one depth with their number and namespace. A path through several namespaces is left
    /// out: a person must choose.
    private func paths(_ depth: Int) -> [(path: String, namespace: String, count: Int)] {
        guard let all = try? XPath("/*" + String(repeating: "/*", count: depth - 1)), let nodes = try? tree.nodes(all)
        else { return [] }
        let steps = (0..<depth).reversed().map {
            $0 == 0 ? "." : Array(repeating: "..", count: $0).joined(separator: "/")
        }
        let words = steps.map { "local-name(\($0)), ' ', namespace-uri(\($0)), ' | '" }.joined(separator: ", ")
        guard let place = try? XPath("concat(\(words))") else { return [] }
        var counts: [String: Int] = [:]
        for node in nodes.prefix(5000) { counts[(try? tree.texts(place, at: node))?.first ?? "", default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.compactMap { text, count in
            let parts = text.split(separator: "|").map { $0.split(separator: " ").map(String.init) }.filter {
                !$0.isEmpty
            }
            let namespace = parts.last?.dropFirst().first ?? ""
            guard parts.count == depth, parts.allSatisfy({ ($0.dropFirst().first ?? "") == namespace }) else {
                return nil
            }
            let path = parts.map { "/" + XMLRecogniser.prefixed($0[0], namespace) }.joined()
            return (path, namespace, count)
        }
    }

    private static func prefixed(_ name: String, _ namespace: String) -> String {
        guard !namespace.isEmpty else { return name }
        return name.split(separator: "/").map { step in "@.".contains(step.first ?? "@") ? String(step) : "x:" + step }
            .joined(separator: "/")
    }

    /// Returns the names of a row's children that end so, in the order of the document.
    private func names(_ path: String, _ namespace: String, ending ends: [String]) -> [String] {
        guard let children = xpath("(\(path))[1]/*", namespace), let name = try? XPath("local-name(.)"),
            let nodes = try? tree.nodes(children)
        else { return [] }
        let all = nodes.prefix(50).compactMap { (try? tree.texts(name, at: $0))?.first }
        var seen = Set<String>()
        return all.filter { name in ends.contains { name.hasSuffix($0) } && seen.insert(name).inserted }
    }

    /// True for rows that hold a text and no elements.
    private func isLeaf(_ path: String, _ namespace: String) -> Bool {
        values("boolean(\(path)/*)", namespace).first == "false"
    }

    private func isUnique(_ key: String, _ path: String, _ namespace: String, _ count: Int) -> Bool {
        let values = values(path + "/" + XMLRecogniser.prefixed(key, namespace), namespace)
        return values.count == count && Set(values).count == count && values.allSatisfy { !$0.isEmpty }
    }

    private func values(_ path: String, _ namespace: String) -> [String] {
        guard let path = xpath(path, namespace) else { return [] }
        return (try? tree.texts(path, at: tree.root)) ?? []
    }

    private func xpath(_ text: String, _ namespace: String) -> XPath? {
        guard !namespace.isEmpty else { return try? XPath(text) }
        guard let namespaces = try? XPathNamespaces([("x", namespace)]) else { return nil }
        return try? XPath(text, namespaces: namespaces)
    }

    private func first(_ text: String) -> String? { values(text, "").first }

    // MARK: A row's parts

    private static let titles = [
        "title", "name", "Name", "label", "summary", "@title", "@name", "Key", "loc", "description",
    ]
    private static let states = [
        "status", "state", "Status", "State", "phase", "health", "@status", "@state", "@phase",
    ]
    private static let links = ["link", "url", "loc", "@href", "@url", "href"]
    private static let times = [
        "updated", "modified", "published", "created", "LastModified", "lastmod", "date", "time", "launchTime",
        "@updated",
        "@time", "@mtime",
    ]

    private func proposal(_ row: Row, root: String) -> Proposal {
        let state = state(of: row)
        var proposal = Proposal(
            "xml", state == nil ? .presence : .state,
            because: "\(row.count) element\(row.count == 1 ? "" : "s") '\(row.path)'")
        proposal.set("items", .text(row.path), "\(row.count) of them now")
        proposal.set("key", .text(row.key), row.count > 1 ? "unique in all \(row.count)" : nil)
        let named = row.key == "." ? "." : tag(of: row) ?? part(XMLRecogniser.titles, row, where: { !$0.isEmpty })
        if let named { proposal.set("title", .text(named)) }
        if let state {
            let seen = Set(values("\(row.path)/\(state)", row.namespace)).sorted().prefix(4)
            proposal.set("state", .text(state), "now: \(seen.joined(separator: ", "))")
        }
        if let link = part(XMLRecogniser.links, row, where: { $0.contains("://") || $0.hasPrefix("/") }) {
            proposal.set("link", .text(link))
        }
        if let time = part(XMLRecogniser.times, row, where: { Timestamp(anyForm: $0) != nil }) {
            proposal.set("time", .text(time))
        }
        if let status = first("/*/@status"), ["ok", "success"].contains(status.lowercased()) {
            let pair = Proposal.Pair(name: "/*/@status", value: status)
            proposal.set("require", .map([pair]), "any other value means that the request failed")
        }
        if !row.namespace.isEmpty {
            proposal.set("namespaces", .map([Proposal.Pair(name: "x", value: row.namespace)]))
        }
        return proposal
    }

    /// The state of rows: a child of that name, or the name inside of `instanceState` and the like.
    private func state(of row: Row) -> String? {
        let nested = names(row.path, row.namespace, ending: ["State", "Status", "state", "status"]).flatMap {
            ["\($0)/name", "\($0)/Name", "\($0)/value", $0]
        }
        return part(XMLRecogniser.states + nested, row) { !$0.isEmpty && $0.count <= 40 }
    }

    /// The tag `Name` of a resource of EC2, which people know it by.
    private func tag(of row: Row) -> String? {
        let x = row.namespace.isEmpty ? "" : "x:"
        let tag = "\(x)tagSet/\(x)item[\(x)key='Name']/\(x)value"
        return values("\(row.path)/\(tag)", row.namespace).isEmpty ? nil : tag
    }

    /// Returns the first name that at least half of the rows have.
    private func part(_ names: [String], _ row: Row, where isGood: (String) -> Bool) -> String? {
        names.map { XMLRecogniser.prefixed($0, row.namespace) }.first { name in
            let values = values("\(row.path)/\(name)", row.namespace)
            return values.count * 2 >= row.count && values.count <= row.count && values.allSatisfy(isGood)
        }
    }
}
