// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Elements of a page that are alike, as rows, with the parts of them that may serve as what.
final class PageRows {
    /// What some element inside of each row says.
    struct Column {
        /// The path below a row; nil for a class, whose test depends on the elements beside it.
        var path: String?
        /// The element and class of a column without a path.
        var name = ""
        var token = ""
        /// What the page calls it, by class, attribute or heading.
        var words: [String] = []
        /// Whether some of its elements are struck out, as a price of before, and left out.
        var skipsStruck = false
        /// The values in each row, in the order of the document.
        var cells: [[() -> String]]

        /// The first value in each row that is not empty.
        var first: [String] { cells.map { $0.lazy.map { $0() }.first { !$0.isEmpty } ?? "" } }
        var isSingle: Bool { cells.allSatisfy { $0.count <= 1 } }
    }

    let items: String
    let rows: [PageElement]
    /// The headings of a table's columns.
    let headings: [String]
    private(set) var columns: [Column] = []
    private var places: [String: Int] = [:]
    private let tests: ClassTests
    private var isTable: Bool { rows[0].name == "tr" }

    var isHeading: Bool { PageRows.headings.contains(rows[0].name) }

    private(set) var key: [String] = []
    private(set) var title: String?
    private(set) var state: Column?
    private(set) var price: Column?
    var statePath: String? { state.map(path) }
    private(set) var link: String?
    private(set) var time: String?
    private(set) var fields: [Proposal.Pair] = []
    private(set) var notes: [Proposal.Pair] = []
    private(set) var isWindow = false
    /// Points for these rows as the items of the page.
    private(set) var evidence = 0.0

    init(_ items: String, _ rows: [PageElement], headings: [String] = []) {
        (self.items, self.rows, self.headings) = (items, rows, headings)
        tests = ClassTests(rows.flatMap(\.inside))
        for (index, row) in rows.enumerated() { collect(row, index) }
    }

    // MARK: Columns

    private func add(
        _ path: String?, _ words: [String], _ index: Int, name: String = "", token: String = "",
        isStruck: Bool = false, _ value: @escaping () -> String
    ) {
        let id = path ?? "\(name).\(token)"
        let place = places[id] ?? columns.count
        if place == columns.count {
            places[id] = place
            let cells = Array(repeating: [() -> String](), count: rows.count)
            columns.append(Column(path: path, name: name, token: token, words: words, cells: cells))
        }
        if isStruck { columns[place].skipsStruck = true } else { columns[place].cells[index].append(value) }
    }

    private func collect(_ row: PageElement, _ index: Int) {
        attributes(of: row, ".", index)
        if row.name == "a", let link = row.attributes["href"] { add("@href", ["link"], index) { link } }
        let areCells = row.children.allSatisfy { $0.name == "td" }
        var counts: [String: Int] = [:]
        for element in row.inside { collect(element, of: row, index) }
        if !isTable { add("text()[normalize-space()][1]", ["own"], index) { row.ownText } }
        if row.name == "dt", let all = row.parent?.children, let place = all.firstIndex(where: { $0 === row }),
            let next = all[(place + 1)...].first, next.name == "dd"
        {
            add("following-sibling::dd[1]", next.classes.flatMap(PageWords.of) + ["value"], index) { next.text }
        }
        for (number, child) in row.children.enumerated() {
            let count = (counts[child.name] ?? 0) + 1
            counts[child.name] = count
            let path = isTable ? "\(areCells ? "td" : "*")[\(number + 1)]" : "\(child.name)[\(count)]"
            // The rows of a table of two columns are names and values.
            let heading =
                isTable && headings.isEmpty && row.children.count == 2
                ? ["name", "value"][number]
                : isTable && headings.indices.contains(number) ? headings[number] : child.attributes["data-label"]
            add(path, PageWords.of(heading ?? ""), index) { child.text }
            if isTable, !PageRows.hasText(child) { icon(in: child, path, heading ?? "", index) }
            guard isTable, let first = child.inside.first(where: { $0.name == "a" && $0.attributes["href"] != nil })
            else { continue }
            add("\(path)//a/@href", ["link"], index) { first.attributes["href"] ?? "" }
        }
    }

    /// The attributes in which an icon says what it means.
    private static let meanings = ["title", "alt", "aria-label", "tooltip", "data-original-title", "data-tooltip"]

    /// Adds what a cell without text says by an icon.
    private func icon(in cell: PageElement, _ path: String, _ heading: String, _ index: Int) {
        for name in PageRows.meanings + ["class"] {
            for element in (name == "class" ? [] : [cell]) + cell.inside {
                guard let value = element.attributes[name], !value.isEmpty else { continue }
                let place = name == "class" ? "//\(element.name)/@class" : "//@\(name)[. != '']"
                return add("\(path)\(place)", ["shape", name == "class" ? name : "icon"], index) { value }
            }
        }
    }

    private func collect(_ element: PageElement, of row: PageElement, _ index: Int) {
        let name = element.name
        if PageRows.telling.contains(name) { add(".//\(name)", [name], index) { element.text } }
        attributes(of: element, ".//\(name)", index)
        if name == "a", let link = element.attributes["href"] {
            add(".//a/@href", ["link"], index) { link }
            if let heading = element.parent, PageRows.headings.contains(heading.name) {
                add(".//\(heading.name)/a/@href", ["link"], index) { link }
                // A label may stand behind the link.
                if element.text != heading.text { add(".//\(heading.name)/a", [heading.name], index) { element.text } }
            }
            if let heading = element.inside.first(where: { PageRows.headings.contains($0.name) }) {
                add(".//a[.//\(heading.name)]/@href", ["link"], index) { link }
            }
        }
        if name == "a", let link = element.attributes["href"], let token = element.classes.first {
            add(".//a[\(tests.test(token, name))]/@href", ["link"], index) { link }
        }
        let isStruck = ([element] + element.ancestors.prefix { $0 !== row }).contains {
            ["del", "s"].contains($0.name)
        }
        // A class that few rows have is of no use, and a page may have thousands.
        for token in element.classes where tests.count(token, name) * 5 >= rows.count {
            add(nil, PageWords.of(token), index, name: name, token: token, isStruck: isStruck) { element.text }
        }
        // A price that is written twice, for eyes and for ears, is read once.
        if let first = element.children.first, WrittenNumber(element.text) == nil, WrittenNumber(first.text) != nil,
            let token = element.classes.first(where: { PageRows.isPrice(PageWords.of($0)) })
        {
            add(".//\(name)[\(tests.test(token, name))]/*[1]", ["price"], index, isStruck: isStruck) { first.text }
        }
        if let property = element.attributes["itemprop"], !property.contains("'") {
            let path = ".//\(name)[@itemprop='\(property)']"
            let words = PageWords.of(property)
            if !element.text.isEmpty { add(path, words, index) { element.text } }
            for attribute in ["content", "href"] {
                guard let value = element.attributes[attribute], name != "a" else { continue }
                add("\(path)/@\(attribute)", words, index) { value }
            }
        }
    }

    private static let headings: Set<String> = ["h1", "h2", "h3", "h4", "h5", "h6"]
    private static let telling = headings.union(["time", "a", "strong", "dt", "th", "b", "small", "em", "span"])

    /// Adds the attributes that may be a key, a time or a state.
    private func attributes(of element: PageElement, _ path: String, _ index: Int) {
        let isRow = path == "."
        for (name, value) in element.attributes.sorted(by: { $0.key < $1.key }) where !value.isEmpty {
            if name.hasPrefix("data-") {
                add((isRow ? "@" : ".//@") + name, ["data"] + PageWords.of(String(name.dropFirst(5))), index) { value }
            } else if name == "datetime" || (isRow && name == "id") {
                add(isRow ? "@\(name)" : "\(path)/@\(name)", [name == "id" ? "id" : "time"], index) { value }
            } else if !PageRows.hasText(element) || isRow, (PageRows.meanings + ["class"]).contains(name) {
                add(isRow ? "@\(name)" : "\(path)/@\(name)", ["shape", name], index) { value }
            }
        }
    }

    private func path(_ column: Column) -> String {
        let test = column.skipsStruck ? "[not(ancestor::del or ancestor::s)]" : ""
        return column.path ?? ".//\(column.name)[\(tests.test(column.token, column.name))]\(test)"
    }

    /// The path of a column of which only the first value counts.
    private func single(_ column: Column) -> String {
        column.isSingle ? path(column) : "(\(path(column)))[1]"
    }

    private func share(_ values: [String], where isGood: (String) -> Bool = { _ in true }) -> Double {
        Double(values.count { !$0.isEmpty && isGood($0) }) / Double(rows.count)
    }

    // MARK: Parts

    /// Finds the parts; false where no key is unique.
    func find() -> Bool {
        let state = findState()
        let price = findPrice()
        guard let keyed = findKey(besides: state) else { return false }
        (key, self.state, self.price) = (keyed, state, price)
        title = findTitle()
        link =
            columns.first { $0.path == key.first && $0.words == ["link"] }.map(path)
            ?? links.first { share($0.first, where: PageRows.isAddress) > 0.8 }.map(path)
        let dates = columns.filter { column in
            column.words.last.map(PageWords.time.contains) == true && share(column.first) >= 0.8
                && column.first.allSatisfy { $0.count <= 60 }
        }
        let dated = (dates.filter { $0.path?.hasSuffix("datetime") == true } + dates).first { column in
            column.first.allSatisfy { $0.isEmpty || Timestamp(anyForm: $0) != nil }
        }
        time = dated.map(path)
        findFields()
        let titles = (columns + [whole]).first { (title ?? ".") == path($0) }?.first ?? []
        let isOfVersions =
            !isTable && title != "." && !titles.isEmpty
            && titles.allSatisfy { $0.contains(/\d+\.\d+/) && $0.count <= 80 }
        let times = (dated?.first ?? []).compactMap(Timestamp.init(anyForm:))
        let isFalling =
            times.count > 1 && zip(times, times.dropFirst()).allSatisfy { $0 >= $1 } && times.first != times.last
        let isJob = rows[0].classes.flatMap(PageWords.of).contains {
            ["job", "jobs", "position", "vacancy"].contains($0)
        }
        isWindow = state == nil && price == nil && !isJob && (isTable ? isFalling : !dates.isEmpty || isOfVersions)
        let hasOwnKey = key[0].hasPrefix("@") && key[0] != "@href"
        // Headings alone are rows only of what is dated or numbered.
        if isHeading, !isWindow { return false }
        evidence =
            (state == nil ? 0 : 3) + 3 * (price.map { share($0.first) } ?? 0) + (isWindow ? isOfVersions ? 3 : 2 : 0)
            + (link == nil ? 0 : 1)
            + (hasOwnKey && key[0] != "@id" ? 1 : 0) + (headings.count > 1 ? 2 : 0)
            - (state == nil && price == nil && !isWindow && rows.map(\.text.count).reduce(0, +) > 400 * rows.count
                ? 1 : 0)
            + (title?.hasPrefix(".//h") == true ? 1 : title == "." && !isHeading && rows[0].name != "dt" ? -1 : 0)
            // A line of cells without a table.
            + (!isTable && state == nil && price == nil && link == nil
                && columns.count { $0.path == nil && $0.isSingle && share($0.first) > 0.9 } > 2 ? 1 : 0)
            + min(Double(fields.count), 2) / 2 + (fields.contains { $0.name == "value" } ? 1.5 : 0)
        return true
    }

    private func isUnique(_ columns: [Column]) -> Bool {
        var seen = Set<[String]>()
        let values = columns.map { $0.cells.map { $0.first?() ?? "" } }
        return rows.indices.allSatisfy { row in
            let key = values.map { $0[row] }
            return key.allSatisfy { !$0.isEmpty && $0.count <= 300 && PageRows.isAddress($0) }
                && seen.insert(key).inserted
        }
    }

    /// The links; the one of a heading comes first where a row begins with another one, as "add to the wish list".
    private var links: [Column] {
        let links = columns.filter { $0.words == ["link"] }
        guard let first = links.first(where: { $0.path == ".//a/@href" }),
            let own = links.first(where: { column in
                (isTable && column.path?.hasPrefix(".") == false && share(column.first) > 0.99)
                    || PageRows.headings.contains {
                        column.path == ".//\($0)/a/@href" || column.path == ".//a[.//\($0)]/@href"
                    } && share(column.first) > 0.8
            }), zip(own.first, first.first).contains(where: !=)
        else { return links }
        return [own] + links
    }

    /// Returns a stable attribute, the address of a link, a heading, or columns of a table that are unique together.
    private func findKey(besides state: Column?) -> [String]? {
        let data = columns.filter { column in
            column.words.first == "data" && column.words.contains(where: PageWords.id.contains)
                && !column.words.contains(where: PageWords.place.contains)
        }
        let own = data.filter { $0.path?.hasPrefix("@") == true }
        let id = columns.filter { $0.path == "@id" && !isNumbered($0.first) }
        for column in own + id + data where isUnique([column]) { return [path(column)] }
        for column in links where isUnique([column]) {
            // What follows may be of the session, or tell the server where one came from.
            let end = ["?", "&"].first { sign in
                let ends = column.first.map {
                    $0.split(separator: sign, maxSplits: 1, omittingEmptySubsequences: false)
                }
                return ends.allSatisfy { $0.count == 2 } && Set(ends.map { $0[0] }).count == rows.count
            }
            return [end.map { "substring-before(\(path(column)), '\($0)')" } ?? path(column)]
        }
        if isTable {
            let cells = columns.filter { column in
                column.path?.hasSuffix("]") == true && column.path != state.flatMap(\.path)
                    && column.words.first != "shape"
                    && !column.words.contains(where: PageWords.volatile.contains)
            }
            func isNamed(_ column: Column) -> Bool {
                column.words.contains { PageWords.id.contains($0) || PageWords.title.contains($0) }
            }
            let ids = cells.filter { $0.words.contains(where: PageWords.id.contains) }
            let labels = cells.filter { column in
                share(column.first, where: PageRows.isLabel) > 0.99
                    && !column.words.contains(where: PageWords.time.contains)
            }
            // A column that is unique by chance is no key, and a time only where nothing else is.
            let likely = ids + labels.filter { isNamed($0) || $0.path == labels[0].path }
            let dated = cells.filter {
                share($0.first, where: { Timestamp(anyForm: $0) != nil || $0.contains(/\d\d?\.\d\d?\./) }) > 0.99
            }
            let pairs = [ids + labels, labels + dated].flatMap { columns in
                columns.indices.flatMap { first in columns[(first + 1)...].map { [columns[first], $0] } }
            }
            return (likely.map { [$0] } + pairs + labels.map { [$0] }).first(where: isUnique).map { $0.map(path) }
        }
        let names = titles.filter { path($0) != state.map(path) }
        if let name = names.first(where: { isUnique([$0]) }) { return [path(name)] }
        let cells = columns.filter { $0.path == nil && $0.isSingle && share($0.first, where: PageRows.isLabel) > 0.99 }
        return names.prefix(1).flatMap { name in cells.map { [name, $0] } }.first(where: isUnique).map { $0.map(path) }
    }

    /// The columns that may be a title, the likeliest first.
    private var titles: [Column] {
        func named(_ isGood: ([String]) -> Bool) -> [Column] {
            columns.filter { column in
                isGood(column.words) && !["data", "shape"].contains(column.words.first)
                    && !column.words.contains(where: PageWords.volatile.contains)
            }
        }
        let headings = ["h1", "h2", "h3", "h4", "h5", "h6"].flatMap { heading in named { $0 == [heading] } }
            .sorted { $0.path?.hasSuffix("/a") == true && $1.path?.hasSuffix("/a") != true }
        let certain = named { $0 == ["name"] } + named { $0.last.map(PageWords.title.contains) ?? false }
        let cells = isTable ? named { $0.contains(where: PageWords.title.contains) } : []
        let linked = cells.filter { cell in columns.contains { $0.path == "\(cell.path ?? "")//a/@href" } }
        let keyed = columns.filter { key == [path($0) + "/@href"] }
        let links = keyed + named { $0 == ["a"] }
        let strong = ["strong", "dt", "th", "b", "own"].flatMap { name in named { $0 == [name] } }
        let texts = columns.filter { $0.path?.hasSuffix(isTable ? "]" : "[1]") == true }
        return
            ((isTable ? linked + certain + cells + links : headings + certain + links) + strong + texts
            + (isTable ? [] : [whole])).filter {
                column in
                share(column.first) >= 0.9
                    && column.first.allSatisfy { $0.count <= 200 && Timestamp(anyForm: $0) == nil }
                    && share(column.first, where: { $0.contains(where: \.isLetter) || $0.contains(/\d\.\d+\.\d/) })
                        > 0.5
                    && !column.first.contains { $0.contains(/^\d{1,2}:\d\d/) }
            }
    }

    /// The text of the row itself.
    private var whole: Column { Column(path: ".", cells: rows.map { row in [{ row.text }] }) }

    private func findTitle() -> String? {
        let titles = titles.filter { path($0) != statePath }
        let found = titles.first { Set($0.first).count * 2 > rows.count } ?? titles.first
        return found.map(path)
    }

    private func findState() -> Column? {
        func isState(_ column: Column, _ values: [String]) -> Bool {
            let texts = values.filter { !$0.isEmpty }
            let distinct = Set(texts)
            let isNamed = column.words.last == "status" || column.words.last == "state"
            return texts.count * 5 >= rows.count * 4 && distinct.allSatisfy { $0.count <= 40 && Double($0) == nil }
                && (texts.count <= 6 || distinct.count * 2 <= texts.count || isNamed && distinct.count <= 8)
                && column.cells.count { $0.count <= 1 } * 5 >= rows.count * 4
        }
        func rank(_ column: Column) -> Int? {
            guard let last = column.words.last, column.words.first != "shape" else { return nil }
            if last == "badge" { return 4 }
            if column.words.first == "data" { return PageWords.state.contains(last) ? 3 : nil }
            if column.path?.contains("/@") == true { return PageWords.state.contains(last) ? 2 : nil }
            return PageWords.state.contains(last) ? 0 : column.words.contains(where: PageWords.state.contains) ? 1 : nil
        }
        let named = columns.filter { rank($0) != nil && isState($0, $0.first) }
            .enumerated().sorted { (rank($0.element) ?? 9, $0.offset) < (rank($1.element) ?? 9, $1.offset) }
        if let found = named.first?.element { return found }
        let classes = columns.filter { $0.words == ["shape", "class"] }
        let others = columns.filter { $0.words != ["shape", "class"] }
        return others.first(where: saysStates) ?? classes.first(where: saysStates)

        func saysStates(_ column: Column) -> Bool {
            let values = column.first.filter { !$0.isEmpty }
            if column.words == ["shape", "icon"] {
                let seen = Set(values)
                return values.count * 5 >= rows.count * 4 && seen.count { PageWords.areState($0) } * 2 >= seen.count
            }
            guard !["id", "link", "data", "time"].contains(column.words.first), isState(column, values) else {
                return false
            }
            // Words of states that are all different may be titles: `API incident`, `Mail incident`.
            let isExact = values.allSatisfy { PageWords.states.contains($0.lowercased()) }
            let isClass = column.words == ["shape", "class"]
            guard isExact || Set(values).count < rows.count, !isClass || Set(values).count > 1 else { return false }
            return values.allSatisfy { value in
                isClass
                    ? value.split(separator: " ").contains {
                        PageWords.areState(String($0))
                            || PageWords.of(String($0)).contains(where: PageWords.colours.contains)
                    } : PageWords.areState(value)
            }
        }
    }

    private func findPrice() -> Column? {
        let found = columns.filter { PageRows.isPrice($0.words) && share($0.first, where: PageRows.hasDigit) >= 0.5 }
        return found.min { PageRows.rank($0) < PageRows.rank($1) }
    }

    /// Finds what else describes a row: the columns of a table, or what a class calls by a known word.
    private func findFields() {
        let used = Set(key + [title, state.map(path)].compactMap { $0 })
        var taken: Set<String> = ["key", "title", "state", "url", "link", "time"]
        func name(_ words: [String]) -> String? {
            let name = words.map(JSONNames.fieldName).joined(separator: "_")
            return !name.isEmpty && name.contains(where: \.isLetter) && taken.insert(name).inserted ? name : nil
        }
        if state == nil, let token = soldOut {
            fields.append(Proposal.Pair(name: "sold_out", value: "contains(@class, '\(token)')"))
        }
        if let price {
            fields.append(Proposal.Pair(name: "price", value: single(price)))
            taken.insert("price")
        }
        for column in columns where column.path != price?.path || column.path == nil && column.token != price?.token {
            let path = path(column)
            let isCell =
                ["td[", "*["].contains { column.path?.hasPrefix($0) == true }
                || column.path?.hasPrefix("following") == true
            let isTold = isCell && !column.words.isEmpty && !["link", "shape"].contains(column.words[0])
            let isKnown =
                !isCell && !isTable && column.words.first != "data"
                && column.words.last.map(PageWords.field.contains) == true
            // A part of a key may be a field too: what it is called is worth knowing.
            guard
                isTold
                    ? path != title && [path] != key && path != state.map(self.path) && path != time
                    : isKnown && !used.contains(path),
                share(column.first, where: { $0.count <= 80 }) >= 0.5, column.isSingle
            else { continue }
            let isVolatile =
                column.words.contains(where: PageWords.volatile.contains)
                || column.words.last.map(PageWords.time.contains) == true
                || column.first.allSatisfy { $0.isEmpty || $0.contains(/^\d{1,2}:\d\d/) }
                || (share(column.first) > 0 && column.first.allSatisfy { $0.isEmpty || PageRows.isNumber($0) })
                    && !PageRows.isPrice(column.words)
                    // Prices of fuel and rates of exchange have decimals.
                    && (state != nil || !column.first.allSatisfy { $0.contains(/^\d+[.,]\d{2,4}(?: ?[€$£])?$/) })
            guard let name = name(isTold ? column.words : [column.words[column.words.count - 1]]) else { continue }
            let pair = Proposal.Pair(name: name, value: path)
            if isVolatile, isTold { notes.append(pair) } else { fields.append(pair) }
            if fields.count + notes.count == 6 { break }
        }
    }
}
