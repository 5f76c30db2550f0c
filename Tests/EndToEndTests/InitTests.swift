// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The first minute", .timeLimit(.minutes(10)))
struct InitTests {
    @Test("without a configuration run says what to type, and init writes one that check accepts, once")
    func first() async throws {
        let home = try Home()
        let empty = ["HOME": home.directory.path, "XDG_CONFIG_HOME": home.directory.path + "/none"]
        let run = try await Program.run(["run"], environment: empty)
        #expect(run.code == 78)
        #expect(run.err.contains("vedette init") && run.err.split(separator: "\n").count == 3, "\(run.err)")
        let path = home.directory.path + "/new"
        let written = try await Program.run(["init", "--config", path], environment: empty)
        #expect(written.code == 0 && written.err.contains("written: \(path)/vedette.yaml"), "\(written.err)")
        let mode = try FileManager.default.attributesOfItem(atPath: path + "/vedette.yaml")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let check = try await Program.run(["check", "--config", path], environment: empty)
        #expect(check.code == 0 && check.out.contains("1 source, 1 sink, 1 rule"), "\(check.err)")
        let again = try await Program.run(["init", "--config", path], environment: empty)
        #expect(again.code == 73 && again.err.contains("is a configuration already"), "\(again.err)")
    }

    @Test("init writes the file that --config names, and no directory of that name")
    func file() async throws {
        let home = try Home()
        let usual = try await Program.run(["init"], environment: ["XDG_CONFIG_HOME": home.directory.path + "/xdg"])
        #expect(usual.err.contains("\n  vedette check  "), "\(usual.err)")
        let path = home.directory.path + "/deep/work.yaml"
        let written = try await Program.run(["init", "--config", path])
        #expect(written.code == 0 && written.err.contains("written: \(path)\n"), "\(written.err)")
        #expect(written.err.contains("  vedette check --config \(path)  "), "\(written.err)")
        let check = try await Program.run(["check", "--config", path])
        #expect(check.code == 0 && check.out.contains("1 source, 1 sink, 1 rule"), "\(check.err)")
        let again = try await Program.run(["init", "--config", path])
        #expect(again.code == 73 && again.err.contains("work.yaml is a configuration already"), "\(again.err)")
        let other = try await Program.run(["init", "--config", home.directory.path + "/work.yml"])
        #expect(other.code == 64 && other.err.contains("ends in .yaml"), "\(other.err)")
    }

    @Test("init --url writes what probe proposes, and one file is a configuration")
    func address() async throws {
        let lab = try await Lab("feeds", "--feeds", "1")
        let home = try Home()
        let path = home.directory.path + "/new"
        let written = try await Program.run(["init", "--url", lab["feeds"] + "/feed/0.xml", "--config", path])
        #expect(written.code == 0, "\(written.err)")
        #expect(try String(contentsOfFile: path + "/vedette.yaml", encoding: .utf8).contains("\n    every: 30m\n"))
        let once = try await Program.run(
            ["run", "--once", "--config", path + "/vedette.yaml", "--state", home.directory.path + "/state"])
        #expect(once.code == 0 && once.err.contains("baseline"), "\(once.err)")
    }

    @Test("a feed list goes in and out again")
    func lists() async throws {
        let lab = try await Lab("feeds", "--feeds", "2")
        let home = try Home(lab)
        let list = home.directory.appending(path: "list.opml")
        try """
        <opml version="2.0"><body><outline text="One" xmlUrl="\(lab["feeds"])/feed/0.xml"/>
        <outline text="Two" xmlUrl="\(lab["feeds"])/feed/1.xml"/></body></opml>
        """.write(to: list, atomically: true, encoding: .utf8)
        let imported = try await home.vedette("import", list.path)
        #expect(imported.code == 0 && imported.err.contains("2 feeds"), "\(imported.err)")
        try home.write(imported.out)
        #expect(try await home.vedette("check").out.contains("2 sources, 1 sink, 1 rule"))
        let exported = try await home.vedette("export")
        #expect(exported.out.contains("xmlUrl=\"\(lab["feeds"])/feed/1.xml\""), "\(exported.out)")
        let second = try await home.vedette("import", list.path)
        #expect(second.out.isEmpty && second.err.contains("0 feeds; 2 watched already"), "\(second.err)")
        try home.write(imported.out + "nonsense: 1\n")
        let third = try await home.vedette("import", list.path)
        #expect(third.out.isEmpty && third.err.contains("0 feeds; 2 watched already"), "an error elsewhere")
        #expect(third.err.contains("warning: the configuration has 1 error"), "\(third.err)")
    }

    @Test("an exported list has no command, and no feed that other programs cannot read")
    func closedFeeds() async throws {
        let home = try Home()
        try home.write(
            """
            servers:
              panel:
                url: "https://panel.example.com"
                session: {login: /login, fields: {user: me, password: {env: NOT_HERE}}}
              token:
                url: "https://token.example.com"
                session:
                  post: /login
                  json: {password: {env: NOT_HERE}}
                  token: {field: jwt}
                  send: {header: Authorization, scheme: Bearer}
            sources:
              open: {kind: feed, url: "https://open.example.com/feed"}
              private: {kind: feed, command: [curl, -u, "ann:hunter2", "https://private.example.com/feed"]}
              panel: {kind: feed, server: panel, path: /feed}
              token: {kind: feed, server: token, path: /feed}
            """)
        let exported = try await home.vedette("export")
        #expect(exported.code == 0 && exported.err.contains("left out: 3 feeds"), "\(exported.err)")
        #expect(exported.out.components(separatedBy: "xmlUrl=").count == 2, "\(exported.out)")
        #expect(exported.out.contains("xmlUrl=\"https://open.example.com/feed\""), "\(exported.out)")
    }

    @Test("the jobs of another program are imported, pass check, and tell a change of the part that they choose")
    func jobs() async throws {
        let home = try Home()
        let page = home.directory.appending(path: "page.html")
        func show(_ version: String, _ visitors: Int) throws {
            let text = "<html><body><p id=\"v\">Version \(version)</p><p>\(visitors) visitors</p></body></html>"
            try Data(text.utf8).write(to: page)
        }
        let list = home.directory.appending(path: "urls.yaml")
        try """
        name: Releases
        url: file://\(page.path)
        filter:
          - css: "p#v"
          - html2text
          - strip
        ---
        name: Disk
        command: |
          printf 'root %s\\nhome 5\\n' "$(wc -l <'\(page.path)')"
        filter:
          - grep: ^home
        tags: [a]
        ---
        name: Off
        url: https://off.example.com/
        enabled: false
        """.write(to: list, atomically: true, encoding: .utf8)
        try show("1", 10)
        let imported = try await home.vedette("import", list.path)
        #expect(imported.code == 0, "\(imported.err)")
        #expect(
            imported.err == """
                2 sources
                \(list.path):8: Disk: left out 'tags': a rule names its sources in 'when: {source: […]}'
                \(list.path):15: Off: left out: it is switched off; remove 'enabled' and import it again

                """)
        try home.write(imported.out)
        let check = try await home.vedette("check")
        #expect(check.code == 0 && check.out.contains("2 sources, 1 sink, 3 rules"), "\(check.out)\(check.err)")
        let once = try await home.vedette("run", "--once")
        #expect(once.code == 0 && once.out.isEmpty, "\(once.err)")
        try show("1", 11)
        #expect(try await home.vedette("run", "--once", "--force").out.isEmpty)
        try show("2", 11)
        let changed = try await home.vedette("run", "--once", "--force")
        #expect(changed.lines.count == 1 && changed.out.contains("releases"), "\(changed.out)\(changed.err)")
        let again = try await home.vedette("import", list.path)
        #expect(again.out.isEmpty && again.err.hasPrefix("0 sources; 2 watched already"), "\(again.err)")
    }
}
