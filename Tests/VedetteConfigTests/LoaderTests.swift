// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteConfig

struct LoaderTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    func said(_ loaded: Loaded) -> [String] {
        loaded.problems.map { $0.description.replacing(directory.path, with: "DIR") }
    }

    @Test("every *.yaml of the directory and of rules/ is read, in bytewise order of path")
    func files() throws {
        for name in ["b.yaml", "B.yaml", "a.yaml", "rules/z.yaml", "rules/a.yaml", "sources.yaml", "rules.yaml"] {
            try directory.write("", to: name)
        }
        for name in [".swap.yaml", "notes.txt", "deeper/c.yaml", "rules/deeper/d.yaml", "rules/x.yaml~"] {
            try directory.write("[", to: name)
        }
        let loaded = loader(directory: directory.path).load()
        #expect(said(loaded) == [])
        let names = ["B.yaml", "a.yaml", "b.yaml", "rules.yaml", "rules/a.yaml", "rules/z.yaml", "sources.yaml"]
        #expect(loaded.configuration?.files == names.map { directory.path + "/" + $0 })
        #expect(loaded.directory == directory.path)
    }

    @Test("a *.yml file is reported, since only *.yaml is read")
    func otherNames() throws {
        try directory.write("", to: "a.yaml")
        try directory.write("", to: "rules/b.yml")
        let loaded = loader(directory: directory.path).load()
        #expect(said(loaded) == ["DIR/rules/b.yml: warning: only *.yaml is read; rename it"])
        #expect(loaded.configuration != nil)
    }

    @Test("the first directory that exists is taken: --config, XDG_CONFIG_HOME, then /etc")
    func search() throws {
        try directory.write("", to: "vedette/a.yaml")
        try directory.write("", to: ".config/vedette/b.yaml")
        let home = ["HOME": directory.path]
        #expect(loader(home).load().directory == directory.path + "/.config/vedette")
        let config = home.merging(["XDG_CONFIG_HOME": directory.path]) { $1 }
        #expect(loader(config).load().directory == directory.path + "/vedette")
        let relative = home.merging(["XDG_CONFIG_HOME": "vedette"]) { $1 }
        #expect(loader(relative).load().directory == directory.path + "/.config/vedette")
        #expect(
            loader(directory: directory.path + "/.config/vedette", config).load().directory == directory.path
                + "/.config/vedette")
    }

    @Test("no directory and an empty one are errors with the remedy")
    func nothing() throws {
        #expect(
            said(loader(directory: directory.path + "/x").load()) == [
                "DIR/x: this directory does not exist; `vedette init --config DIR/x` writes a first one there"
            ])
        #expect(
            said(loader(directory: directory.path).load()) == [
                "DIR: no *.yaml file is here; `vedette init` writes one, or name another directory with --config"
            ])
        let file = try directory.write("", to: "y.txt")
        #expect(
            said(loader(directory: file).load()) == [
                "DIR/y.txt: only a *.yaml file or a directory is a configuration; rename it, or name another with --config"
            ])
        let loaded = loader(["HOME": directory.path]).load()
        #expect(loaded.configuration == nil)
        #expect(loaded.diagnostics.first?.message.contains("/etc/vedette do not exist; `vedette init` writes") == true)
    }

    @Test("one file is a configuration of its own: no other file is read or watched")
    func oneFile() throws {
        _ = try directory.write("nonsense: true", to: "other.yaml")
        let file = try directory.write("sinks: {out: {kind: desktop}}", to: "mine.yaml")
        let one = loader(directory: file)
        #expect(one.load().configuration?.sinks.map(\.name) == ["out"])
        #expect(one.watched.directories == [directory.path] && one.watched.files == ["mine.yaml"])
        let all = loader(directory: directory.path).watched
        #expect(all.directories == [directory.path, directory.path + "/rules"] && all.files == nil)
    }

    @Test("a file that is no text, too large or unreadable is an error, never skipped")
    func unreadable() throws {
        try directory.write(Array("a:\n  ä".utf8) + [0xC3, 0x28], to: "a.yaml")
        try directory.write(Array(repeating: 0x20, count: 1 + 4 << 20), to: "b.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path + "/c.yaml", withDestinationPath: directory.path + "/nowhere")
        try FileManager.default.createDirectory(atPath: directory.path + "/d.yaml", withIntermediateDirectories: true)
        #expect(
            said(loader(directory: directory.path).load()) == [
                "DIR/a.yaml:2:4: the file is not UTF-8 here; save it as UTF-8",
                "DIR/b.yaml: this file is larger than 4194304 bytes; split it",
                "DIR/c.yaml: this file does not exist",
                "DIR/d.yaml: this is not a regular file",
            ])
    }

    @Test("a byte order mark and Windows line ends do no harm")
    func windows() throws {
        try directory.write(
            "\u{FEFF}sources:\r\n  s: {kind: feed, url: 'https://h/'}\r\n  t: {kind: fed}\r\n", to: "a.yaml")
        #expect(
            said(loader(directory: directory.path).load()) == [
                "DIR/a.yaml:3:13: unknown kind 'fed'; did you mean 'feed'?"
            ])
    }

    @Test("certificates and secrets are found beside the file that names them")
    func relative() throws {
        try directory.write("-----BEGIN CERTIFICATE-----\n", to: "tls/ca.pem")
        try directory.write("servers: {h: {url: 'https://h', tls: {ca: tls/ca.pem}}}", to: "a.yaml")
        let loaded = loader(directory: directory.path).load()
        #expect(loaded.configuration?.servers.first?.tls.ca == directory.path + "/tls/ca.pem")
        try directory.write("no certificate", to: "tls/ca.pem")
        #expect(
            said(loader(directory: directory.path).load()) == [
                "DIR/a.yaml:1:43: 'ca' names 'DIR/tls/ca.pem', which holds no PEM certificate; convert it with openssl x509"
            ])
    }

    @Test("the place of the journal is read alone, also where other parts of the configuration have errors")
    func journal() throws {
        #expect(loader(directory: directory.path).journalServer().server == nil)
        try directory.write("sources: {a: {kind: unknown}}\nnonsense: 1", to: "a.yaml")
        try directory.write("settings: {journal: {postgres: host=db dbname=v, password: {env: DB}}}", to: "b.yaml")
        let found = loader(directory: directory.path, ["DB": "s3cret-db"]).journalServer()
        #expect(found.server?.connection.location == "PostgreSQL database v on db")
        #expect(found.server?.password?.value == "s3cret-db" && found.diagnostics.isEmpty)
        try directory.write(#"settings: {"journ\x61l": {postgres: host=db dbname=w}}"#, to: "c.yaml")
        let last = loader(directory: directory.path, ["DB": "s3cret-db"]).journalServer()
        #expect(last.server?.connection.location == "PostgreSQL database w on db")
        let missing = loader(directory: directory.path).journalServer()
        #expect(missing.server == nil && missing.diagnostics.count == 1, "the variable is not set")
    }

    @Test("every key of the tables has a summary and is documented, and no table has a key twice")
    func tables() throws {
        let pages = URL(filePath: #filePath).appending(path: "../../../Sources/vedette/Documentation.docc").standardized
        let documentation = try FileManager.default.contentsOfDirectory(at: pages, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        var tables = [
            ConfigurationKeys.top, ConfigurationKeys.when, ConfigurationKeys.matcher, ConfigurationKeys.secret,
        ]
        tables.append(ConfigurationKeys.tls)
        var count = 0
        while let table = tables.popLast() {
            count += 1
            #expect(Set(table.map(\.name)).count == table.count)
            for key in table {
                #expect(key.summary.hasSuffix("."))
                #expect(["`\(key.name)", "\(key.name):"].contains(where: documentation.contains), "\(key.name)")
                #expect(!key.isRequired || key.documentedDefault == nil, "\(key.name)")
                tables += key.type.tables
            }
        }
        #expect(count > 30)
        #expect(
            ConfigurationKeys.authentications.allSatisfy { name in ConfigurationKeys.server.contains { $0.name == name }
            })
        let when = Set(ConfigurationKeys.when.map(\.name))
        #expect(when.isSuperset(of: ConfigurationKeys.eventConditions))
    }
}

extension OptionType {
    /// The tables of keys inside it.
    fileprivate var tables: [[OptionSpec]] {
        switch self {
        case .object(let keys): [keys]
        case .either(let one, let other): one.tables + other.tables
        case .oneOrMany(let inner), .list(let inner), .map(let inner): inner.tables
        default: []
        }
    }
}
