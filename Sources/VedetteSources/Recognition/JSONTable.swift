// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// An array of objects, or an object of objects, with the members that serve as key, title, state, link and time. Names are tried
/// from the most telling to the least, and count only where the values fit.
struct JSONTable {
    let path: [String]
    let rows: [JSON]
    /// What the name of an attribute begins with that one of the elements has in which a row stands.
    static let above = "/"
    /// The rows are the members of an object, whose names key them.
    let isMap: Bool
    /// The key; nil when no member is unique in all rows.
    let key: [String]?
    let state: [String]
    /// Of several the first that a row has.
    private let title: [String]
    private let link: String?
    private let time: String?

    /// - Parameters:
    ///   - areRecords: the rows are records of a stream, of which several may be about one item.
    ///   - later: the rows of a later response, by which a key that changes is found out; none where there is no such response.
    init(path: [String], rows: [JSON], isMap: Bool = false, areRecords: Bool = false, later: [JSON] = []) {
        (self.path, self.rows, self.isMap) = (path, rows, isMap)
        let columns = TableColumns(rows: rows, later: later)
        let own = areRecords ? columns.ownID.map { [$0] } : nil
        key = isMap ? ["$name"] : own ?? columns.key(of: path.last ?? "")
        state = columns.state
        title = columns.title(else: key, besides: state)
        // What programs read is no page for people.
        link = columns.first(JSONNames.link) { text in
            (text.hasPrefix("http") || text.hasPrefix("/")) && !text.contains("/api/") && !text.hasSuffix(".json")
        }
        // A small number is a length of time.
        time = columns.first(JSONNames.time) { Timestamp(anyForm: $0) != nil && (Double($0) ?? 1e9) > 1e8 }
    }

    /// First things with a state, then the table of which most is recognised, then the longest.
    var rank: [Int] { [areThings ? 1 : 0, richness, rows.count] }

    /// The number of parts of an item that were found; several rows count as one more, since a single one may be a remark.
    private var richness: Int {
        [title.first, link, time].compactMap { $0 }.count + (state.isEmpty ? 0 : 1) + (rows.count > 1 ? 1 : 0)
    }

    /// Whether the rows are things with a name and a state, and not what happened to them.
    private var areThings: Bool {
        let list = JSONNames.letters(path.last ?? "")
        return !title.isEmpty && !state.isEmpty && !JSONNames.happenings.contains(where: list.hasSuffix)
    }

    /// A time that falls from row to row, which means that the newest rows come first.
    private var falling: String? {
        guard rows.count > 1 else { return nil }
        return ([time].compactMap { $0 } + TableColumns(rows: rows).resolved(JSONNames.time)).first { path in
            let times = rows.compactMap { $0.at(JSONNames.steps(path))?.scalar.flatMap(Timestamp.init(anyForm:)) }
            guard times.count == rows.count, let first = times.first, let last = times.last else { return false }
            return first > last && zip(times, times.dropFirst()).allSatisfy { $0 >= $1 }
        }
    }

    /// Whether the newest rows come first, by a time or by numbers that the server counts up.
    var isNewestFirst: Bool {
        let ids =
            key.map { key in rows.compactMap { $0.at(JSONNames.steps(key[0]))?.scalar.flatMap { Int64($0) } } } ?? []
        return falling != nil
            || ids.count > 2 && ids.count == rows.count && zip(ids, ids.dropFirst()).allSatisfy { $0 > $1 }
    }

    /// Proposes the only row as the one item of the document; nil where it says nothing.
    func single(as kind: String, because reason: String = "one object", least: Int = 2) -> Proposal? {
        let texts = texts
        guard !state.isEmpty || texts.count >= least else { return nil }
        var proposal = Proposal(kind, state.isEmpty ? .fields(texts.map(\.name)) : .state, because: reason)
        if state.isEmpty {
            proposal.set("fields", .map(texts))
        } else {
            describe(&proposal, isWindow: false, isSingle: true)
        }
        return proposal
    }

    /// Proposes an object of few values, such as measures or a version, with the first five as fields; nil for any other.
    /// - Parameter words: members that are about the response.
    func scalars(as kind: String, besides words: Set<String>) -> Proposal? {
        guard let members = rows.first?.members,
            members.allSatisfy({ $0.value.members == nil && $0.value.array == nil })
        else { return nil }
        // What a server says in place of a value, and what it would be called.
        let others = words.union(["message", "detail", "title", "name"])
        let names = TableColumns(rows: rows).own.filter { member in
            guard !others.contains(member.name), let text = member.value.scalar, !text.isEmpty else { return false }
            if let number = Double(text) { return abs(number) < 1e8 }
            // 1.2.30 is a day, too.
            return text.count <= 80 && (Timestamp(anyForm: text) == nil || member.name.lowercased().contains("version"))
        }.map(\.name)
        var seen = Set<String>()
        let fields = names.map { Proposal.Pair(name: JSONNames.fieldName($0), value: $0) }
            .filter { seen.insert($0.name).inserted }.prefix(5)
        guard !fields.isEmpty else { return nil }
        var proposal = Proposal(kind, .fields(fields.map(\.name)), because: "one object")
        proposal.set("fields", .map(Array(fields)))
        return proposal
    }

    /// - Parameters:
    ///   - isWindow: the rows are the newest of a longer list.
    ///   - isSingle: the only row is the whole document, which needs no key.
    func describe(_ proposal: inout Proposal, isWindow: Bool, isSingle: Bool = false) {
        let time = isWindow ? falling ?? time : time
        if let key, !isMap, !isSingle {
            let remark = rows.count > 1 && isKeyUnique ? "unique in all \(rows.count)" : nil
            proposal.set("key", key.count == 1 ? .text(key[0]) : .list(key), remark)
        }
        if let first = title.first {
            proposal.set("title", title.count == 1 ? .text(first) : .list(title))
            if proposal.kind == "json", isHTML(first) { proposal.set("html", .list(["title"]), "read as plain text") }
        }
        if !state.isEmpty {
            let seen = TableColumns(rows: rows).values(state).prefix(4).joined(separator: ", ")
            proposal.set("state", state.count == 1 ? .text(state[0]) : .list(state), "now: \(seen)")
        }
        if let link { proposal.set("link", .text(link)) }
        if let time { proposal.set("time", .text(time)) }
        let fields = fields(besides: time)
        if !fields.isEmpty { proposal.set("fields", .map(fields)) }
    }

    private func isHTML(_ path: String) -> Bool {
        rows.contains { $0.at(JSONNames.steps(path))?.string.map { Array($0.utf8).containsEndTag } == true }
    }

    /// Whether the rows were XML, whose attributes have names that begin with `@`.
    var isFromXML: Bool { rows[0].members?.contains { $0.name.hasPrefix("@") } ?? false }

    /// Whether a list with that name holds things with this one, as `entities` and `entity`.
    static func isList(_ list: String, of name: String) -> Bool {
        let plural = JSONNames.letters(list)
        let singulars = [String(plural.dropLast()), String(plural.dropLast(2)), String(plural.dropLast(3)) + "y"]
        return plural.hasSuffix("s") && singulars.contains(JSONNames.letters(name))
    }

    /// Whether each row has another key.
    var isKeyUnique: Bool { key.map(TableColumns(rows: rows).isUnique) ?? false }

    /// Returns up to three further members that describe a row and change seldom.
    private func fields(besides time: String?) -> [Proposal.Pair] {
        let used = Set(
            (key ?? []) + state + title + [link, time].compactMap { $0 }
                + (title.first?.split(whereSeparator: "{}".contains) ?? []).map(String.init))
        let columns = TableColumns(rows: rows)
        let prices = columns.own.map(\.name).filter { name in
            PageRows.isPrice(PageWords.of(name)) && columns.isUsual(name)
        }.map { (name: "price", path: $0) }
        let found = prices + JSONNames.fields.filter { !used.contains($0.path) && columns.isLabel($0.path) }
        var seen = Set<String>()
        return found.filter { seen.insert($0.name).inserted }.prefix(3)
            .map { Proposal.Pair(name: $0.name, value: $0.path) }
    }

    /// Returns up to five members of a single object that are short texts and no times; of the object for the present, as
    /// weather services have it, the numbers too.
    var texts: [Proposal.Pair] {
        guard let members = rows.first?.members else { return [] }
        if let now = members.first(where: { ["current", "now", "latest"].contains($0.name) }),
            let values = now.value.members
        {
            let names = values.filter { value in
                value.value.scalar.map { Double($0) != nil || Timestamp(anyForm: $0) == nil } ?? false
            }.map(\.name).filter { !$0.contains(".") && $0 != "interval" }
            return names.prefix(5).map { Proposal.Pair(name: JSONNames.fieldName($0), value: "\(now.name).\($0)") }
        }
        let columns = TableColumns(rows: rows)
        let own = columns.own
        let texts = own.filter { $0.value.string != nil }
        // What an appliance says of its parts stands one level below.
        let names = (texts.count > 1 ? texts : texts + columns.inside(own)).filter { member in
            guard let text = member.value.string else {
                return member.name.contains(".") && ["true", "false"].contains(member.value.scalar)
            }
            return !text.isEmpty && text.count <= 80 && !["title", "name"].contains(member.name)
                && Timestamp(anyForm: text) == nil
        }
        return names.prefix(5).map { Proposal.Pair(name: JSONNames.fieldName($0.name), value: $0.name) }
    }
}

extension JSON {
    /// Creates the value that a text without types stands for.
    init(written text: String) {
        switch text {
        case "": self = .null
        case "true", "false": self = .bool(text == "true")
        case _ where text.contains(where: \.isNumber) && Double(text) != nil: self = .number(text)
        default: self = .string(text)
        }
    }
}

extension [UInt8] {
    /// True when the text contains `</` and a letter.
    fileprivate var containsEndTag: Bool {
        indices.dropLast(2).contains { at in
            self[at] == UInt8(ascii: "<") && self[at + 1] == UInt8(ascii: "/")
                && (97...122).contains(self[at + 2] | 0x20)
        }
    }
}
