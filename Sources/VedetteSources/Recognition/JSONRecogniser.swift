// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises a JSON document and its lists of items.
struct JSONRecogniser {
    let root: JSON
    let url: String
    /// The response's header names a next page.
    let hasNextLink: Bool
    /// A later response from the same address; nil for none.
    var later: JSON?

    /// Levels of members that are searched.
    private static let depth = 4

    var proposals: [Proposal] {
        let lists = lists
        var found = lists.compactMap(known)
        let tables = lists.filter { !$0.rows.isEmpty }.map { list in
            JSONTable(path: list.path, rows: list.rows, later: later?.at(list.path)?.array ?? [])
        }
        // Of equal ones the outermost comes first.
        let best = tables.filter { $0.key != nil }.sorted {
            ($1.rank + [-$1.path.count]).lexicographicallyPrecedes($0.rank + [-$0.path.count])
        }
        found += best.map(proposal)
        if found.isEmpty, case .bool? = ownState { found += maps.filter { !$0.state.isEmpty }.map(proposal) }
        if found.isEmpty, success.isEmpty { found += [single].compactMap { $0 }.filter { $0.hint == .state } }
        let ranked = maps.sorted { $1.rank.lexicographicallyPrecedes($0.rank) }
        // Things with states are more than a list that is empty beside them.
        if found.isEmpty { found += ranked.filter { !$0.state.isEmpty }.map(proposal) }
        if found.isEmpty { found += lists.filter { $0.rows.isEmpty }.prefix(1).map { empty($0.path) } }
        if found.isEmpty { found += ranked.map(proposal) }
        if found.isEmpty { found += texts(root, []).map(ofTexts) }
        if found.isEmpty, let rows = lists.first(where: { $0.rows.count > 1 }) {
            var response = Proposal("http", .state, because: "\(rows.rows.count) objects without a key")
            response.remarks.append(
                "No member of the objects\(JSONRecogniser.place(rows.path)), and no two, are unique in all of them: write 'items' and 'key' yourself, or make one by 'jq'. What is below shows only whether the server responds."
            )
            return [response]
        }
        if found.isEmpty {
            found += [single ?? whole?.scalars(as: "json", besides: Set(success.map(\.name)))].compactMap { $0 }
        }
        return found
    }

    /// The state of the whole object. A truth value says little beside a map of things that have states.
    private var ownState: JSON? {
        JSONTable(path: [], rows: [root]).state.first.flatMap { root.at(JSONNames.steps($0)) }
    }

    /// Proposes the whole object as one item; nil for an error in the place of one.
    private var single: Proposal? { whole?.single(as: "json") }

    /// The whole object; nil for an error in the place of one.
    private var whole: JSONTable? {
        func isTold(_ error: JSON?) -> Bool {
            error?.string?.isEmpty == false || error?.members != nil || error?.array?.isEmpty == false
        }
        guard let members = root.members, !members.isEmpty, !isTold(root["error"]), !isTold(root["errors"]) else {
            return nil
        }
        return JSONTable(path: [], rows: [root])
    }

    /// Every object whose members are objects that are alike.
    private var maps: [JSONTable] {
        var found: [JSONTable] = []
        searchMaps(root, [], &found)
        return found
    }

    private func searchMaps(_ value: JSON, _ path: [String], _ found: inout [JSONTable]) {
        guard path.count < JSONRecogniser.depth, let members = value.members, !members.isEmpty else { return }
        let rows = members.map(\.value)
        let names = rows.map { Set(($0.members ?? []).map(\.name)) }
        let common = names.dropFirst().reduce(names[0]) { $0.intersection($1) }
        if rows.count > 1, !common.isEmpty, rows.allSatisfy({ $0.members != nil }) {
            found.append(JSONTable(path: path, rows: rows, isMap: true))
        }
        for member in members where !member.name.isEmpty && !member.name.hasPrefix("_") {
            searchMaps(member.value, path + [member.name], &found)
        }
    }

    /// The paths of every list of different texts.
    private func texts(_ value: JSON, _ path: [String]) -> [(path: [String], count: Int)] {
        if let rows = value.array {
            // Whole numbers that are all different are ids.
            let texts = rows.compactMap { row in row.string ?? row.int64.map { String($0) } }
            // The times of measures that stand in lists beside.
            if rows.allSatisfy({ $0.string.flatMap(Timestamp.init(anyForm:)) != nil }) { return [] }
            return !rows.isEmpty && texts.count == rows.count && Set(texts).count == rows.count
                ? [(path, rows.count)] : []
        }
        guard path.count < JSONRecogniser.depth else { return [] }
        return (value.members ?? []).filter { !$0.name.isEmpty }.flatMap { texts($0.value, path + [$0.name]) }
    }

    private func ofTexts(_ list: (path: [String], count: Int)) -> Proposal {
        var proposal = Proposal(
            "json", .presence, because: "\(counted(list.count, "text"))\(JSONRecogniser.place(list.path))")
        if !list.path.isEmpty {
            proposal.set("items", .text(JSONPath(steps: list.path).description), "each text is an item's key")
        }
        return proposal
    }

    private typealias List = (path: [String], rows: [JSON])

    /// Every array of objects, empty arrays near the root, and objects in the place of an array.
    private var lists: [List] {
        var found: [List] = []
        search(root, [], &found)
        return found
    }

    private func search(_ value: JSON, _ path: [String], _ found: inout [List]) {
        if let rows = value.array {
            let isLikely = !rows.isEmpty || path.count <= 1 || JSONNames.envelopes.contains(path[0])
            if rows.allSatisfy({ $0.members != nil }), isLikely { found.append((path, rows)) }
            return
        }
        if value.members != nil, let name = path.last, let list = path.dropLast().last,
            JSONTable.isList(list, of: name)
        {
            found.append((path, [value]))
        }
        guard path.count < JSONRecogniser.depth else { return }
        // The links of HAL lead elsewhere.
        for member in value.members ?? [] where !member.name.isEmpty && member.name != "_links" {
            search(member.value, path + [member.name], &found)
        }
    }

    /// Recognises the appliances and services that have a kind of their own.
    private func known(_ list: List) -> Proposal? {
        guard !list.rows.isEmpty else { return nil }
        if list.rows.allSatisfy(JSONRecogniser.isVirtualSystem), list.path.isEmpty {
            return Proposal("cloudburst", .state, because: "the virtual systems of an IBM CloudBurst appliance")
        }
        if list.path == ["list"],
            list.rows.allSatisfy({ $0["id"]?.string?.hasPrefix("urn:lsid:lconn.ibm.com:") == true })
        {
            var proposal = Proposal("connections", .arrivals, because: "the activity stream of Connections")
            proposal.set("format", .text("json"))
            return proposal
        }
        return nil
    }

    /// True for a virtual system. Its machines have a status too, but no pattern.
    private static func isVirtualSystem(_ row: JSON) -> Bool {
        row["currentstatus"]?.string?.hasPrefix("RM") == true && row["id"] != nil && row["pattern"] != nil
    }

    /// Proposes a list that is empty now, such as incidents.
    private func empty(_ path: [String]) -> Proposal {
        var proposal = Proposal("json", .presence, because: "an empty list\(JSONRecogniser.place(path))")
        if !path.isEmpty { proposal.set("items", .text(JSONPath(steps: path).description)) }
        proposal.isOftenEmpty = true
        if path == ["data", "alerts"] {
            proposal.hint = .state
            proposal.set("key", .text("labels"), "as Prometheus has them")
            proposal.set("title", .list(["annotations.summary", "labels.alertname"]))
            proposal.set("state", .text("state"))
        } else {
            proposal.set("key", .text("id"), "a guess: the list is empty now")
            proposal.remarks.append("The list is empty now, so its fields are unknown: probe again when it has items.")
        }
        for pair in success { proposal.set("require", .map([pair]), "any other value means that the request failed") }
        return proposal
    }

    private static func place(_ path: [String]) -> String {
        path.isEmpty ? "" : " below '\(JSONPath(steps: path))'"
    }

    private func proposal(_ table: JSONTable) -> Proposal {
        let count = table.rows.count
        let noun = "\(count) object\(count == 1 ? "" : "s")\(JSONRecogniser.place(table.path))"
        let isWindow = table.isNewestFirst && (hasNextLink || next != nil)
        let hint: Proposal.RecognitionHint = !table.state.isEmpty ? .state : isWindow ? .arrivals : .presence
        var proposal = Proposal("json", hint, because: noun)
        if table.isMap {
            let path = table.path.isEmpty ? "." : JSONPath(steps: table.path).description
            proposal.set("map", .text(path), "\(count) of them now, keyed by their names")
        } else if !table.path.isEmpty {
            proposal.set("items", .text(JSONPath(steps: table.path).description), "\(count) of them now")
        }
        if !table.isMap, root.at(table.path)?.members != nil || table.isFromXML {
            proposal.set("null_is_empty", .flag(true), "one row is an object, and none is null")
        }
        table.describe(&proposal, isWindow: isWindow)
        // What happens is over at times.
        let name = JSONNames.letters(table.path.last ?? "")
        proposal.isOftenEmpty = name == "alerts" || JSONNames.happenings.contains(where: name.hasSuffix)
        if isWindow {
            proposal.set(
                "mode", .text("window"), "newest first, with further pages: an item on a later page is not gone")
        }
        if let next {
            proposal.set("next", .text(next), "the next page's address")
        } else if let cursor {
            proposal.set("paging", .map(cursor), "how the next page is asked for")
        }
        if hasNextLink {
            proposal.remarks.append("The next page is named by the Link header, which is followed anyway.")
        }
        for pair in success { proposal.set("require", .map([pair]), "any other value means that the request failed") }
        return proposal
    }

    private static let nextNames = [
        "next", "next_url", "nextUrl", "next_page_url", "nextPageUrl", "nextLink", "@odata.nextLink", "links.next",
        "links.next.href", "_links.next.href", "_links.next", "paging.next", "pagination.next", "meta.next",
        "pagination.next_url", "meta.next_page_url", "nextHref", "topic_list.more_topics_url",
    ]

    /// The path of the next page's address, also on the last page, where it is null.
    private var next: String? {
        JSONRecogniser.nextNames.first { name in
            let steps = name.hasPrefix("@") ? [name] : name.split(separator: ".").map(String.init)
            guard let value = root.at(steps) else { return false }
            if case .null = value { return true }
            guard let text = value.string else { return false }
            return text.contains("://") || text.hasPrefix("/") || text.hasPrefix("?")
        }.map { $0.hasPrefix("@") ? JSONPath(steps: [$0]).description : $0 }
    }

    /// The paths of cursors, and the parameter that takes each.
    private static let cursors = [
        ("metadata.continue", "continue"), ("nextPageToken", "pageToken"), ("response_metadata.next_cursor", "cursor"),
        ("next_cursor", "cursor"), ("nextCursor", "cursor"),
    ]

    private var cursor: [Proposal.Pair]? {
        JSONRecogniser.cursors.first { root.at($0.0.split(separator: ".").map(String.init))?.string != nil }
            .map { [Proposal.Pair(name: "cursor", value: $0.0), Proposal.Pair(name: "parameter", value: $0.1)] }
    }

    /// The member by which the body reports its own success, beside the HTTP status.
    private var success: [Proposal.Pair] {
        let good = [
            "ok": ["true"], "success": ["true"], "responseStatus": ["200"], "status": ["ok", "OK", "success"],
            "result": ["success"],
        ]
        for name in ["ok", "success", "responseStatus", "status", "result"] {
            if let text = root.at([name])?.scalar, good[name]?.contains(text) == true {
                return [Proposal.Pair(name: name, value: text)]
            }
        }
        return []
    }
}

extension JSON {
    /// Returns the value at a path of names; a number is an index of an array.
    func at(_ path: [String]) -> JSON? {
        path.reduce(self as JSON?) { value, step in
            guard let array = value?.array, let index = Int(step) else { return value?[step] }
            return array.indices.contains(index) ? array[index] : nil
        }
    }

    /// The text of a string, number or boolean.
    var scalar: String? {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
