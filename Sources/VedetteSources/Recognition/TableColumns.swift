// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Tests which members of the rows may serve as what.
struct TableColumns {
    let rows: [JSON]
    let later: [JSON]
    /// The members of the first rows, in their order, but those whose names no path can be made of, and what rows stand in.
    let own: [JSON.Member]
    /// The objects in which rows say more about themselves: also those that are all of a row.
    private let wrappers: [JSON.Member]

    /// Members of rows that are looked at.
    private static let maximumMembers = 500

    init(rows: [JSON], later: [JSON] = []) {
        (self.rows, self.later) = (rows, later)
        var seen = Set<String>()
        let own = rows.prefix(20).flatMap { ($0.members ?? []).prefix(TableColumns.maximumMembers) }.filter { member in
            !member.name.contains { ".\\[]".contains($0) } && !member.name.hasPrefix(JSONTable.above)
                && seen.insert(member.name).inserted
        }
        let objects = own.filter { $0.value.members != nil }
        let areAll = objects.count == own.count && own.count < 3
        (self.own, wrappers) = (own, objects.filter { areAll || JSONNames.wrappers.contains($0.name) })
    }

    func inside(_ objects: [JSON.Member]) -> [JSON.Member] {
        objects.flatMap { outer in
            (outer.value.members ?? []).filter { !$0.name.contains(".") }
                .map { JSON.Member(name: "\(outer.name).\($0.name)", value: $0.value) }
        }
    }

    /// Members that, by the end of their own name, hold a name.
    private var names: [String] { (own + inside(wrappers)).map(\.name).filter(isName) }

    /// Names of what a row refers to, that differ.
    private var namesOfOthers: [String] {
        let known = Set(wrappers.map(\.name))
        let others = own.filter { object in
            let letters = JSONNames.letters(object.name)
            return !known.contains(object.name) && !JSONNames.foreign.contains(letters)
                && !["state", "status"].contains(where: letters.contains)
        }
        return inside(others).map(\.name).filter { isName($0) && values([$0]).count > 1 }
    }

    private func isName(_ path: String) -> Bool {
        let name = JSONNames.letters(path)
        return JSONNames.nameEnds.contains(where: name.hasSuffix) && !name.contains("branch")
    }

    /// Rows that are tested.
    private static let sample = 500

    /// Returns the title that most rows have, behind a name that fewer have, and what stands in where a row has neither.
    func title(else key: [String]?, besides state: [String]) -> [String] {
        let names = (self.names + namesOfOthers).filter { name in
            rows.allSatisfy { Double(value(name, $0) ?? "-") == nil }
        }
        // What the key says is better than nothing, unless it is one code that nobody reads.
        let last = resolved(JSONNames.lastTitle) + (key.map { $0.count > 1 || $0[0] == "text()" ? [$0[0]] : [] } ?? [])
        let known = resolved(JSONNames.title)
        let named = (known.filter { !JSONNames.prose.contains($0) } + names + known + last).filter {
            !state.contains($0)
        }
        func isName(_ path: String) -> Bool { ["title", "name"].contains(JSONNames.steps(path).last ?? "") }
        let usual = named.first(where: isUsual)
        let rare = named.prefix { $0 != usual }.first { path in
            isName(path) && rows.contains { value(path, $0)?.isEmpty == false }
        }
        var titles = [rare, usual].compactMap { $0 }
        // Builds of one name are told apart by their numbers, rows with a key of several parts by these.
        if rare == nil, let usual, values([usual]).count * 3 <= rows.count * 2 || last.contains(usual) {
            let number = first(JSONNames.number) { $0.count <= 20 && $0.contains(where: \.isNumber) }
            if let number, key != [usual], values([usual, number]).count == rows.count {
                return ["{{\(usual)}} #{{\(number)}}"]
            }
            if let key, key.count > 1, key.contains(usual), !known.contains(usual) {
                return [key.map { "{{\($0)}}" }.joined(separator: " ")]
            }
        }
        let others =
            named.filter { !JSONNames.prose.contains($0) } + (key?.count == 1 && key != ["$name"] ? key ?? [] : [])
        for path in others where !titles.isEmpty && titles.count < 3 {
            let missing = rows.filter { row in titles.allSatisfy { value($0, row)?.isEmpty ?? true } }
            if missing.contains(where: { value(path, $0)?.isEmpty == false }) { titles.append(path) }
        }
        return titles
    }

    func isUsual(_ path: String) -> Bool {
        let sample = rows.prefix(TableColumns.sample)
        return sample.count { value(path, $0)?.isEmpty == false } * 2 >= sample.count
    }

    func value(_ path: String, _ row: JSON) -> String? { row.at(JSONNames.steps(path))?.scalar }

    /// Returns a path as the rows write it, since some servers begin names with a capital letter; nil when no row has it.
    func resolved(_ path: String) -> String? {
        let wanted = JSONNames.steps(path).map { (name: $0, letters: JSONNames.letters($0)) }
        for row in rows.prefix(20) {
            var (value, steps) = (row, [String]())
            for step in wanted {
                if value.at([step.name]) != nil {
                    steps.append(step.name)
                } else if let name = value.members?.first(where: { JSONNames.letters($0.name) == step.letters })?.name {
                    steps.append(name)
                } else {
                    break
                }
                value = value.at([steps[steps.count - 1]]) ?? .null
            }
            if steps.count == wanted.count { return steps.joined(separator: ".") }
        }
        return nil
    }

    /// The paths that rows have, first of the rows themselves, then of the objects in which they say more.
    func resolved(_ names: [String]) -> [String] {
        names.compactMap(resolved)
            + wrappers.flatMap { wrapper in names.compactMap { resolved("\(wrapper.name).\($0)") } }
    }

    func first(_ paths: [String], where isGood: (String) -> Bool) -> String? {
        resolved(paths).first { path in
            let texts = rows.prefix(TableColumns.sample).compactMap { value(path, $0) }
            return texts.count * 2 >= min(rows.count, TableColumns.sample) && texts.allSatisfy(isGood)
        }
    }

    /// Returns the key of the rows of a list with that name: its own id before a name, and never a time or another thing's id.
    func key(of list: String) -> [String]? {
        let others = self.own.map(\.name)
        let own = others.filter { TableColumns.isID($0, of: list) }
        let ids = others.filter {
            ($0.lowercased().hasSuffix("id") || $0.lowercased() == "vm") && !TableColumns.isForeign($0)
        }
        let addresses = others.filter { name in ["url", "uri", "href"].contains { name.lowercased().hasSuffix($0) } }
        // The id that a row begins with is its own: the event's in a list that is called `result`.
        let leading = ids.filter { $0 == rows.first?.members?.first?.name }
        let certain = ids.filter(TableColumns.endsInWordID)
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
        let state = state
        if let text = texts.first(where: { isKey([$0]) && !state.contains($0) }) { return [text] }
        let above = (rows.first?.members ?? []).map(\.name).filter { name in
            name.hasPrefix(JSONTable.above) && !state.contains { name.hasSuffix($0) }
        }
        let steady = texts.prefix(8).filter { !state.contains($0) } + above.suffix(8)
        let pairs = steady.indices.flatMap { first in steady[(first + 1)...].map { [steady[first], $0] } }
        let triples = pairs.lazy.flatMap { pair in
            steady.drop { $0 != pair[1] }.dropFirst().map { pair + [$0] }
        }
        return pairs.first(where: isKey) ?? triples.first(where: isKey)
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
        let all = own + inside(wrappers)
        let named = all.filter { member in
            ["status", "state", "phase", "statusname"].contains(where: member.name.lowercased().hasSuffix)
        }
        let beside = all.filter { member in
            let name = member.name.lowercased()
            return ["state", "status"].contains(where: name.contains)
                && !JSONNames.besideState.contains(where: name.contains)
        }
        // `instanceState: {code: 16, name: running}`
        let inner = (named + beside).filter { $0.value.members != nil }.flatMap { outer in
            ["name", "value", "state", "status"].map { "\(outer.name).\($0)" }
        }
        let states = (resolved(JSONNames.state) + (named + beside).map(\.name) + resolved(inner)).filter {
            isState($0) && isUsual($0)
        }
        // A word before a sentence: `running` before `Up 2 hours`. And a health that differs before a status that all rows share.
        let words = states.filter(isWords)
        let flags = resolved(JSONNames.flags).filter(isFlag)
        // `finished` says less than `finished/FAILURE`.
        let pair = ["state", "status"].compactMap { name in words.first { $0.lowercased() == name } }
        if pair.count == 2, rows.contains(where: { value(pair[0], $0) != value(pair[1], $0) }) { return pair }
        let health = words.first { $0.lowercased() == "health" && values([$0]).count > 1 }
        // And a code that differs and is called the state before a word that all rows share.
        let code = states.first { ["state", "status"].contains($0.lowercased()) && values([$0]).count > 1 }
        let word = words.first.map { values([$0]).count == 1 ? health ?? code ?? $0 : $0 } ?? code
        guard
            let first = word ?? states.first ?? flags.first(where: { values([$0]).count > 1 }) ?? flags.first
                ?? resolved(JSONNames.qualities).first(where: isState) ?? own.map(\.name).first(where: saysStates)
        else { return [] }
        let second = ["conclusion", "result", "lastBuild.result", "state.result.name"].first { path in
            path != first && rows.contains { $0.at(JSONNames.steps(path)) != nil }
                && (rows.allSatisfy { value(path, $0) == nil } || isState(path))
        }
        return second.map { [first, $0] } ?? [first]
    }

    /// True for a member whose name tells nothing, and most of whose values are words of states.
    private func saysStates(_ path: String) -> Bool {
        let seen = values([path])
        return seen.count > 1 && seen.count < rows.count && seen.count <= 12 && isUsual(path) && isWords(path)
            && !JSONNames.nameEnds.contains(where: path.hasSuffix)
            && seen.count { PageWords.areState($0) && JSON(written: $0).string != nil } * 2 >= seen.count
    }

    private func isWords(_ path: String) -> Bool {
        rows.prefix(TableColumns.sample).compactMap { value(path, $0) }.allSatisfy { text in
            text.split(separator: " ").count <= 2 && !text.contains(where: \.isNumber)
        }
    }

    private func isFlag(_ path: String) -> Bool {
        isUsual(path) && values([path]).allSatisfy(["true", "false", "0", "1"].contains)
    }

    /// True for a member with few distinct short words.
    private func isState(_ path: String) -> Bool {
        let all = rows.prefix(TableColumns.sample).compactMap { value(path, $0) }
        // Beside words numbers are states too: a sensor's beside a lamp's.
        let words = all.filter { Double($0) == nil }
        let texts = words.isEmpty ? all : words
        let distinct = Set(texts)
        guard !texts.isEmpty, distinct.allSatisfy({ !$0.isEmpty && $0.count <= 40 }) else { return false }
        let isNamed = ["state", "status"].contains(path.lowercased())
        // A few small numbers that rows share are codes, such as 0 to 3 of monitoring plugins; others are counters.
        if words.isEmpty {
            guard distinct.count <= 5, distinct.count < texts.count,
                distinct.allSatisfy({ Int($0).map { isNamed || (-1...20).contains($0) } ?? false })
            else { return false }
        }
        return distinct.count <= 20
            && (texts.count <= 6 || distinct.count * 2 <= texts.count || isNamed && distinct.count <= 8)
    }

    /// True for a short text that most rows have and several share.
    func isLabel(_ path: String) -> Bool {
        let texts = rows.prefix(TableColumns.sample).compactMap { row -> String? in
            row.at(JSONNames.steps(path))?.string
        }
        guard texts.count * 2 >= min(rows.count, TableColumns.sample), !texts.isEmpty else { return false }
        return texts.allSatisfy { $0.count <= 80 } && (texts.count < 3 || Set(texts).count < texts.count)
    }
}
