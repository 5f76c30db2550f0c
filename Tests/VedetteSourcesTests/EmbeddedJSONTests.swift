// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("JSON in pages of HTML")
struct EmbeddedJSONTests {
    private static let options: [String: OptionValue] = [
        "json_ld": .text("Product"), "state": .list([.text("availability")]),
        "fields": .map([("price", .text("price")), ("currency", .text("currency"))]),
    ]

    private static func page(_ blocks: String..., body: String = "<h1>Shop</h1>") -> String {
        let scripts = blocks.map { "<script type=\"application/ld+json\">\($0)</script>" }.joined(separator: "\n")
        return "<!doctype html><html><head><title>Shop</title>\(scripts)</head><body>\(body)</body></html>"
    }

    private func read(
        _ html: String, _ options: [String: OptionValue] = options, url: String = "https://shop.example.com/p/1"
    ) throws -> Page {
        var page = PageBody(bytes: Array(html.utf8), url: url)
        return try Fixture.kind("json", options).read(&page)
    }

    /// `KEY TITLE STATE PRICE CURRENCY` of each item.
    private func lines(_ html: String) throws -> [String] {
        try read(html).items.map { item in
            [item.key, item.title ?? "-", item.state ?? "-", text(item["price"]), text(item["currency"])]
                .joined(separator: " ")
        }
    }

    private func text(_ value: Value?) -> String { if case .text(let text)? = value { text } else { "-" } }

    private func problem(_ html: String, _ options: [String: OptionValue] = options) -> String? {
        do {
            _ = try read(html, options)
            return nil
        } catch {
            return (error as? ReadError)?.detail ?? "\(error)"
        }
    }

    private static let offer =
        #"{"@type":"Offer","price":"19.00","priceCurrency":"EUR","availability":"https:\/\/schema.org\/InStock"}"#

    @Test("a page's address of more than 2 KiB is the link of its only object, not of many")
    func longAddress() throws {
        let address = "https://shop.example.com/p?sig=" + String(repeating: "s", count: 4000)
        func links(_ names: String...) throws -> [String?] {
            let blocks = names.map { #"{"@type":"Product","name":"\#($0)"}"# }.joined(separator: ",")
            return try read(Self.page("[\(blocks)]"), ["json_ld": .text("Product")], url: address).items.map(\.url)
        }
        #expect(try links("a") == [address])
        #expect(try links("a", "b") == [nil, nil])
    }

    // MARK: Shops

    /// As themes of Shopify write it: a group with its variants, whose SKU may be empty.
    static let shopify = page(
        """
        {"@context":"http://schema.org/","@id":"/products/mug#product","@type":"ProductGroup","name":"Mug",
        "brand":{"@type":"Brand","name":"Clay"},"hasVariant":[
        {"@id":"/products/mug?variant=11#variant","@type":"Product","name":"Mug - Red","sku":"M-R",
        "offers":{"@id":"/products/mug?variant=11#offer","@type":"Offer","availability":"http://schema.org/InStock","price":"18.00","priceCurrency":"USD"}},
        {"@id":"/products/mug?variant=12#variant","@type":"Product","name":"Mug - Blue","sku":"",
        "offers":{"@type":"Offer","availability":"http://schema.org/OutOfStock","price":"18.50","priceCurrency":"USD"}}]}
        """)

    /// As WooCommerce writes it, in a graph beside other things, with the price inside of a specification.
    static let wooCommerce = page(
        """
        {"@context":"https:\\/\\/schema.org\\/","@graph":[
        {"@type":"BreadcrumbList","itemListElement":[{"@type":"ListItem","position":1,"name":"Home"}]},
        {"@type":"Product","@id":"https:\\/\\/shop.example.com\\/p\\/1#product","name":"Beanie","url":"https:\\/\\/shop.example.com\\/p\\/1",
        "sku":41,"offers":[{"@type":"Offer","priceSpecification":[
        {"@type":"UnitPriceSpecification","price":"25.00","priceCurrency":"GBP","priceType":"https:\\/\\/schema.org\\/ListPrice"},
        {"@type":"UnitPriceSpecification","price":"18.00","priceCurrency":"GBP","valueAddedTaxIncluded":false}],
        "availability":"http:\\/\\/schema.org\\/InStock","seller":{"@type":"Organization","name":"Shop"}}]}]}
        """)

    /// As extensions of Magento write it: an AggregateOffer, in a list.
    static let magento = page(
        """
        [{"@context":"https://schema.org","@type":"Organization","name":"Shop"},
        {"@context":"https://schema.org","@type":["Product"],"name":"Bag","sku":"24-MB01","offers":
        {"@type":"AggregateOffer","priceCurrency":"EUR","lowPrice":34.5,"highPrice":40,"offerCount":2,"availability":"https://schema.org/PreOrder"}}]
        """)

    /// As a shop made with Next.js: no structured data, and nothing in the page before its programs run.
    static let next = """
        <!doctype html><html><head><title>Shop</title></head><body><div id="__next"></div>
        <script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"product":{"id":"p-7","title":"Lamp",
        "price":"79.90","currency":"EUR","inStock":true,"slug":"lamp"},"related":[{"id":"p-8","title":"Bulb","price":"4.00"}]},
        "__N_SSG":true},"page":"/p/[slug]","query":{"slug":"lamp"},"buildId":"x1"}</script></body></html>
        """

    @Test("the products of today's shops, each with price, currency and availability")
    func shops() throws {
        #expect(
            try lines(Self.shopify) == [
                "M-R Mug - Red InStock 18.00 USD",
                "/products/mug?variant=12#variant Mug - Blue OutOfStock 18.50 USD",
            ])
        #expect(try lines(Self.wooCommerce) == ["41 Beanie InStock 18.00 GBP"])
        #expect(try lines(Self.magento) == ["24-MB01 Bag PreOrder 34.5 EUR"])
    }

    @Test("of several offers the cheapest one that can be bought counts, of one currency")
    func offers() throws {
        func price(_ offers: String) throws -> String {
            try lines(Self.page(#"{"@type":"Product","name":"A","offers":\#(offers)}"#))[0]
        }
        func offer(_ price: String, _ state: String, _ currency: String = "EUR") -> String {
            #"{"@type":"Offer","price":\#(price),"availability":"\#(state)","priceCurrency":"\#(currency)"}"#
        }
        let (out, dear) = (offer("5", "schema:OutOfStock"), offer(#""1.299,00""#, "InStock"))
        let (mid, pounds) = (offer("900", "https://schema.org/InStock"), offer("700", "InStock", "GBP"))
        #expect(try price("[\(out),\(dear),\(mid),\(pounds)]") == "A A InStock 900 EUR")
        #expect(try price("[\(out)]") == "A A OutOfStock 5 EUR")
        #expect(
            try price(#"{"@type":"AggregateOffer","lowPrice":1,"priceCurrency":"EUR","offers":[\#(mid),\#(dear)]}"#)
                == "A A InStock 900 EUR")
        #expect(try price("[]") == "A A - - -")
        #expect(try price(#"{"@type":"Offer","availability":"SoldOut"}"#) == "A A SoldOut - -")
    }

    @Test("an offer elsewhere in the graph is found by its @id, and two blocks about one thing are one item")
    func references() throws {
        let html = Self.page(
            ##"{"@graph":[{"@type":"Product","@id":"#p","name":"A","offers":{"@id":"#o"}},{"@type":"WebPage","mainEntity":{"@type":"Product","@id":"#p"}}]}"##,
            ##"{"@type":"Offer","@id":"#o","price":3,"priceCurrency":"EUR"}"##,
            ##"{"@type":"Product","@id":"#p","sku":"S1"}"##)
        #expect(try lines(html) == ["S1 A - 3 EUR"])
    }

    @Test("other things that a product leads to, and the product of a review, are not its page's")
    func elsewhere() throws {
        let html = Self.page(
            #"{"@type":"Product","sku":"1","name":"A","offers":\#(Self.offer),"isRelatedTo":[{"@type":"Product","sku":"2"}]}"#,
            #"{"@type":"Review","itemReviewed":{"@type":"Product","sku":"3"}}"#,
            #"{"@type":"ItemList","itemListElement":[{"@type":"ListItem","item":{"@type":"Product","sku":"4","name":"D"}}]}"#
        )
        #expect(try read(html).items.map(\.key) == ["1", "4"])
    }

    @Test("a thing has the page's address, unless it has its own; other types than products are read too")
    func otherTypes() throws {
        let html = Self.page(
            #"{"@type":"Event","name":"Concert","startDate":"2026-12-01T20:00","eventStatus":"https://schema.org/EventScheduled","offers":\#(Self.offer)}"#
        )
        let item = try read(
            html, ["json_ld": .text("Event"), "state": .list([.text("availability")]), "time": .text("startDate")]
        ).items[0]
        #expect(item.key == "Concert" && item.state == "InStock" && item.url == "https://shop.example.com/p/1")
    }

    // MARK: What is wrong

    @Test("a block with errors that other readers accept is read")
    func corrected() throws {
        let product = #"{"@type":"Product","sku":"1","name":"A","offers":\#(Self.offer),}"#
        for block in ["<!-- \(product) -->", "\n//<![CDATA[\n\(product)\n//]]>\n", "\(product);"] {
            #expect(try lines(Self.page(block)) == ["1 A InStock 19.00 EUR"], "\(block)")
        }
    }

    @Test("a page without the type says what it has; a broken block fails the poll only where it names the type")
    func problems() throws {
        let crumbs = #"{"@type":"BreadcrumbList","itemListElement":[]}"#
        #expect(
            problem(Self.page(crumbs))
                == "the structured data of the page has no 'Product', but BreadcrumbList; check 'json_ld'")
        #expect(
            problem(Self.page())
                == "the page has no structured data (a script of the type application/ld+json); the page has changed, or another one was sent"
        )
        let broken = #"{"@type":"Product","name":"a "big" one"}"#
        #expect(
            problem(Self.page(crumbs, broken))?.hasPrefix(
                "block 2 of the page's structured data cannot be read: the JSON document is malformed") == true)
        let good = try read(Self.page(#"{"@type":"WebSite",url:1}"#, #"{"@type":"Product","sku":"1"}"#))
        #expect(good.items.map(\.key) == ["1"])
        #expect(good.warnings.count == 1 && good.warnings[0].hasPrefix("block 1 of the page's structured data"))
        #expect(problem("[1]") == "HTML was expected, but the response is JSON")
        let cut = Self.page(#"{"@type":"Product","sku":"1"}"#).prefix(100)
        #expect(problem(String(cut))?.contains("cut off") == true)
    }

    @Test("objects inside of each other without an end are refused, not followed")
    func deep() {
        let deep = String(repeating: #"{"@type":"Thing","a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
        #expect(problem(Self.page(deep + #"/*Product*/"#)) != nil)
    }

    @Test("options that exclude each other, and values that are none, are errors")
    func options() {
        let cases: [([String: OptionValue], String)] = [
            (["json_ld": .text("Product"), "script": .text("x")], "exclude each other"),
            (["json_ld": .text("Product"), "jq": .text(".")], "'jq' is for a body that is JSON"),
            (["json_ld": .text("https://schema.org/Product")], "is no type of schema.org; write its name"),
            (["script": .text("//a[")], "is no XPath that can be read"),
            (["script": .text("two words")], "is neither an id nor an XPath"),
            (["script": .text("/html/@x = 1")], "needs a node"),
        ]
        for (options, part) in cases {
            let error = #expect(throws: OptionProblem.self) { _ = try Fixture.kind("json", options) }
            #expect(error?.detail.contains(part) == true, "\(error?.detail ?? "")")
        }
    }

    // MARK: Scripts

    @Test("the JSON of a script is read as a body of JSON is, by its id, an attribute or a path")
    func scripts() throws {
        let product: [String: OptionValue] = [
            "script": .text("__NEXT_DATA__"), "items": .text("props.pageProps.product"),
            "state": .list([.text("inStock")]), "fields": .map([("price", .text("price"))]),
        ]
        let item = try read(Self.next, product).items[0]
        #expect(item.key == "p-7" && item.title == "Lamp" && item.state == "true" && item["price"] == "79.90")
        let html = """
            <html><body><script type="application/json" data-product>[{"id":1,"name":"a < b"}]</script>
            <div data-page='{"rows":[{"id":"x  y"}]}'></div>
            <script>window.__STATE__ = {"cart":[{"id":9}],};</script></body></html>
            """
        #expect(try read(html, ["script": .text("//script[@data-product]")]).items.map(\.title) == ["a < b"])
        #expect(
            try read(html, ["script": .text("//div/@data-page"), "items": .text("rows")]).items.map(\.key) == ["x  y"])
        #expect(
            try read(html, ["script": .text("//script[contains(., '__STATE__')]"), "items": .text("cart")]).items
                .map(\.key) == ["9"])
        #expect(
            problem(html, ["script": .text("gone")])
                == "'//*[@id='gone']' finds nothing on this page; the page has changed, or another one was sent")
        #expect(problem(html, ["script": .text("//script")])?.contains("finds 2 nodes on this page") == true)
        #expect(problem(html, ["script": .text("//body")])?.isEmpty == false)
    }

    // MARK: Recognition

    @Test("probe proposes first what stands in the scripts of a shop's page")
    func recognition() throws {
        func line(_ html: String) -> String? {
            RecognitionTests.read(Array(html.utf8), headers: .init([("Content-Type", "text/html")]))?.line
        }
        let product = "json json_ld=Product state=availability fields={price:price currency:currency} state"
        for html in [Self.shopify, Self.wooCommerce, Self.magento] { #expect(line(html) == product) }
        #expect(
            line(Self.next)
                == "json script=__NEXT_DATA__ items=props.pageProps.product key=id title=title state=inStock fields={price:price} state"
        )
        #expect(line(Self.page(#"{"@type":"Product","name":"A"}"#))?.hasPrefix("html") == true)
    }

    @Test("the feed of a shop's page is not proposed in the place of its product")
    func feed() {
        let feed = #"<link rel="alternate" type="application/rss+xml" href="/p/1/feed/">"#
        let html = Self.wooCommerce.replacing("</head>", with: feed + "</head>")
        let found = Recogniser.proposals(
            url: "https://h/p", headers: .init([("Content-Type", "text/html")]), body: Array(html.utf8))
        #expect(found[0].kind == "json" && found.allSatisfy { $0.alternates.isEmpty })
    }

    @Test("delimited text is a table, whatever it is called and whichever sign it has")
    func delimited() {
        func first(_ type: String, _ text: [UInt8]) -> String? {
            let headers = ResponseHeaders([("Content-Type", type)])
            return Recogniser.proposals(url: "https://h/", headers: headers, body: text).first?.reason
        }
        let types = [("text/csv; charset=utf-8; header=present", ","), ("application/csv", ";"), ("text/plain", "\t")]
        for (type, sign) in types {
            let rows = [["sku", "name", "stock"], ["1", "Mug", "4"], ["2", "Bag", "0"], ["3", "Lamp", "7"]]
            let text = rows.map { $0.joined(separator: sign) }.joined(separator: "\r\n")
            #expect(first(type, Array(text.utf8)) == "a table of 3 lines", "\(type)")
            let found = Recogniser.proposals(
                url: "https://h/", headers: .init([("Content-Type", type)]), body: Array(text.utf8))
            let fields = found.first?.options.first { $0.name == "fields" }?.value
            guard case .map(let pairs)? = fields else {
                Issue.record("no fields")
                continue
            }
            #expect(pairs.contains(.init(name: "stock", value: "stock")))
        }
        let german: [UInt8] = Array("Nr;Stra".utf8) + [0xDF] + Array("e;Status\n1;A;offen\n2;B;zu\n3;C;offen\n".utf8)
        #expect(first("text/csv; charset=windows-1252", german) == "a table of 3 lines")
    }
}
