// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteConfig

@testable import vedette

/// What `import` prints of a list.
struct Imported {
    let yaml: String
    let remarks: [String]

    /// - Parameters:
    ///   - known: addresses that are watched already.
    ///   - sources: names that are taken.
    init(_ text: String, _ format: ImportFormat? = nil, known: Set<String> = [], sources: Set<String> = []) throws {
        var names = NamesInUse()
        names.sources = sources
        let text = ImportText(
            try ImportList(Array(text.utf8), name: "list", format: format), name: "list", known: known, names: names)
        (yaml, remarks) = (text.lines.joined(separator: "\n") + "\n", text.remarks)
    }

    /// The lines of the sources, without the indentation.
    var sources: [String] {
        let lines = yaml.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let section = lines.drop { $0 != "sources:" }.dropFirst().prefix { !$0.isEmpty }
        return section.map { String($0.dropFirst(2)) }
    }

    /// What `check` says of it, without reading secrets.
    var problems: [String] {
        let loader = ConfigurationLoader(
            directory: "/nonexistent", sourceKinds: KindRegistry.sourceKinds, sinkKinds: KindRegistry.sinkKinds,
            environment: [:], secrets: .none)
        return loader.load(adding: yaml).map(\.description)
    }
}

@Suite("Lists of other programs")
struct ImportTests {
    @Test("an entry whose login or path a source cannot have is left out with the reason")
    func impossibleLogins() throws {
        let list = try Imported("https://u:p@a.example//feed\nhttps://us%3Aer:pw@b.example/feed\n", .newsboat)
        #expect(list.yaml == "\n" && list.problems.isEmpty)
        #expect(list.remarks.count == 3 && list.remarks[0].hasPrefix("0 "))
        #expect(list.remarks[1].contains("cannot have a path that begins with '//'"))
        #expect(list.remarks[2].contains("its user holds ':'"))
    }

    @Test("imported sources have free names; what is watched already, listed twice or no web address is left out")
    func feeds() throws {
        let list = try Imported(
            """
            <opml><body><outline title="News" xmlUrl="https://a.example/1"/>
            <outline title="News again" xmlUrl="https://a.example/1"/><outline title="News" xmlUrl="https://b.example/2"/>
            <outline title="Known" xmlUrl="https://c.example/known"/><outline title="File" xmlUrl="file:///etc/passwd"/>
            </body></opml>
            """, known: ["https://c.example/known"], sources: ["news"])
        #expect(
            list.yaml == """
                sources:
                  news-2: {kind: feed, url: "https://a.example/1", every: 30m}
                  news-3: {kind: feed, url: "https://b.example/2", every: 30m}

                sinks:
                  terminal: {kind: stdout, format: line}

                rules:
                  - name: new-entries
                    when: {source: [news-2, news-3], appears: true}
                    notify: [terminal]

                """)
        #expect(
            list.remarks == [
                "2 feeds; 2 watched already or listed twice",
                "file:///etc/passwd: left out: it is no address of http or https",
            ])
        #expect(list.problems == [])
    }

    @Test("a password in an address is printed nowhere; a server of its own asks for it")
    func password() throws {
        let list = try Imported(
            "<opml><body><outline xmlUrl=\"https://ann%40x:hunter2@feeds.example/a?t=1\"/>"
                + "<outline xmlUrl=\"ftp://bob:hunter2@feeds.example/b?key=hunter2\"/></body></opml>")
        #expect(list.sources == [#"feeds-a: {kind: feed, server: feeds-a, path: "/a?t=1", every: 30m}"#])
        #expect(
            list.yaml.hasPrefix(
                """
                servers:
                  feeds-a: {url: "https://feeds.example", user: "ann@x", password: {credential: feeds-a}}

                """))
        #expect(
            list.remarks == [
                "1 feed",
                "https://feeds.example/a: left out its password: `vedette login feeds-a` asks for it and stores it",
                "ftp://feeds.example/b: left out: it is no address of http or https",
            ])
        #expect(!(list.yaml + list.remarks.joined()).contains("hunter2"))
        #expect(list.problems == [])
    }

    @Test(
        "the format is recognised by the content",
        arguments: [
            ("<?xml version='1.0'?><opml/>", ImportFormat.opml),
            ("\n# my feeds\nhttps://a.example/feed tag\n", .newsboat),
            ("\"query:Unread:unread = \\\"yes\\\"\"\n", .newsboat), ("exec:~/bin/feed.sh\n", .newsboat),
            ("name: a\nurl: https://a.example\n", .urlwatch), ("---\ncommand: ls\n", .urlwatch),
            ("\"url\": https://a.example\n", .urlwatch), ("url: https://a.example\nfilter:\n- css: p\n", .urlwatch),
            ("url: https://a.example\nfilter: html2text\n", .urlwatch), ("filter:bin/x:https://a.example\n", .newsboat),
        ])
    func recognised(_ text: String, as format: ImportFormat) { #expect(ImportFormat.of(text) == format) }

    @Test(
        "a list that may be two formats, or none, is refused with the remedy",
        arguments: ["", "hello", "url: a\nhttps://a\n"])
    func unrecognised(_ text: String) {
        let error = #expect(throws: Exit.self) { try Imported(text) }
        #expect(error?.code == .data)
        #expect(error?.description == "list is no list that is recognised; name its format with --format")
    }

    @Test("a list of newsboat has feeds, files and programs; what has no feed of its own is left out with the remedy")
    func newsboat() throws {
        let list = try Imported(
            #"""
            # comment
            https://a.example/rss news "cool stuff" "~A News" # why
            https://a.example/rss again
            https://ann:hunter2@b.example/feed.xml "!hidden"
            file:///var/log/events.xml

            "exec:~/bin/make-feed.sh --all"
            filter:~/bin/strip.sh:https://c.example/feed
            "query:Unread:unread = \"yes\""
            gopher://d.example/
            """#)
        #expect(
            list.sources == [
                #"a-news: {kind: feed, url: "https://a.example/rss", every: 30m}"#,
                "b: {kind: feed, server: b, path: /feed.xml, every: 30m}",
                #"events: {kind: feed, url: "file:///var/log/events.xml", every: 30m}"#,
                #"make-feed-sh: {kind: feed, command: [sh, "-c", "~/bin/make-feed.sh --all"], every: 30m}"#,
            ])
        #expect(
            list.remarks == [
                "4 feeds; 1 watched already or listed twice",
                "left out the tags of 2 feeds: a rule names its sources in 'when: {source: […]}'",
                "list:4: https://b.example/feed.xml: left out that it is hidden: remove it from the rule if nothing is to be told of it",
                "list:4: https://b.example/feed.xml: left out its password: `vedette login b` asks for it and stores it",
                "list:8: filter:~/bin/strip.sh: left out: a source has no filter; read the output of a command instead: "
                    + "[sh, -c, 'curl -fsS URL | ~/bin/strip.sh']",
                "list:9: query:Unread: left out: it has no feed of its own; a rule with 'item' chooses entries",
                "list:10: gopher://d.example/: left out: it is no address of http, https or a file (file:///…)",
            ])
        #expect(list.problems == [])
    }
}
