// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

/// A table of keys whose documented defaults are values, and a configuration in which `%` stands for one of the keys.
private struct DocumentedTable: Sendable, CustomTestStringConvertible {
    let name: String
    let keys: [OptionSpec]
    let names: [String]
    let yaml: String

    init(_ name: String, _ keys: [OptionSpec], _ names: [String], _ yaml: String) {
        (self.name, self.keys, self.names, self.yaml) = (name, keys, names, yaml)
    }

    var testDescription: String { name }

    private static let source = "a: {kind: json, url: 'https://a.example.com'}"
    private static let sink = "k: {kind: webhook, url: https://k.example.com}"

    private static func rule(_ keys: String) -> String {
        """
        sources: {\(source)}
        sinks: {\(sink)}
        windows: {w: {daily: "22:00-07:00"}}
        rules: [{name: r, when: {field: x}, notify: k, \(keys)}]
        """
    }

    static let all = [
        DocumentedTable(
            "server", ConfigurationKeys.server, ["auth", "cookies", "allow_private"],
            "servers: {s: {url: https://a.example.com, user: u, password: {env: P}, %}}\nsources: {a: {kind: json, server: s}}"
        ),
        DocumentedTable(
            "tls", ConfigurationKeys.tls, ["minimum"],
            "servers: {s: {url: https://a.example.com, tls: {insecure: true, %}}}\nsources: {a: {kind: json, server: s}}"
        ),
        DocumentedTable(
            "source", ConfigurationKeys.source, ["stream", "fails", "first", "empty", "sort"],
            "sources: {a: {kind: json, url: 'https://a.example.com', %}}"),
        DocumentedTable(
            "stream", ConfigurationKeys.stream, ["keep_alive"],
            "sources: {a: {kind: news, url: 'https://a.example.com', stream: {format: lines, %}}}"),
        DocumentedTable(
            "sink", ConfigurationKeys.sink, ["concurrency", "parallel"],
            "sinks: {k: {kind: webhook, url: https://k.example.com, %}}"),
        DocumentedTable(
            "queue", ConfigurationKeys.queue, ["count", "size", "full"],
            "sinks: {k: {kind: webhook, url: https://k.example.com, queue: {%}}}"),
        DocumentedTable("rule", ConfigurationKeys.rule, ["stop", "priority", "for", "resolved"], rule("%")),
        DocumentedTable("quiet", ConfigurationKeys.quiet, ["then"], rule("quiet: {during: w, %}")),
        DocumentedTable("limit", ConfigurationKeys.limit, ["by"], rule("limit: {count: 2, per: 1h, %}")),
        DocumentedTable("at_least", ConfigurationKeys.atLeast, ["by"], rule("at_least: {count: 2, per: 1h, %}")),
        DocumentedTable("digest", ConfigurationKeys.digest, ["by"], rule("digest: {every: 1h, %}")),
        DocumentedTable("settings", ConfigurationKeys.settings, ["give_up"], "settings: {%}"),
        DocumentedTable("retain", ConfigurationKeys.retain, ["events", "size"], "settings: {retain: {%}}"),
        DocumentedTable(
            "heartbeat", ConfigurationKeys.heartbeat, ["every", "method"],
            "settings: {heartbeat: {url: {env: P}, %}}"),
    ]
}

@Suite("Documented defaults")
struct DocumentedDefaultsTests {
    /// Returns the configuration as text, without the digests of what is written.
    private func read(_ yaml: String, _ key: String) throws -> String {
        let text = yaml.replacing("%", with: key)
        let loaded = load(text, environment: ["P": "https://secret.example.com"])
        let configuration = try #require(loaded.configuration, "\(text)\n\(loaded.diagnostics)")
        let values = """
            \(configuration.servers) \(configuration.sources) \(configuration.sinks) \(configuration.rules)
            \(configuration.settings) \(String(describing: configuration.heartbeat))
            """
        return values.replacing(/(identity|logIdentity|fingerprint): [0-9]+/, with: "")
    }

    @Test("a key that is missing means what its documented default means", arguments: DocumentedTable.all)
    fileprivate func defaults(_ table: DocumentedTable) throws {
        for name in table.names {
            let spec = try #require(table.keys.first { $0.name == name }, "\(name)")
            let value = try #require(spec.documentedDefault, "\(name)")
            #expect(try read(table.yaml, "\(name): \(value)") == read(table.yaml, ""), "\(table.name) \(name)")
        }
    }

    @Test("another value than the documented default makes a difference")
    func difference() throws {
        for (table, keys) in [("source", ("fails: 3", "fails: 4")), ("queue", ("count: 250000", "count: 9"))] {
            let yaml = try #require(DocumentedTable.all.first { $0.name == table }?.yaml)
            #expect(try read(yaml, keys.0) != read(yaml, keys.1), "\(table)")
        }
    }
}
