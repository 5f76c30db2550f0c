// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises in the scripts of a page what a shop sells: the structured data of products, or data that the page's own programs
/// read.
enum ScriptRecogniser {
    /// Bytes of a script that is looked at.
    private static let maximumBytes = 4 << 20
    /// Levels of objects, and objects of one script, that are looked at.
    private static let maximumDepth = 8
    private static let maximumObjects = 5000
    private static let scripts = "//script[translate(@type, 'ACIJLNOPST', 'acijlnopst') = 'application/json']"

    /// The likeliest first; none for a page that has no product in a script.
    static func proposals(_ tree: DOMTree, url: String) -> [Proposal] {
        if let products = products(tree, url) { return [products] }
        guard let path = try? XPath(scripts), let nodes = try? tree.nodes(path) else { return [] }
        return nodes.prefix(50).compactMap { node in
            guard let script = name(of: node) else { return nil }
            let text = tree.writtenText(node)
            guard text.utf8.count <= maximumBytes, let root = try? JSON(parsing: text.utf8) else { return nil }
            return product(in: root, of: script)
        }
    }

    private static func products(_ tree: DOMTree, _ url: String) -> Proposal? {
        guard let data = try? StructuredData("Product", in: tree, url: url) else { return nil }
        func values(_ name: String) -> [String] { data.objects.compactMap { $0[name]?.scalar } }
        let (prices, states) = (values("price"), values("availability"))
        guard !prices.isEmpty || !states.isEmpty else { return nil }
        let count = data.objects.count
        var proposal = Proposal(
            "json", states.isEmpty ? .fields(["price"]) : .state,
            because: count == 1
                ? "a page with the structured data of a product"
                : "a page with the structured data of \(count) products")
        proposal.set("json_ld", .text("Product"))
        if !states.isEmpty {
            proposal.set(
                "state", .text("availability"), "now: \(Set(states).sorted().prefix(4).joined(separator: ", "))")
        }
        let fields = ["price", "currency"].filter { !values($0).isEmpty }
        if !fields.isEmpty {
            proposal.set(
                "fields", .map(fields.map { Proposal.Pair(name: $0, value: $0) }),
                prices.first.map { "now: \($0.prefix(40))" })
        }
        return proposal
    }

    /// Returns the option `script` that names an element: its id, else the attribute that only it has.
    private static func name(of node: DOMNode) -> String? {
        let attributes = node.attributes
        if let id = attributes["id"], !id.isEmpty, !id.contains(where: { $0 == "'" || $0.isWhitespace }) { return id }
        return attributes.keys.filter { $0.hasPrefix("data-") }.min().map { "//script[@\($0)]" }
    }

    // MARK: Data of programs

    private typealias Place = (path: [String], value: JSON)

    /// Proposes the outermost object, else the outermost list, whose objects have a name and a price.
    private static func product(in root: JSON, of script: String) -> Proposal? {
        var level: [Place] = [([], root)]
        var left = maximumObjects
        while !level.isEmpty, left > 0, level[0].path.count < maximumDepth {
            if let found = level.first(where: { isProduct($0.value) }) {
                return proposal(found.path, [found.value], script)
            }
            for place in level {
                let rows = place.value.array ?? []
                if rows.count > 1, rows.allSatisfy(isProduct) { return proposal(place.path, rows, script) }
            }
            left -= level.count
            level = level.flatMap { place in
                (place.value.members ?? []).filter { isStep($0.name) }.map {
                    (path: place.path + [$0.name], value: $0.value)
                }
            }
        }
        return nil
    }

    private static func isStep(_ name: String) -> Bool { !name.isEmpty && !name.contains { ".\\*".contains($0) } }

    private static func isProduct(_ value: JSON) -> Bool {
        guard let members = value.members, ["name", "title"].contains(where: { value[$0]?.string?.isEmpty == false })
        else { return false }
        return members.contains { member in
            PageRows.isPrice(PageWords.of(member.name)) && member.value.scalar.map(PageRows.hasDigit) == true
        }
    }

    private static func proposal(_ path: [String], _ rows: [JSON], _ script: String) -> Proposal? {
        let table = JSONTable(path: path, rows: rows)
        guard table.key != nil else { return nil }
        let place = JSONPath(steps: path).description
        let things = rows.count == 1 ? "a product" : "\(rows.count) products"
        var proposal = Proposal(
            "json", table.state.isEmpty ? .fields(["price"]) : .state,
            because: "a page with the data of \(things) in the script '\(script)'")
        proposal.set("script", .text(script))
        if !path.isEmpty { proposal.set("items", .text(place)) }
        table.describe(&proposal, isWindow: false)
        proposal.remarks.append("The names in such data are the shop's own, and may change with its programs.")
        return proposal
    }
}
