// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// An array of objects, or an object of objects, with the members that serve as key, title, state, link and time. Names are tried
/// from the most telling to the least, and count only where the values fit.
struct JSONTable {
    let path: [String]
    let rows: [JSON]
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
        let columns = Columns(rows: rows, later: later)
        let own = areRecords ? columns.ownID.map { [$0] } : nil
        key = isMap ? ["$name"] : own ?? columns.key(of: path.last ?? "")
        state = columns.state
        title = columns.title(else: key)
        link = columns.first(JSONNames.link) { $0.contains("://") || $0.hasPrefix("/") }
        time = columns.first(JSONNames.time) { Timestamp(anyForm: $0) != nil }
    }

    /// The number of parts of an item that were found; several rows count as one more, since a single one may be a remark.
    var richness: Int {
        [title.first, link, time].compactMap { $0 }.count + (state.isEmpty ? 0 : 1) + (rows.count > 1 ? 1 : 0)
    }

    /// Whether the rows are things with a name and a state, and not what happened to them.
    var areThings: Bool {
        let list = JSONNames.letters(path.last ?? "")
        return !title.isEmpty && !state.isEmpty && !JSONNames.happenings.contains(where: list.hasSuffix)
    }

    /// A time that falls from row to row, which means that the newest rows come first.
    private var falling: String? {
        guard rows.count > 1 else { return nil }
        return ([time].compactMap { $0 } + Columns(rows: rows).resolved(JSONNames.time)).first { path in
            let times = rows.compactMap { $0.at(JSONNames.steps(path))?.scalar.flatMap(Timestamp.init(anyForm:)) }
            guard times.count == rows.count, let first = times.first, let last = times.last else { return false }
            return first > last && zip(times, times.dropFirst()).allSatisfy { $0 >= $1 }
        }
    }

    var isNewestFirst: Bool { falling != nil }

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
            if isHTML(first) { proposal.set("html", .list(["title"]), "read as plain text") }
        }
        if !state.isEmpty {
            let seen = Columns(rows: rows).values(state).prefix(4).joined(separator: ", ")
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
    var isKeyUnique: Bool { key.map(Columns(rows: rows).isUnique) ?? false }

    /// Returns up to three further members that describe a row and change seldom.
    private func fields(besides time: String?) -> [Proposal.Pair] {
        let used = Set((key ?? []) + state + title + [link, time].compactMap { $0 })
        let columns = Columns(rows: rows)
        let found = JSONNames.fields.filter { !used.contains($0.path) && columns.isLabel($0.path) }
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
        let names = members.map(\.name).filter { name in
            guard let text = rows[0][name]?.string, !name.contains("."), !name.contains("\\") else { return false }
            return !text.isEmpty && text.count <= 80 && !title.contains(name) && Timestamp(anyForm: text) == nil
        }
        return names.prefix(5).map { Proposal.Pair(name: JSONNames.fieldName($0), value: $0) }
    }
}

/// Tests which members of the rows may serve as what.
private struct Columns {
    let rows: [JSON]
    var later: [JSON] = []

    /// Members whose own name ends in `name` or `title`.
    var names: [String] {
        let members = rows.first?.members ?? []
        let inner = members.filter { JSONNames.wrappers.contains($0.name) }.flatMap { wrapper in
            (wrapper.value.members ?? []).map { (name: $0.name, path: "\(wrapper.name).\($0.name)") }
        }
        return (members.map { (name: $0.name, path: $0.name) } + inner).filter { name, _ in
            !name.contains(".") && ["name", "title"].contains { name.lowercased().hasSuffix($0) }
        }.map(\.path)
    }

    /// Rows that are tested.
    private static let sample = 500

    /// Returns the title that most rows have, behind a name that fewer have, and what stands in where a row has neither.
    func title(else key: [String]?) -> [String] {
        let named =
            resolved(JSONNames.title)
            + names.filter { name in rows.allSatisfy { Double(value(name, $0) ?? "-") == nil } }
        func isName(_ path: String) -> Bool { ["title", "name"].contains(JSONNames.steps(path).last ?? "") }
        let usual = named.first(where: isUsual)
        let rare = named.prefix { $0 != usual }.first { path in
            isName(path) && rows.contains { value(path, $0)?.isEmpty == false }
        }
        var titles = [rare, usual].compactMap { $0 }
        let others =
            named.filter { !JSONNames.prose.contains($0) } + (key?.count == 1 && key != ["$name"] ? key ?? [] : [])
        for path in others where !titles.isEmpty && titles.count < 3 {
            let missing = rows.filter { row in titles.allSatisfy { value($0, row)?.isEmpty ?? true } }
            if missing.contains(where: { value(path, $0)?.isEmpty == false }) { titles.append(path) }
        }
        return titles
    }

    private func isUsual(_ path: String) -> Bool {
        let sample = rows.prefix(Columns.sample)
        return sample.count { value(path, $0)?.isEmpty == false } * 2 >= sample.count
    }

    func value(_ path: String, _ row: JSON) -> String? { row.at(JSONNames.steps(path))?.scalar }

    /// Returns a path as the rows write it, since some servers begin names with a capital letter; nil when no row has it.
    func resolved(_ path: String) -> String? {
        for row in rows.prefix(20) {
            var (value, steps) = (row, [String]())
            for step in JSONNames.steps(path) {
                if value.at([step]) != nil {
                    steps.append(step)
                } else if let name = value.members?.map(\.name).first(where: { $0.lowercased() == step.lowercased() }) {
                    steps.append(name)
                } else {
                    break
                }
                value = value.at([steps[steps.count - 1]]) ?? .null
            }
            if steps.count == JSONNames.steps(path).count { return steps.joined(separator: ".") }
        }
        return nil
    }

    /// The paths that rows have, first of the rows themselves, then of the objects in which they say more.
    func resolved(_ names: [String]) -> [String] {
        let wrappers = (rows.first?.members ?? []).filter { $0.value.members != nil }.map(\.name)
            .filter(JSONNames.wrappers.contains)
        return names.compactMap(resolved)
            + wrappers.flatMap { wrapper in names.compactMap { resolved("\(wrapper).\($0)") } }
    }

    func first(_ paths: [String], where isGood: (String) -> Bool) -> String? {
        resolved(paths).first { path in
            let texts = rows.prefix(Columns.sample).compactMap { value(path, $0) }
            return texts.count * 2 >= min(rows.count, Columns.sample) && texts.allSatisfy(isGood)
        }
    }

    /// Returns the key of the rows of a list with that name: its own id before a name, and never a time or another thing's id.
    func key(of list: String) -> [String]? {
        let others = (rows.first?.members ?? []).map(\.name).filter { !$0.contains(".") && !$0.contains("\\") }
        let own = others.filter { Columns.isID($0, of: list) }
        let ids = others.filter {
            ($0.lowercased().hasSuffix("id") || $0.lowercased() == "vm") && !Columns.isForeign($0)
        }
        let addresses = others.filter { name in ["url", "uri"].contains { name.lowercased().hasSuffix($0) } }
        // The id that a row begins with is its own: the event's in a list that is called `result`.
        let leading = ids.filter { $0 == rows.first?.members?.first?.name }
        let certain = ids.filter(Columns.endsInWordID)
        for path in resolved(JSONNames.id) + own + leading + certain + resolved(JSONNames.key) + ids + addresses
        where isKey([path]) {
            return [path]
        }
        for pair in JSONNames.keyPairs.map(resolved) where pair.count == 2 && isKey(pair) { return pair }
        // The labels of an alert or a metric identify it together, and each row may have others.
        for name in ["labels", "metric"] {
            let texts = rows.compactMap { $0[name]?.members == nil ? nil : $0[name]?.text }
            if !rows.isEmpty, Set(texts).count == rows.count { return [name] }
        }
        let texts = others.filter { isText($0) && !isTime($0) }
        if let text = texts.first(where: { isKey([$0]) }) { return [text] }
        let steady = texts.prefix(8).filter { !state.contains($0) }
        let pairs = steady.indices.flatMap { first in steady[(first + 1)...].map { [steady[first], $0] } }
        return pairs.first(where: isKey)
    }

    /// True for `vmid`, `node_id`, `nodeId` and `VM`, false for `paid`: the own id of a row, which stays when its name changes.
    private static func endsInWordID(_ name: String) -> Bool {
        ["_id", "-id", "Id", "ID", "uuid", "vmid"].contains(where: name.hasSuffix) || name.lowercased() == "vm"
    }

    /// The id that every row has, unique or not.
    var ownID: String? {
        resolved(JSONNames.id).first { path in rows.allSatisfy { value(path, $0)?.isEmpty == false } }
    }

    /// True for members that are unique and, as far as a later response tells, stay: a time and a counter do not.
    private func isKey(_ paths: [String]) -> Bool {
        guard isUnique(paths) else { return false }
        guard !later.isEmpty, !rows.isEmpty else { return true }
        func keys(_ rows: [JSON]) -> Set<[String]> { Set(rows.map { row in paths.map { value($0, row) ?? "" } }) }
        return keys(rows).intersection(keys(later)).count * 2 >= min(rows.count, later.count)
    }

    /// True for `hostid`, `host_id` and `hostId` in `hosts`.
    private static func isID(_ name: String, of list: String) -> Bool {
        stem(of: name).map { JSONTable.isList(list, of: $0) } ?? false
    }

    /// True for the id of something that a row belongs to: `parent_id`, `userId`.
    private static func isForeign(_ name: String) -> Bool { stem(of: name).map(JSONNames.foreign.contains) ?? false }

    /// Returns `host` of `host_id`; nil when the name ends otherwise.
    private static func stem(of name: String) -> String? {
        let name = JSONNames.letters(name)
        if name.hasSuffix("arn") { return String(name.dropLast(3)) }
        return name.hasSuffix("id") ? String(name.dropLast(2)) : nil
    }

    private func isTime(_ path: String) -> Bool {
        rows.allSatisfy { value(path, $0).flatMap(Timestamp.init(anyForm:)) != nil }
    }

    func isUnique(_ paths: [String]) -> Bool {
        var seen = Set<[String]>()
        return rows.allSatisfy { row in
            let parts = paths.compactMap { value($0, row) }.filter { !$0.isEmpty }
            return parts.count == paths.count && seen.insert(parts).inserted
        }
    }

    /// True for texts; a number may change and would be another item.
    private func isText(_ path: String) -> Bool { rows.allSatisfy { $0.at([path])?.string != nil } }

    /// The distinct states, in order of appearance.
    func values(_ paths: [String]) -> [String] {
        var seen = Set<String>()
        return rows.map { row in paths.compactMap { value($0, row) }.filter { !$0.isEmpty }.joined(separator: "/") }
            .filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    var state: [String] {
        let named = (rows.first?.members ?? []).map(\.name).filter { name in
            !name.contains(".")
                && ["status", "state", "phase", "status_name", "statusname"].contains {
                    name.lowercased().hasSuffix($0)
                }
        }
        let beside = (rows.first?.members ?? []).map(\.name).filter { name in
            let name = name.lowercased()
            return !name.contains(".") && (name.contains("state") || name.contains("status"))
                && !JSONNames.besideState.contains(where: name.contains)
        }
        let states = (resolved(JSONNames.state) + named + beside).filter(isState)
        // A word before a sentence: `running` before `Up 2 hours`. And a health that differs before a status that all rows share.
        let words = states.filter(isWords)
        let health = words.first { $0.lowercased() == "health" && values([$0]).count > 1 }
        let word = words.first.map { values([$0]).count == 1 ? health ?? $0 : $0 }
        guard
            let first = word ?? states.first ?? resolved(JSONNames.flags).first(where: isFlag)
                ?? resolved(JSONNames.qualities).first(where: isState)
        else { return [] }
        let second = ["conclusion", "result", "lastBuild.result", "state.result.name"].first { path in
            path != first && rows.contains { $0.at(JSONNames.steps(path)) != nil }
                && (rows.allSatisfy { value(path, $0) == nil } || isState(path))
        }
        return second.map { [first, $0] } ?? [first]
    }

    private func isWords(_ path: String) -> Bool {
        rows.prefix(Columns.sample).compactMap { value(path, $0) }.allSatisfy { text in
            text.split(separator: " ").count <= 2 && !text.contains(where: \.isNumber)
        }
    }

    private func isFlag(_ path: String) -> Bool {
        rows.allSatisfy { row in
            guard let value = row.at(JSONNames.steps(path)), case .bool = value else { return false }
            return true
        }
    }

    /// True for a member with few distinct short words.
    private func isState(_ path: String) -> Bool {
        let all = rows.prefix(Columns.sample).compactMap { value(path, $0) }
        // Beside words numbers are states too: a sensor's beside a lamp's.
        let words = all.filter { Double($0) == nil }
        let texts = words.isEmpty ? all : words
        let distinct = Set(texts)
        guard !texts.isEmpty, distinct.allSatisfy({ !$0.isEmpty && $0.count <= 40 }) else { return false }
        // A few small numbers that rows share are codes, such as 0 to 3 of monitoring plugins; others are counters.
        if words.isEmpty {
            guard distinct.count <= 5, distinct.count < texts.count,
                distinct.allSatisfy({ Int($0).map { (-1...20).contains($0) } ?? false })
            else { return false }
        }
        let isNamed = ["state", "status"].contains(path.lowercased())
        return distinct.count <= 20
            && (texts.count <= 6 || distinct.count * 2 <= texts.count || isNamed && distinct.count <= 8)
    }

    /// True for a short text that most rows have and several share.
    func isLabel(_ path: String) -> Bool {
        let texts = rows.prefix(Columns.sample).compactMap { row -> String? in row.at(JSONNames.steps(path))?.string }
        guard texts.count * 2 >= min(rows.count, Columns.sample), !texts.isEmpty else { return false }
        return texts.allSatisfy { $0.count <= 80 } && (texts.count < 3 || Set(texts).count < texts.count)
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
