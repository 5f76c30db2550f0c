// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Finds in a page what a person watches it for: its rows, its one product, or its text.
struct PageContent {
    private let all: [PageElement]
    private let content: [PageElement]
    private let tests: ClassTests
    /// The length of the content's text.
    private let length: Int

    /// Elements that are compared; a page of more is too long for a person.
    private static let maximumElements = 40_000
    private static let maximumRows = 1000

    /// The number of elements that a path leads to, also those that a browser does not show.
    private let count: (String) -> Int

    init(_ root: PageElement, count: @escaping (String) -> Int) {
        self.count = count
        let isComparable = root.inside.count <= PageContent.maximumElements
        (all, content) = isComparable ? (root.inside, root.content) : ([], [])
        tests = ClassTests(all)
        let frames = all.filter { $0.isFrame && !$0.ancestors.contains(where: \.isFrame) }
        length = max(root.text.count - frames.map(\.text.count).reduce(0, +), 1)
    }

    /// - Parameters:
    ///   - page: the page as a whole.
    ///   - next: the path of the next page's address.
    ///   - isProduct: the page says that it is about a product.
    ///   - price: the path of the price in its head.
    func proposals(_ page: Proposal, next: String?, isProduct: Bool, price: String?) -> [Proposal] {
        var page = page
        let groups = groups
        let found = groups.filter { $0.find() && isEnough($0) }.sorted { score($0) > score($1) }
        let counted = found.prefix(10).filter { count($0.items) == $0.rows.count }
        // What holds other rows sets out a page.
        let best = counted.first.map { outer in
            outer.evidence >= 3 ? outer : counted.dropFirst().first { holds(outer, $0) } ?? outer
        }
        let product = product(page, besides: best, isProduct, price)
        if product != nil || best.map({ $0.state != nil || $0.price != nil }) == true, let feed = page.alternates.first
        {
            page.alternates = []
            page.remarks.append("The page also names a feed, of something else: \(feed)")
        }
        if var product {
            product.remarks = page.remarks
            return [product, page]
        }
        let articles = content.filter { $0.name == "article" }
        let text = articles.count == 1 && best == nil ? "article" : "main"
        if content.count(where: { $0.name == text }) == 1 { page.set("select", .text("//\(text)")) }
        let counters = content.flatMap { element in
            element.classes.filter { PageWords.of($0).contains(where: PageWords.counters.contains) }
                .map { "//\(element.name)[\(tests.test($0, element.name))]" }
        }
        if !counters.isEmpty { page.set("ignore", .list(Array(Set(counters)).sorted()), "what moves by itself") }
        guard let best else {
            if let seen = groups.filter({ $0.rows.count > 2 && $0.rows[0].name != "p" && share($0) > 0.4 }).max(by: {
                share($0) < share($1)
            }) {
                page.remarks.append(
                    "Its rows '\(seen.items)' (\(seen.rows.count) of them) are not proposed as items: "
                        + (seen.key.isEmpty
                            ? "nothing in them is unique in each, so no key can tell them apart."
                            : "it is not sure that they are more than parts of a text."))
            }
            return [page]
        }
        return [proposal(best, page, next), page]
    }

    private func holds(_ outer: PageRows, _ inner: PageRows) -> Bool {
        let own = Set(outer.rows.map(ObjectIdentifier.init))
        return inner.rows.count > outer.rows.count && inner.link != nil && share(inner) * 2 > share(outer)
            && inner.rows.allSatisfy { $0.ancestors.contains { own.contains(ObjectIdentifier($0)) } }
    }

    private func isEnough(_ group: PageRows) -> Bool {
        let least =
            switch group.evidence {
            case 3...: 0.1
            case 2...: group.isHeading || group.rows[0].name == "dt" ? 0.02 : group.headings.isEmpty ? 0.4 : 0.2
            case 1... where group.link != nil && group.rows.count > 2: group.rows.count > 4 ? 0.25 : 0.4
            default: 2.0
            }
        return share(group) >= least
    }

    private func share(_ group: PageRows) -> Double {
        Double(group.rows.map(\.text.count).reduce(0, +)) / Double(length)
    }

    private func score(_ group: PageRows) -> Double {
        group.evidence + 4 * min(share(group), 1) + min(Double(group.rows.count), 30) / 30 - Double(group.items.count)
            / 500
            - Double(rank(group.items).0) / 20 + (["li", "tr", "article"].contains(group.rows[0].name) ? 0.2 : 0)
    }

    private func proposal(_ group: PageRows, _ page: Proposal, _ next: String?) -> Proposal {
        let count = group.rows.count
        let isOfValues = group.fields.count == 1 && group.fields[0].name == "value"
        let hint: Proposal.RecognitionHint =
            group.isWindow ? .arrivals : group.state != nil ? .state : isOfValues ? .fields(["value"]) : .presence
        var proposal = Proposal("html", hint, because: page.reason + ", with \(count) rows")
        proposal.remarks = page.remarks
        proposal.alternates = page.alternates
        proposal.set("items", .text(group.items), "\(count) of them now")
        let unique = "unique in all \(count)"
        proposal.set("key", group.key.count == 1 ? .text(group.key[0]) : .list(group.key), unique)
        if let title = group.title { proposal.set("title", .text(title)) }
        if let state = group.statePath {
            var seen = Set<String>()
            let states = group.state?.first.filter { !$0.isEmpty && seen.insert($0).inserted } ?? []
            proposal.set("state", .text(state), "now: \(states.prefix(4).joined(separator: ", "))")
        }
        if let link = group.link { proposal.set("link", .text(link)) }
        if let time = group.time { proposal.set("time", .text(time)) }
        if !group.fields.isEmpty { proposal.set("fields", .map(group.fields)) }
        if !group.notes.isEmpty { proposal.set("notes", .map(group.notes), "shown, and never compared") }
        if group.isWindow {
            proposal.set("mode", .text("window"), "the newest of a longer list: an item that leaves is not gone")
        } else if let next {
            proposal.set("next", .text(next), "the next page's address")
        }
        return proposal
    }

    // MARK: Groups

    private static let rowNames: Set<String> = [
        "li", "article", "section", "div", "a", "dt", "details", "tbody", "p", "tr", "h2", "h3",
    ]

    /// Elements that are alike, by class, by an attribute of their own, by the element that holds them, and the rows of tables.
    private var groups: [PageRows] {
        var rows: [String: [PageElement]] = [:]
        let own = Set(content.map(ObjectIdentifier.init))
        var framed = Set<String>()
        for element in all where PageContent.rowNames.contains(element.name) || element.name.contains("-") {
            for path in paths(of: element) {
                if own.contains(ObjectIdentifier(element)) {
                    rows[path, default: []].append(element)
                } else {
                    framed.insert(path)
                }
            }
        }
        for list in content.filter({ ["ul", "ol"].contains($0.name) }).prefix(200) {
            guard let place = placed(list) else { continue }
            rows[place + "/li"] = list.children.filter { $0.name == "li" }
        }
        // Of paths to the same elements the shortest, and none that only sets out a page.
        var shortest: [[ObjectIdentifier]: String] = [:]
        for (path, elements) in rows
        where elements.count > 1 && elements.count <= PageContent.maximumRows && !framed.contains(path) {
            let id = elements.map(ObjectIdentifier.init)
            if let other = shortest[id], rank(other) <= rank(path) { continue }
            shortest[id] = path
        }
        let groups = shortest.values.sorted().compactMap { path -> PageRows? in
            guard let elements = rows[path], !isNested(elements) else { return nil }
            let texts = elements.count { !$0.text.isEmpty }
            let length = elements.map(\.text.count).reduce(0, +)
            guard texts * 10 >= elements.count * 9, length <= elements.count * 1500, length >= elements.count * 2,
                Double(length) > 0.02 * Double(self.length), holdsOne(elements)
            else { return nil }
            return PageRows(path, elements)
        }
        // The page says most where the rows are long; others are not compared.
        return groups.sorted { share($0) > share($1) }.prefix(30) + tables
    }

    private func rank(_ path: String) -> (Int, Int, String) {
        (PageContent.isLayout(path) ? 2 : path.hasPrefix("//body/") ? 1 : 0, path.count, path)
    }

    /// True for `//div[contains(@class, 'col-6')]`.
    private static func isLayout(_ path: String) -> Bool {
        guard let token = path.split(separator: "'").dropFirst().first, path.contains("@class") else { return false }
        let first = PageWords.of(path.hasSuffix("' ')") ? String(token).trimmed() : String(token)).first ?? ""
        return layout.contains(first) || token.count < 3 || token.last?.isNumber == true
            || generic.contains(String(token))
    }

    private static let layout: Set<String> = [
        "col", "row", "container", "clearfix", "grid", "flex", "mb", "mt", "p", "m", "odd", "even", "first", "last",
        "active", "has", "is", "js", "d", "w", "h", "text", "bg", "border", "columns", "wrapper", "inner", "new", "css",
        "sc", "align",
    ]

    private static let generic: Set<String> = [
        "item", "items", "card", "box", "entry", "tile", "cell", "element", "block",
        "header", "content", "body", "main", "link", "text", "info", "title",
    ]

    private func isNested(_ elements: [PageElement]) -> Bool {
        let own = Set(elements.map(ObjectIdentifier.init))
        return elements.contains { $0.ancestors.contains { own.contains(ObjectIdentifier($0)) } }
    }

    /// False where most elements hold several headings or articles of one name, as the line of a grid does.
    private func holdsOne(_ elements: [PageElement]) -> Bool {
        let many = elements.count { element in
            let names = element.inside.map(\.name)
            let first = ["h1", "h2", "h3", "h4", "h5", "h6", "article"].first(where: names.contains)
            return first.map { name in names.count { $0 == name } > 1 } ?? false
        }
        return many * 2 < elements.count
    }

    private func paths(of element: PageElement) -> [String] {
        var paths = element.classes.prefix(8).filter { tests.count($0, element.name) > 1 }.map {
            "//\(element.name)[\(tests.test($0, element.name))]"
        }
        for name in element.attributes.keys where name.hasPrefix("data-") {
            let words = PageWords.of(name)
            if words.contains(where: PageWords.id.contains), !words.contains(where: PageWords.place.contains) {
                paths.append("//\(element.name)[@\(name)]")
            }
        }
        if element.name == "article" || element.name.contains("-") { paths.append("//\(element.name)") }
        // An only child is found by its own class, or by the class of its parent.
        if element.name != "tr", let parent = element.parent,
            parent.childCounts[element.name, default: 0] > 1
                || parent.classes.contains(where: { tests.count($0, parent.name) > 1 })
        {
            paths.append("\(path(to: parent))/\(element.name)")
        }
        return paths
    }

    private func path(to element: PageElement) -> String {
        let name = element.name
        if ["html", "body", "main"].contains(name) { return "//\(name)" }
        if let id = element.attributes["id"], !id.contains("'"), !id.isEmpty { return "//\(name)[@id='\(id)']" }
        let classes = element.classes.filter { !PageContent.isLayout("@class '\($0)'") }
        let token = classes.first ?? element.classes.max { tests.count($0, name) < tests.count($1, name) }
        if let token {
            return "//\(name)[\(tests.test(token, name))]"
        }
        return element.parent.map { "\(path(to: $0))/\(name)" } ?? "//\(name)"
    }

    /// Returns the path of a table or list below the nearest element with an id or class of its own; nil where it is not alone there.
    private func placed(_ element: PageElement) -> String? {
        for outer in element.ancestors.prefix(while: { !["body", "main"].contains($0.name) }) {
            let token = outer.classes.first { tests.count($0, outer.name) == 1 }
            let id = outer.attributes["id"].flatMap { $0.isEmpty || $0.contains("'") ? nil : "@id='\($0)'" }
            guard let test = id ?? token.map({ tests.test($0, outer.name) }) else { continue }
            let isAlone = outer.inside.count { $0.name == element.name } == 1
            return isAlone ? "//\(outer.name)[\(test)]//\(element.name)" : nil
        }
        return nil
    }

    // MARK: Tables

    /// The rows of each table, and of tables with one class and the same headings together.
    private var tables: [PageRows] {
        let tables = all.filter { $0.name == "table" }
        var groups: [String: (rows: [PageElement], headings: [String])] = [:]
        let headings = tables.map { table in
            table.inside.first {
                $0.name == "tr" && $0.isHeading && $0.ancestors.first { $0.name == "table" } === table
            }?
            .children.map(\.text) ?? []
        }
        let paths = tables.map {
            tables.count == 1 && $0.classes.isEmpty && $0.attributes["id"] == nil ? "//table" : path(to: $0)
        }
        for (index, table) in tables.enumerated() where content.contains(where: { $0 === table }) {
            // A table of a layout has no headings.
            let isOuter = table.inside.contains { $0.name == "table" }
            let lines = table.children.flatMap { $0.name == "tr" ? [$0] : $0.children }.filter { $0.name == "tr" }
            let names = headings[index]
            guard !isOuter || !names.isEmpty else { continue }
            let rows = lines.filter { line in
                line.children.contains { $0.name == "td" } && line.parent?.name != "tfoot" && !line.text.isEmpty
                    && !line.isHeading
            }
            let isWide = !names.isEmpty && rows.contains { $0.children.count != names.count }
            let isAlike = tables.indices.allSatisfy { paths[$0] != paths[index] || headings[$0] == headings[index] }
            let path =
                isAlike && paths[index].hasPrefix("//table")
                ? paths[index] : placed(table) ?? "(//table)[\(index + 1)]"
            // Headings may be cells in bold.
            let heading = lines.first { $0.isHeading }
            let isInHead = heading?.parent?.name == "thead"
            let hasCells = !isInHead && heading?.children.allSatisfy { $0.name == "td" } == true
            let place = heading.flatMap { heading in heading.parent?.children.firstIndex { $0 === heading } }
            let tests = [hasCells ? place.map { "position() > \($0 + 1)" } : nil, isWide ? "td[\(names.count)]" : nil]
                .compactMap { $0 }
            let test = tests.isEmpty ? "td" : tests.joined(separator: " and ")
            let body =
                isInHead && heading?.children.first?.name == "td" || lines.contains { $0.parent?.name == "tfoot" }
                ? "/tbody/tr" : isOuter ? (rows.first?.parent === table ? "/tr" : "/*/tr") : "//tr"
            let kept = isWide ? rows.filter { $0.children.count == names.count } : rows
            guard !kept.isEmpty, kept.count > 1 || !names.isEmpty else { continue }
            groups["\(path)\(body)[\(test)]", default: ([], names)].rows += kept
        }
        return groups.sorted { $0.key < $1.key }.map { PageRows($0.key, $0.value.rows, headings: $0.value.headings) }
    }

    // MARK: One product

    /// Proposes price and availability of the one product that a page is about; nil for a page of several.
    private func product(_ page: Proposal, besides rows: PageRows?, _ isProduct: Bool, _ price: String?) -> Proposal? {
        guard let heading = all.firstIndex(where: { $0.name == "h1" }) else { return nil }
        let others = Set((rows?.price == nil ? [] : rows?.rows ?? []).flatMap(\.inside).map(ObjectIdentifier.init))
        let after = all[(heading + 1)...].filter { element in !element.ancestors.contains(where: \.isFrame) }
        func first(_ isGood: ([String]) -> Bool, where isText: (String) -> Bool) -> String? {
            for element in after where !others.contains(ObjectIdentifier(element)) {
                if let property = element.attributes["itemprop"], isGood(PageWords.of(property)),
                    !property.contains("'"),
                    isText(element.attributes["content"] ?? element.attributes["href"] ?? element.text)
                {
                    let attribute = ["content", "href"].first { element.attributes[$0] != nil }
                    return "//\(element.name)[@itemprop='\(property)']" + (attribute.map { "/@\($0)" } ?? "")
                }
                guard isText(element.text) else { continue }
                guard let token = element.classes.first(where: { isGood(PageWords.of($0)) }) else {
                    if let id = element.attributes["id"], isGood(PageWords.of(id)), !id.contains("'") {
                        return "//\(element.name)[@id='\(id)']"
                    }
                    continue
                }
                let path = "\(element.name)[\(tests.test(token, element.name))]"
                let isOnly = tests.count(token, element.name) == 1
                return isOnly ? "//\(path)" : "(//h1/following::\(path))[1]"
            }
            return nil
        }
        let named = [
            "single-product", "product-detail", "product-page", "product-info", "product-main", "product-single",
        ]
        let isOne =
            isProduct || price != nil
            || all.count { $0.attributes["itemtype"]?.hasSuffix("schema.org/Product") == true } == 1
            || all.contains { $0.classes.contains { token in named.contains { token.lowercased().hasPrefix($0) } } }
        let shown = first(PageRows.isPrice) { PageRows.hasDigit($0) }
        guard isOne || rows == nil,
            let value = price ?? shown
        else { return nil }
        var fields = [Proposal.Pair(name: "price", value: value)]
        let isShort = { (text: String) in !text.isEmpty && text.count <= 60 }
        let isState = { (words: [String]) in words.contains { PageWords.state.contains($0) && $0 != "badge" } }
        let button = after.first { element in
            element.name == "button"
                && ["cart", "sold", "basket", "warenkorb", "ausverkauft", "stock"].contains(
                    where: element.text.lowercased().contains)
        }
        if let stock = first(isState, where: isShort) ?? first({ $0.contains("sold") }, where: isShort)
            ?? button.map(path)
        {
            fields.append(Proposal.Pair(name: "availability", value: stock))
        }
        var product = Proposal("html", .fields(fields.map(\.name)), because: page.reason + ", about one product")
        // The text around has counters and other goods.
        product.set("select", .text("//h1"))
        product.set("title", .text("//h1"))
        product.set("fields", .map(fields))
        return product
    }
}
