// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises an XML document and its rows: the elements at each path, as a table of their attributes and children.
struct XMLRecogniser {
    /// An element, and what it stands in, from the root down.
    private typealias Element = (node: DOMNode, parents: [DOMNode])

    private let tree: DOMTree
    private var groups: [String: [Element]] = [:]
    private var elements = 0
    /// A prefix for each namespace, and each name with its element's prefix.
    private var prefixes: [(uri: String, prefix: String)] = []
    private var names: [String: String] = [:]
    private var attributeNamespaces: [String: String] = [:]
    private var plainAttributes: Set<String> = []

    /// Elements that are looked at, and paths that are tried.
    private static let maximumElements = 20_000
    private static let maximumPaths = 200

    init(_ tree: DOMTree) { self.tree = tree }

    var proposals: [Proposal] {
        guard let path = try? XPath("/*"), let root = try? tree.nodes(path).first else { return [] }
        switch root.name.lowercased() {
        case "rss", "rdf": return [Proposal("feed", .arrivals, because: "a feed in RSS")]
        case "feed", "entry": return isConnections ? [connections, atom] : [atom]
        case "list" where first("boolean(/list/*) and not(/list/*[not(self::file or self::directory)])") == "true":
            return [directory]
        default: break
        }
        var reader = self
        reader.note(attributesOf: root)
        reader.collect([root], "/" + reader.prefixed(root))
        reader.nameAttributes()
        return reader.tables(of: root)
    }

    /// The list of a directory as nginx writes it (`autoindex_format xml`).
    private var directory: Proposal {
        var proposal = Proposal("xml", .presence, because: "the list of a directory")
        proposal.set("items", .text("/list/*"), "\(first("count(/list/*)") ?? "0") of them now")
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

    private func first(_ text: String) -> String? {
        (try? XPath(text)).flatMap { try? tree.texts($0, at: tree.root).first }
    }

    // MARK: Rows

    private mutating func collect(_ parents: [DOMNode], _ path: String) {
        for child in parents[parents.count - 1].shownElements where elements < XMLRecogniser.maximumElements {
            elements += 1
            let place = path + "/" + prefixed(child)
            note(attributesOf: child)
            groups[place, default: []].append((child, parents))
            if parents.count < 4 { collect(parents + [child], place) }
        }
    }

    /// Returns the name of an element with the prefix of its namespace.
    private mutating func prefixed(_ node: DOMNode) -> String {
        var name = node.name
        if let uri = node.namespace { name = "\(prefix(of: uri)):\(name)" }
        if names[node.name] == nil { names[node.name] = name }
        return name
    }

    private mutating func note(attributesOf node: DOMNode) {
        let namespaces = node.attributeNamespaces
        for name in node.attributes.keys {
            if let uri = namespaces[name] {
                attributeNamespaces[name] = attributeNamespaces[name] ?? uri
            } else {
                plainAttributes.insert(name)
            }
        }
    }

    /// Names the attributes that have a namespace, as `rdf:about`. Where one is also written without, that one is meant.
    private mutating func nameAttributes() {
        for (name, uri) in attributeNamespaces.sorted(by: { $0.key < $1.key }) where !plainAttributes.contains(name) {
            names["@\(name)"] = "@\(prefix(of: uri)):\(name)"
        }
    }

    private mutating func prefix(of uri: String) -> String {
        // Every document has it, and no other prefix may stand for it (Namespaces in XML §3).
        if uri == "http://www.w3.org/XML/1998/namespace" { return "xml" }
        let place = prefixes.firstIndex { $0.uri == uri } ?? prefixes.count
        if place == prefixes.count { prefixes.append((uri, place < 3 ? ["x", "y", "z"][place] : "n\(place)")) }
        return prefixes[place].prefix
    }

    private func tables(of root: DOMNode) -> [Proposal] {
        func depth(_ path: String) -> Int { path.count { $0 == "/" } }
        let tried = groups.sorted { ($1.value.count, depth($0.key), $0.key) < ($0.value.count, depth($1.key), $1.key) }
            .prefix(XMLRecogniser.maximumPaths)
        let tables = tried.map { path, elements in
            // The name of a list, of which a row's name is the singular.
            (path, JSONTable(path: ["\(elements[0].node.name)s"], rows: elements.map(row)))
        }.filter { $0.1.key != nil && ($0.1.rows.count > 1 || !$0.1.state.isEmpty) }
        let ranked = tables.sorted { first, second in
            let (ranks, others) = (first.1.rank + [-depth(first.0)], second.1.rank + [-depth(second.0)])
            return ranks == others ? first.0 < second.0 : others.lexicographicallyPrecedes(ranks)
        }
        let found = ranked.map {
            proposal($0.1, $0.0, "\($0.1.rows.count) element\($0.1.rows.count == 1 ? "" : "s") '\($0.0)'")
        }
        guard ranked.first?.1.rows.count ?? 1 == 1 else { return found }
        let whole = JSONTable(path: [], rows: [row((root, []))])
        return whole.single(as: "xml").map { [mapped($0, key: "local-name()")] + found } ?? found
    }

    /// Returns an element as an object: its attributes, its children, and the attributes of what it stands in, for a key.
    private func row(_ element: Element) -> JSON {
        var members = members(of: element.node, isOuter: true)
        for (level, parent) in element.parents.reversed().enumerated() {
            let up = String(repeating: JSONTable.above, count: level + 1)
            members += parent.attributes.sorted { $0.key < $1.key }.map {
                JSON.Member(name: up + "@" + $0.key, value: .string($0.value))
            }
        }
        return .object(members)
    }

    private func members(of node: DOMNode, isOuter: Bool) -> [JSON.Member] {
        var found = node.attributes.sorted { $0.key < $1.key }.map {
            JSON.Member(name: "@\($0.key)", value: JSON(written: $0.value))
        }
        let children = node.shownElements
        // Of a child that repeats no path finds one.
        let counts = Dictionary(children.map { ($0.name, 1) }, uniquingKeysWith: +)
        for child in children where counts[child.name] == 1 && !child.name.contains(".") {
            if child.shownElements.isEmpty {
                found.append(JSON.Member(name: child.name, value: JSON(written: text(child))))
                found += child.attributes.sorted { $0.key < $1.key }.map {
                    JSON.Member(name: "\(child.name)/@\($0.key)", value: JSON(written: $0.value))
                }
            } else if isOuter {
                found.append(JSON.Member(name: child.name, value: .object(members(of: child, isOuter: false))))
            }
        }
        if isOuter, children.isEmpty {
            found.append(JSON.Member(name: XMLRecogniser.ownText, value: .string(text(node))))
        }
        return found
    }

    private static let ownText = "text()"

    private func text(_ node: DOMNode) -> String {
        (try? XPath(".")).flatMap { try? tree.texts($0, at: node).first } ?? ""
    }

    // MARK: Proposals

    private func proposal(_ table: JSONTable, _ path: String, _ reason: String) -> Proposal {
        var proposal = Proposal("xml", table.state.isEmpty ? .presence : .state, because: reason)
        proposal.set("items", .text(path), "\(table.rows.count) of them now")
        table.describe(&proposal, isWindow: false)
        if let status = first("/*/@status"), ["ok", "success"].contains(status.lowercased()) {
            let pair = Proposal.Pair(name: "/*/@status", value: status)
            proposal.set("require", .map([pair]), "any other value means that the request failed")
        }
        return mapped(proposal, tag: tag(path))
    }

    /// Returns a proposal with its paths as XPath.
    /// - Parameter key: the key of a row that has none.
    private func mapped(_ proposal: Proposal, key: String? = nil, tag: String? = nil) -> Proposal {
        var proposal = proposal
        for index in proposal.options.indices {
            let option = proposal.options[index]
            if ["items", "require"].contains(option.name) { continue }
            if option.name == "title", let tag {
                proposal.options[index].value = .text(tag)
                continue
            }
            switch option.value {
            case .text(let path): proposal.options[index].value = .text(xpath(path))
            case .list(let paths): proposal.options[index].value = .list(paths.map(xpath))
            case .map(let pairs):
                proposal.options[index].value = .map(pairs.map { .init(name: $0.name, value: xpath($0.value)) })
            case .flag, .body: continue
            }
        }
        if let key { proposal.set("key", .text(key), "there is one") }
        let text = "\(proposal.options)"
        let used = prefixes.filter { text.contains("\($0.prefix):") }
        if !used.isEmpty { proposal.set("namespaces", .map(used.map { .init(name: $0.prefix, value: $0.uri) })) }
        return proposal
    }

    /// Returns the XPath of a member, or of each in a template.
    private func xpath(_ path: String) -> String {
        if path.contains("{{") { return path.replacing(/{{(.*?)}}/) { "{{\(xpath(String($0.1)))}}" } }
        if path == XMLRecogniser.ownText { return "." }
        let up = path.prefix { JSONTable.above.contains($0) }
        let steps = path.dropFirst(up.count).split(separator: ".").flatMap { $0.split(separator: "/") }.map(String.init)
        return String(repeating: "../", count: up.count) + steps.map { names[$0] ?? $0 }.joined(separator: "/")
    }

    /// The tag `Name` of a resource of EC2, which people know it by.
    private func tag(_ path: String) -> String? {
        guard let tags = groups["\(path)/\(names["tagSet"] ?? "tagSet")"], !tags.isEmpty else { return nil }
        let item = ["tagSet", "item", "key", "value"].map { names[$0] ?? $0 }
        return "\(item[0])/\(item[1])[\(item[2])='Name']/\(item[3])"
    }
}
