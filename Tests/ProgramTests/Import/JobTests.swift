// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteConfig

@testable import vedette

@Suite("Jobs of urlwatch and webchanges")
struct JobTests {
    /// The source of one job, without its name and interval.
    private func source(_ job: String) throws -> (source: String, remarks: [String]) {
        let list = try Imported(job, .urlwatch)
        #expect(list.problems == [])
        let line = (list.sources.first ?? "none: {}, every: 30m}").replacing(", every: 30m}", with: "")
        return (String(line.drop { $0 != "{" }.dropFirst()), Array(list.remarks.dropFirst()))
    }

    @Test(
        "a job with an equal becomes its kind, without a remark",
        arguments: [
            ("url: https://a.example/", #"kind: html, url: "https://a.example/""#),
            ("url: https://a.example/\nfilter: html2text", #"kind: html, url: "https://a.example/""#),
            (
                "url: https://a.example/\nfilter:\n  - xpath: //main\n  - html2text: re\n  - strip",
                #"kind: html, url: "https://a.example/", select: //main"#
            ),
            (
                "url: https://a.example/\nfilter: css:div.news,html2text,strip",
                #"kind: html, url: "https://a.example/", select: "//div[contains(concat(' ', normalize-space(@class), ' '), ' news ')]""#
            ),
            (
                "url: https://a.example/\nfilters:\n  - css: {selector: li, exclude: b, skip: 1, maxitems: 2}",
                #"kind: html, url: "https://a.example/", select: "(//li)[position() > 1 and position() <= 3]", ignore: [//b]"#
            ),
            (
                "url: https://a.example/\nfilter:\n  - element-by-id: main",
                #"kind: html, url: "https://a.example/", select: "//*[@id = 'main']""#
            ),
            (
                "url: https://a.example/\nfilter:\n  - xpath: {path: //li, sort: true}",
                #"kind: html, url: "https://a.example/", items: //li, key: ".""#
            ),
            (
                "url: https://a.example/\nfilter:\n  - xpath: string(//h1)",
                #"kind: html, url: "https://a.example/", fields: {value: "string(//h1)"}"#
            ),
            (
                "url: https://a.example/m\nfilter:\n  - xpath: {path: '//m:k', method: xml, namespaces: {m: 'urn:m'}}",
                #"kind: xml, url: "https://a.example/m", namespaces: {m: "urn:m"}, items: "//m:k", key: ".", title: ".""#
            ),
            ("url: https://a.example/a.txt", #"kind: text, url: "https://a.example/a.txt""#),
            (
                "url: https://a.example/a.txt\nfilter:\n  - grep: '^v[0-9]+'\n  - grepi: beta\n  - sort",
                #"kind: text, url: "https://a.example/a.txt", match: "^(?=.*(?:^v[0-9]+))(?!.*(?:beta)).+$""#
            ),
            (
                "url: https://a.example/a.txt\nfilters:\n  - keep_lines_containing: a.b",
                #"kind: text, url: "https://a.example/a.txt", match: '^(?=.*(?:a\.b)).+$'"#
            ),
            (
                "url: https://a.example/v\nfilter:\n  - jq: .tag_name",
                #"kind: json, url: "https://a.example/v", fields: {value: tag_name}"#
            ),
            (
                "url: https://a.example/v\nfilter:\n  - jq: {query: '.[].title'}",
                #"kind: json, url: "https://a.example/v", jq: "[.[].title\n| tostring]""#
            ),
            (
                "url: https://a.example/v\nfilter:\n  - jq: '.[0].name'",
                #"kind: json, url: "https://a.example/v", jq: "{value: [.[0].name\n]}", fields: {value: value}"#
            ),
            (
                "url: https://a.example/f.pdf\nfilter: sha1sum",
                #"kind: http, url: "https://a.example/f.pdf", body: compare"#
            ),
            (
                "url: https://a.example/t.ics\nfilter:\n  - ical2text",
                #"kind: calendar, url: "https://a.example/t.ics""#
            ),
            (
                "url: https://a.example/v\nfilter:\n  - jq: .tag_name\n  - sha1sum",
                #"kind: json, url: "https://a.example/v", fields: {value: tag_name}"#
            ),
            (
                "url: https://a.example/a.txt\nfilter:\n  - grep: b\n  - sha1sum",
                #"kind: text, url: "https://a.example/a.txt", match: "^(?=.*(?:b)).+$""#
            ),
            ("command: page.sh\nfilter: html2text", #"kind: html, command: [sh, "-c", page.sh]"#),
            ("command: ls -al ~", #"kind: text, command: [sh, "-c", "ls -al ~"]"#),
            ("command: |\n  echo a\n  echo b\nkind: shell", #"kind: text, command: [sh, "-c", "echo a\necho b\n"]"#),
            (
                "url: https://a.example/s\ndata: {q: a b, n: 4}\nmax_tries: 5",
                #"kind: html, url: "https://a.example/s", body: {"q":"a b","n":4}, fails: "5""#
            ),
            (
                "url: https://a.example/s\ndata: {q: 1}\ndata_as_json: true\nfilter:\n  - jq: .n",
                #"kind: json, url: "https://a.example/s", fields: {value: "n"}, body: {"q":1}"#
            ),
            ("url: https://a.example/\nmethod: HEAD", #"kind: http, url: "https://a.example/", method: HEAD"#),
            (
                "url: https://a.example/\nparams: {q: a&b}\ntreat_new_as_changed: yes",
                #"kind: html, url: "https://a.example/?q=a%26b", first: announce"#
            ),
            (
                "url: https://a.example/\nheaders: {User-Agent: me, Accept-Language: de}\nssl_no_verify: false",
                #"kind: html, url: "https://a.example/", user_agent: me, headers: {"Accept-Language": de}"#
            ),
            ("url: file:///srv/page.html", #"kind: html, url: "file:///srv/page.html""#),
        ])
    func equals(_ job: String, _ source: String) throws {
        let made = try self.source(job)
        #expect(made.source == source)
        #expect(made.remarks == [])
    }

    @Test(
        "what has no equal is said with the remedy, and the rest of the job stays",
        arguments: [
            (
                "url: https://a.example/\nfilter:\n  - html2text\n  - grep: x",
                "left out the choice of lines: what is read has none; name the part of the page that holds them with 'select', or rows of it with 'items'"
            ),
            (
                "url: https://a.example/\nfilter: [html2text, sort]",
                "left out the order of lines: what is read has none; name the rows of the page with 'items'"
            ),
            (
                "url: https://a.example/a.pdf\nfilter: [pdf2text, {grep: b}]",
                "left out the choice of lines: what is read has none; a command can print the text of the file"
            ),
            (
                "url: https://a.example/\nfilter:\n  - re.sub: x",
                "left out the filter 're.sub': 'replace' of the source changes texts, as [{regex: '…', with: '…'}], whose groups are $1"
            ),
            (
                "url: https://a.example/\nfilter:\n  - shellpipe: tr a b",
                "left out the filter 'shellpipe': read the output of a command instead: [sh, -c, 'curl -fsS URL | PROGRAM']"
            ),
            (
                "url: https://a.example/\nfilter:\n  - case: upper",
                "left out the filter 'case': it is unknown here; read the output of a command instead: [sh, -c, 'curl -fsS URL | PROGRAM']"
            ),
            (
                "url: https://a.example/\nfilter:\n  - css: 'a:hover'",
                "left out the filter 'css': 'a:hover': ':hover' has no equal in XPath 1.0: a page that is only read has no such state; leave it out; write an XPath into 'select'"
            ),
            (
                "url: https://a.example/\nfilter:\n  - element-by-id: a\n  - xpath: //b",
                "left out the filter 'xpath': a source selects once; write both as one XPath in 'select'"
            ),
            (
                "url: https://a.example/a.txt\nfilter:\n  - grep: '('",
                "left out the filter 'grep': PCRE2 cannot read its expression here; write 'match' into the source"
            ),
            (
                "url: https://a.example/a.pdf\nfilter:\n  - pdf2text",
                "left out the filter 'pdf2text': the bytes of the file are compared; for its text read a command that prints it"
            ),
            (
                "navigate: https://a.example/",
                "left out the browser: scripts are not run; where the page lacks its text, watch the API that it asks"
            ),
            (
                "url: https://a.example/\nuse_browser: true\nwait_for_selector: b\nswitches: [a]",
                "left out 'wait_for_selector' and 'switches': no browser is run"
            ),
            (
                "url: https://a.example/\ntags: [a]\ntimeout: 5\nssl_no_verify: true",
                "left out 'ssl_no_verify': certificates are checked; `vedette trust SOURCE` pins the key of a self-signed one"
            ),
            (
                "url: https://a.example/\nmystery: 1",
                "left out 'mystery': it is unknown here; look for its equal in Configuration"
            ),
            (
                "url: https://a.example/\nadditions_only: true",
                "left out 'additions_only': the text is compared as one; a rule tells each change of it"
            ),
            (
                "url: https://a.example/t\ndata: x\nfilter: [ical2text]",
                "left out the kind 'calendar': it makes no POST; the response is read as a page of the kind 'html'"
            ),
        ])
    func partly(_ job: String, _ remark: String) throws {
        let made = try source(job)
        #expect(!made.source.isEmpty)
        #expect(
            made.remarks.contains { $0.hasSuffix(": \(remark)") && $0.hasPrefix("list:1: https://a.example/") },
            "\(made.remarks)")
    }

    @Test(
        "a job without an equal is left out whole, with the remedy",
        arguments: [
            ("url: https://a.example/\nenabled: false", "it is switched off; remove 'enabled' and import it again"),
            (
                "url: https://a.example/\nkind: custom-login",
                "its kind 'custom-login' is of your hooks; write a source of the kind 'html' or 'json'"
            ),
            (
                "url: ftp://bob:hunter2@a.example/f",
                "only addresses of http, https and files (file:///…) are read; let a command fetch it"
            ),
            (
                "url: https://a.example/\nmethod: PURGE",
                "requests are made by GET and POST, not by 'PURGE'; let a command make it"
            ),
            (
                "url: https://a.example/\nmethod: GET\ndata: x",
                "a GET has no body here; write its data into the address"
            ),
            ("name: nothing", "it has neither 'url' nor 'command'"),
            ("- a\n- b", "it is no map with 'url' or 'command'"),
            ("command: ' '", "its command is empty"),
        ])
    func wholly(_ job: String, _ reason: String) throws {
        let list = try Imported(job, .webchanges)
        #expect(list.yaml == "\n" && list.remarks.first == "0 sources")
        #expect(list.remarks.dropFirst().map { $0.hasSuffix(": left out: \(reason)") } == [true], "\(list.remarks)")
        #expect(!list.remarks.joined().contains("hunter2"))
    }

    @Test("each document is a job with its line; rules gather sources by what they tell, and failures are told")
    func documents() throws {
        let list = try Imported(
            """
            # my jobs
            name: Terms of use
            url: https://a.example/terms
            ---
            name: "Versions"
            url: https://a.example/v.txt
            filter: [sort]
            additions_only: true
            ---
            name: Disk
            command: df -h
            tags: [home]
            ---
            """, .urlwatch)
        #expect(
            list.yaml == """
                sources:
                  terms-of-use: {kind: html, url: "https://a.example/terms", every: 30m}
                  versions: {kind: text, url: "https://a.example/v.txt", match: "^.+$", every: 30m}
                  disk: {kind: text, command: [sh, "-c", "df -h"], every: 30m}

                sinks:
                  terminal: {kind: stdout, format: line}

                rules:
                  - name: changed-text
                    when: {source: [terms-of-use, disk], changes: text}
                    notify: [terminal]
                  - name: new-rows
                    when: {source: [versions], appears: true}
                    notify: [terminal]
                  - name: failures
                    when: {source: [terms-of-use, versions, disk], source_state: failing}
                    resolved: true
                    notify: [terminal]

                """)
        #expect(
            list.remarks == [
                "3 sources", "list:10: Disk: left out 'tags': a rule names its sources in 'when: {source: […]}'",
            ])
        #expect(list.problems == [])
    }

    @Test("secrets of a request are printed nowhere: a login or a credential stands in their place")
    func secrets() throws {
        let list = try Imported(
            """
            name: A
            url: https://a.example/x?api_key=in-the-address
            headers: {Authorization: Basic YW5uOmh1bnRlcjI=, X-Api-Key: hunter2}
            cookies: {sid: hunter2}
            ---
            name: B
            url: https://b.example/
            headers: {authorization: Bearer hunter2}
            """, .urlwatch)
        #expect(
            list.yaml.hasPrefix(
                """
                servers:
                  a: {url: "https://a.example", user: ann, password: {credential: a}}
                  b: {url: "https://b.example", token: {credential: b}}

                sources:
                  a: {kind: html, server: a, path: "/x?api_key=in-the-address", headers: {"X-Api-Key": {credential: a-x-api-key}, Cookie: {credential: a-cookie}}, every: 30m}
                  b: {kind: html, server: b, path: /, every: 30m}

                """), "\(list.yaml)")
        #expect(!(list.yaml + list.remarks.joined()).contains("hunter2"))
        #expect(!list.remarks.joined().contains("in-the-address"))
        #expect(list.remarks.contains { $0.contains("`vedette login a`") && $0.hasPrefix("list:1: A: ") })
        #expect(list.remarks.contains { $0.contains("`vedette login a-cookie` asks for it") })
        #expect(list.problems == [])
    }

    @Test(
        "a file that is no YAML is refused at its place",
        arguments: ["url: [a", "url: a\nurl: b", "a: &x [*x]\n<<: *y"])
    func broken(_ text: String) {
        let error = #expect(throws: Exit.self) { try Imported(text, .urlwatch) }
        #expect(error?.code == .data && error?.description.hasPrefix("list:") == true, "\(error?.description ?? "")")
    }
}
