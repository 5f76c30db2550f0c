// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("The connections kind's options")
struct ConnectionsOptionTests {
    private static let base = "https://connections.example.org"

    private func address(_ options: [String: OptionValue], base: String = base, _ context: PollContext = .init()) throws
        -> String
    {
        try Connections(Options(options)).request(base: base, context: context).url
    }

    private func problem(_ options: [String: OptionValue]) -> OptionProblem? {
        do throws(OptionProblem) {
            _ = try Connections(Options(options))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "each view has its resource",
        arguments: [
            (["updates": "public"], "/news/atom/stories/public?ps=100"),
            (["updates": "person", "userid": "u1"], "/news/atom/stories/public/person?userid=u1&ps=100"),
            (
                ["updates": "person", "email": "a@b.example"],
                "/news/atom/stories/public/person?email=a%40b.example&ps=100"
            ),
            (
                ["updates": "status", "source": "Network", "comments": "none"],
                "/news/atom/stories/statusupdates?source=network&comments=none&ps=100"
            ),
            (["updates": "newsfeed"], "/news/atom/stories/newsfeed?ps=100"),
            (["updates": "top", "source": "profiles"], "/news/atom/stories/top?source=profiles&ps=100"),
            (["updates": "community"], "/news/atom/stories/community?ps=100"),
            (["updates": "saved", "userid": "u1"], "/news/atom/stories/saved?userid=u1&ps=100"),
            (
                ["updates": "search", "query": "a & b", "tag": "ops", "source": "Bookmarks"],
                "/search/atom/search/results?query=a%20%26%20b&tag=ops&component=dogear&sortKey=date&ps=100"
            ),
            (["updates": "search", "userid": "u1"], "/search/atom/search/results?userid=u1&sortKey=date&ps=100"),
        ])
    func resources(options: [String: String], expected: String) throws {
        #expect(try address(options.mapValues(OptionValue.text)) == Self.base + expected)
    }

    @Test(
        "each view of the stream has its address",
        arguments: [
            ([:], "@public/@all/@all?"), (["source": "bookmarks"], "@public/@all/dogear?"),
            (["updates": "status"], "@public/@all/@status?"), (["updates": "newsfeed"], "@me/@all/@all?"),
            (["updates": "saved"], "@me/@saved/@all?"), (["updates": "responses"], "@me/@responses/@all?"),
            (["updates": "actions", "source": "Activities"], "@me/@actions/activities?"),
            (["updates": "mentions"], "@me/@mentions/@all?"), (["updates": "community"], "@me/@all/@communities?"),
            (
                ["updates": "community", "container": "da875cbe-dfda-56eb"],
                "urn:lsid:lconn.ibm.com:communities.community:da875cbe-dfda-56eb/@all/@all?"
            ),
            (
                [
                    "updates": "community", "container": "urn:lsid:lconn.ibm.com:communities.community:da875cbe",
                    "source": "blogs",
                ],
                "urn:lsid:lconn.ibm.com:communities.community:da875cbe/@all/blogs?"
            ),
            (
                ["updates": "person", "userid": "u1"],
                "@public/@all/@all?filterBy=involved&filterOp=equals&filterValue=u1&"
            ),
        ] as [([String: String], String)])
    func stream(options: [String: String], expected: String) throws {
        let path = Self.base + "/connections/opensocial/basic/rest/activitystreams/" + expected
        let options = options.merging(["format": "json"]) { a, _ in a }
        #expect(
            try address(options.mapValues(OptionValue.text))
                == path + "rollup=true&shortStrings=true&format=json&count=100")
    }

    @Test(
        "a view that the stream alone has needs no format", arguments: ["responses", "actions", "mentions"])
    func streamAlone(updates: String) throws {
        let path = Self.base + "/connections/opensocial/basic/rest/activitystreams/@me/@\(updates)/@all?"
        #expect(try address(["updates": .text(updates)]).hasPrefix(path))
        var page = try Fixture.page("connections-activitystreams-public.json", url: path)
        #expect(try !Connections(Options(["updates": .text(updates)])).read(&page).items.isEmpty)
    }

    @Test("the seven applications and Forums are accepted in either case", arguments: ConnectionsApplication.allCases)
    func sources(application: ConnectionsApplication) throws {
        let name = application.rawValue
        for text in [name, name.uppercased(), name.prefix(1).uppercased() + name.dropFirst()] {
            #expect(try address(["source": .text(text)]).contains("?source=\(name)&"))
        }
    }

    @Test(
        "languages are accepted in Java's form and in Dojo's",
        arguments: [("en_IE", "en_IE"), ("EN_ie", "en_IE"), ("en-ie", "en-ie"), ("pt-BR", "pt-br"), ("de", "de")])
    func languages(text: String, sent: String) throws {
        #expect(try address(["lang": .text(text)]).contains("lang=\(sent)&"))
    }

    @Test("dates are RFC 3339 or plain, and sent as the API writes them")
    func dates() throws {
        let sent = try address(["since": .text("2026-11-01"), "before": .text("2026-11-21T10:00:00.5+01:00")])
        #expect(sent.contains("before=2026-11-21T09%3A00%3A00.500Z"))
        #expect(sent.hasSuffix("&since=2026-11-01T00%3A00%3A00Z"))
    }

    @Test(
        "options that the API does not allow are refused before any request, with the option's name and a remedy",
        arguments: [
            (["container": "c1"], "container", "write its 'source' too"),
            (["container": "c1", "updates": "status", "source": "network"], "container", "write its 'source' too"),
            (["container": " ", "source": "blogs"], "container", "'container' is empty"),
            (["source": "blog"], "source", "did you mean blogs?"),
            (["source": "network"], "source", "not an application"),
            (["updates": "person"], "updates", "needs a userid, or an email"),
            (["updates": "saved", "email": "a@b.example"], "updates", "needs the userid"),
            (["email": "nobody"], "email", "not an e-mail address"), (["userid": ""], "userid", "'userid' is empty"),
            (["before": "yesterday"], "before", "2008-02-07T21:07:56Z"),
            (["since": "21.11.2026"], "since", "not a date"),
            (["since": "2026-02-30"], "since", "not a date"),
            (["since": "2026-11-21", "before": "2026-11-20"], "before", "later than 'since'"),
            (["lang": "english"], "lang", "en_IE or en-ie"), (["lang": ""], "lang", "en_IE or en-ie"),
            (["lang": "en_"], "lang", "en_IE or en-ie"), (["lang": "en-ie-x"], "lang", "en_IE or en-ie"),
            (["comments": "all"], "comments", "updates: status"), (["tag": "ops"], "tag", "updates: search"),
            (["query": "ops"], "query", "updates: search"), (["updates": "search"], "updates", "needs a query"),
            (["updates": "search", "tag": "a", "since": "2026-11-21"], "since", "remove it"),
            (["format": "json", "email": "a@b.example"], "email", "write the person's userid"),
            (["format": "json", "updates": "top"], "updates", "use the format atom"),
            (["format": "json", "before": "2026-11-21"], "before", "remove it"),
            (["format": "json", "updates": "status", "source": "blogs"], "source", "remove it"),
            (["format": "json", "updates": "person"], "updates", "needs a userid"),
            (["format": "atom", "updates": "mentions"], "format", "use the format json"),
            (["updates": "actions", "email": "a@b.example"], "email", "write the person's userid"),
            (["updates": "responses", "container": "c1"], "container", "it belongs to 'updates: community'"),
            (["format": "json", "updates": "community", "source": "blogs"], "source", "name one community"),
            (["format": "json", "updates": "community", "container": " "], "container", "'container' is empty"),
            (["format": "json", "updates": "community", "container": "c/../1"], "container", "communityUuid="),
            (
                ["format": "json", "updates": "community", "container": "urn:lsid:ibm.com:blogs:blog-1"], "container",
                "communityUuid="
            ),
        ])
    func refused(options: [String: String], option: String, sentence: String) throws {
        let found = try #require(problem(options.mapValues(OptionValue.text)))
        #expect(found.path == [option])
        #expect(found.detail.contains(sentence), "\(found.detail)")
    }

    @Test("page sizes from 1 to 100 and pages from 1 are accepted")
    func pages() throws {
        func type(_ name: String) -> OptionType? { Connections.entry.options.first { $0.name == name }?.type }
        #expect(type("page_size") == .integer(1...100))
        #expect(type("page") == .integer(1...1_000_000))
        #expect(try address(["page_size": .integer(7), "page": .integer(3)]).hasSuffix("?ps=7&page=3"))
    }

    @Test("further parameters are passed on; one that an option sets is refused with its place")
    func parameters() throws {
        let map = OptionValue.map([("communityUUID", .text("c 1")), ("rollup", .text("false"))])
        #expect(try address(["parameters": map]).hasSuffix("ps=100&communityUUID=c%201&rollup=false"))
        #expect(try address(["parameters": map, "format": .text("json")]).contains("rollup=false"))
        #expect(try !address(["parameters": map, "format": .text("json")]).contains("rollup=true"))
        for name in ["ps", "since", "page"] {
            #expect(problem(["parameters": .map([(name, .text("1"))])])?.path == ["parameters", name])
        }
    }

    @Test("userid takes precedence over email, with a warning in every reading")
    func person() throws {
        let both: [String: OptionValue] = ["userid": .text("u1"), "email": .text("a@b.example")]
        #expect(try address(both).contains("userid=u1"))
        #expect(try !address(both).contains("email"))
        var page = try Fixture.page("connections-public-empty.xml")
        #expect(try Connections(Options(both)).read(&page).warnings.contains { $0.contains("'userid' wins") })
        page.number = 2
        #expect(try Connections(Options(both)).read(&page).warnings.isEmpty)
    }

    @Test("an address with a path of its own is kept, and so is its query")
    func ownPath() throws {
        #expect(try address([:], base: Self.base + "/lc/news/mine?x=1") == Self.base + "/lc/news/mine?x=1&ps=100")
        #expect(try address([:], base: Self.base + "/").hasPrefix(Self.base + "/news/atom/stories/public?"))
        #expect(try address([:], base: "file:///tmp/a.xml") == "file:///tmp/a.xml")
    }

    @Test("since is the newest time less the margin, in whole minutes, and never in the future")
    func since() throws {
        let noon = Timestamp(milliseconds: 1_795_003_259_999)
        func asked(_ options: [String: OptionValue], newest: Timestamp?, now: Timestamp) throws -> String? {
            let context = PollContext(newest: newest, now: now)
            let url = WebURL(try address(options, context))
            return url?.parameter("since") ?? url?.parameter("updatedSince")
        }
        let later = noon.advanced(by: .seconds(7200))
        #expect(try asked([:], newest: nil, now: later) == nil)
        #expect(try asked([:], newest: noon, now: later) == "2026-11-18T11:50:00Z")
        #expect(try asked(["format": .text("json")], newest: noon, now: later) == "2026-11-18T11:50:00Z")
        #expect(try asked(["margin": .duration(.seconds(0))], newest: noon, now: later) == "2026-11-18T12:00:00Z")
        #expect(try asked([:], newest: later, now: noon) == "2026-11-18T11:50:00Z")
        #expect(try asked(["incremental": .flag(false)], newest: noon, now: later) == nil)
        #expect(try asked(["since": .text("2026-12-01")], newest: noon, now: later) == "2026-12-01T00:00:00Z")
        #expect(try asked(["since": .text("2020-01-01")], newest: noon, now: later) == "2026-11-18T11:50:00Z")
        #expect(try asked(["updates": .text("search"), "tag": .text("a")], newest: noon, now: later) == nil)
    }

    @Test("other entries are another identity; page size, language and margin are not")
    func identity() throws {
        func identity(_ options: [String: OptionValue]) throws -> UInt64 { try Connections(Options(options)).identity }
        let plain = try identity([:])
        let same: [[String: OptionValue]] = [
            ["page_size": .integer(20)], ["lang": .text("it")], ["margin": .duration(.seconds(1))],
            ["incremental": .flag(false)], ["since": .text("2026-01-01")],
        ]
        for options in same { #expect(try identity(options) == plain) }
        let other: [[String: OptionValue]] = [
            ["source": .text("blogs")], ["userid": .text("u")], ["updates": .text("top")], ["format": .text("json")],
            ["parameters": .map([("x", .text("1"))])],
        ]
        for options in other { #expect(try identity(options) != plain) }
        let french = try Connections(Options(["lang": .text("fr")])).fingerprints
        let english = try Connections(Options(["lang": .text("en")])).fingerprints
        #expect(french["title"] != english["title"] && french["content"] != english["content"])
    }
}
