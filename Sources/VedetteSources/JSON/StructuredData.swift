// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The objects of one type in the structured data of a page
/// (https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents), as shops write it for search engines.
struct StructuredData {
    /// The objects, each once; what a thing with offers costs is among its members.
    private(set) var objects: [JSON] = []
    /// A sentence for each block that is no JSON and does not name the type.
    private(set) var warnings: [String] = []

    private let type: String
    /// The types of the objects that were searched, for the error.
    private var types: [String] = []
    /// Objects that others refer to by `@id`.
    private var known: [String: JSON] = [:]

    private static let scripts = try? XPath(
        "//script[contains(translate(@type, 'ACDIJLNOPST', 'acdijlnopst'), 'application/ld+json')]")
    /// Blocks that are read.
    private static let maximumBlocks = 200
    /// Bytes of all blocks.
    private static let maximumBytes = 4 << 20
    private static let maximumDepth = 32
    /// What leads from a thing to others that the page is not about.
    private static let elsewhere: Set<String> = [
        "isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "itemReviewed", "review",
    ]

    /// - Parameter type: a type of https://schema.org, without the address.
    /// - Throws: when there is no such object, and when a block that names the type is no JSON.
    init(_ type: String, in tree: DOMTree, url: String) throws(ReadError) {
        self.type = type
        let blocks = try blocks(of: tree)
        for block in blocks { index(block, depth: 0) }
        var found: [JSON] = []
        for block in blocks { find(block, depth: 0, &found) }
        let things = merged(found)
        let address = things.count == 1 || url.utf8.count <= WebURL.longestBase ? url : nil
        objects = things.map { object in priced(object, address) }
        guard objects.isEmpty else { return }
        let others = Array(Set(types)).sorted().prefix(8).joined(separator: ", ")
        throw ReadError(
            .shape,
            blocks.isEmpty
                ? "the page has no structured data (a script of the type application/ld+json); the page has changed, or another one was sent"
                : "the structured data of the page has no '\(type)'\(others.isEmpty ? "" : ", but \(others)"); check 'json_ld'"
        )
    }

    private mutating func blocks(of tree: DOMTree) throws(ReadError) -> [JSON] {
        var (blocks, total) = ([JSON](), 0)
        for (number, text) in try StructuredData.texts(tree).enumerated() {
            total += text.utf8.count
            guard total <= StructuredData.maximumBytes else {
                throw ReadError(
                    .tooLarge, "the structured data of the page is longer than \(StructuredData.maximumBytes) bytes")
            }
            var bytes = Array(text.utf8)
            if let block = try? JSON(parsing: bytes) {
                blocks.append(block)
                continue
            }
            bytes = ScriptJSON.corrected(bytes)
            do throws(ReadError) {
                try JSONBody.check(&bytes)
                guard let block = try? JSON(parsing: bytes) else { throw ReadError(.tooLarge, "it is nested too deep") }
                blocks.append(block)
            } catch {
                let sentence = "block \(number + 1) of the page's structured data cannot be read: \(error.detail)"
                // Without it the list would only be shorter.
                if text.contains(type) { throw ReadError(error.failure, sentence) }
                warnings.append(sentence)
            }
        }
        return blocks
    }

    private static func texts(_ tree: DOMTree) throws(ReadError) -> [String] {
        guard let scripts else { return [] }
        do throws(DocumentError) {
            return try tree.nodes(scripts).prefix(maximumBlocks).map(tree.writtenText)
        } catch {
            throw ReadError(error)
        }
    }

    // MARK: Objects

    private mutating func index(_ value: JSON, depth: Int) {
        guard depth < StructuredData.maximumDepth else { return }
        for element in value.array ?? [] { index(element, depth: depth + 1) }
        guard let members = value.members else { return }
        if let id = value["@id"]?.string, !isReference(members), known[id] == nil { known[id] = value }
        for member in members { index(member.value, depth: depth + 1) }
    }

    private mutating func find(_ value: JSON, depth: Int, _ found: inout [JSON]) {
        guard depth < StructuredData.maximumDepth else { return }
        for element in value.array ?? [] { find(element, depth: depth + 1, &found) }
        guard let members = value.members, !isReference(members) else { return }
        let own = StructuredData.types(of: value)
        types += own
        if own.contains(type) {
            found.append(value)
            return
        }
        for member in members where !StructuredData.elsewhere.contains(member.name) {
            find(member.value, depth: depth + 1, &found)
        }
    }

    /// Whether an object has nothing but the name of another one.
    private func isReference(_ members: [JSON.Member]) -> Bool {
        members.allSatisfy { ["@id", "@type", "@context"].contains($0.name) }
    }

    private static func types(of value: JSON) -> [String] {
        (value["@type"]?.array ?? [value["@type"]].compactMap { $0 }).compactMap { $0.string.map(name) }
    }

    /// Returns the last part of a name of schema.org: `InStock` of `https://schema.org/InStock`.
    private static func name(_ text: String) -> String {
        text.lastIndex { "/#:".contains($0) }.map { String(text[text.index(after: $0)...]) } ?? text
    }

    /// Joins what several blocks say of one thing: objects with one `@id` are one (JSON-LD 1.1 §3.3).
    private func merged(_ found: [JSON]) -> [JSON] {
        var (objects, places) = ([JSON](), [String: Int]())
        for object in found {
            guard let id = object["@id"]?.string, let place = places[id], let members = objects[place].members else {
                if let id = object["@id"]?.string { places[id] = objects.count }
                objects.append(object)
                continue
            }
            let names = Set(members.map(\.name))
            objects[place] = .object(members + (object.members ?? []).filter { !names.contains($0.name) })
        }
        return objects
    }

    // MARK: Offers

    private struct Offer {
        var price: String?
        var currency: String?
        var availability: String?

        var amount: Double? { price.flatMap { WrittenNumber($0) }.flatMap { Double($0.plain) } }
        /// Whether it can be bought. A shop that says nothing sells.
        var isOpen: Bool { availability.map(Offer.open.contains) ?? true }

        private static let open: Set<String> = [
            "InStock", "InStoreOnly", "LimitedAvailability", "OnlineOnly", "PreSale", "PreOrder", "BackOrder",
            "MadeToOrder",
        ]
    }

    /// Returns an object with `price`, `currency` and `availability` of the cheapest offer that can be bought, else of the
    /// cheapest, and with the page's address, unless it has such members.
    /// - Parameter url: nil for an address that is too long to be repeated in each object.
    private func priced(_ object: JSON, _ url: String?) -> JSON {
        guard var members = object.members else { return object }
        let offers = object["offers"].map { self.offers($0, depth: 0) } ?? []
        // Amounts of several currencies cannot be compared.
        let alike = offers.filter { $0.currency == offers.first?.currency }
        let open = alike.filter(\.isOpen)
        let among = open.isEmpty ? alike : open
        let best = among.min { ($0.amount ?? .infinity) < ($1.amount ?? .infinity) }
        let own: [(String, String?)] = [
            ("price", best?.price), ("currency", best?.currency), ("availability", best?.availability), ("url", url),
        ]
        for (name, value) in own where object[name] == nil {
            if let value { members.append(JSON.Member(name: name, value: .string(value))) }
        }
        return .object(members)
    }

    /// Returns the single offers of an `Offer`, an `AggregateOffer`, or a list of them.
    private func offers(_ value: JSON, depth: Int) -> [Offer] {
        guard depth < 4 else { return [] }
        if let list = value.array { return list.flatMap { offers($0, depth: depth + 1) } }
        guard let members = value.members else { return [] }
        let offer = isReference(members) ? value["@id"]?.string.flatMap { known[$0] } ?? value : value
        let specifications = offer["priceSpecification"].map { $0.array ?? [$0] } ?? []
        // Beside a lowered price stands the one before.
        let specification =
            specifications.first { $0["priceType"]?.string?.hasSuffix("ListPrice") != true } ?? specifications.first
        func text(_ name: String, in object: JSON?) -> String? {
            object?[name]?.scalar.map { $0.trimmed() }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let own = Offer(
            price: text("price", in: offer) ?? text("lowPrice", in: offer) ?? text("price", in: specification),
            currency: text("priceCurrency", in: offer) ?? text("priceCurrency", in: specification),
            availability: text("availability", in: offer).map(StructuredData.name))
        let parts = offer["offers"].map { offers($0, depth: depth + 1) } ?? []
        guard parts.contains(where: { $0.price != nil }) else { return [own] }
        return parts.map { part in
            Offer(
                price: part.price, currency: part.currency ?? own.currency,
                availability: part.availability ?? own.availability)
        }
    }
}
