// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteConfig

/// What a kind was given for its one option.
private final class Given: Sendable {
    private let option = Mutex<OptionValue?>(nil)

    var value: OptionValue? { option.withLock { $0 } }

    func kind(_ type: OptionType) -> SinkKindEntry {
        SinkKindEntry(
            name: "one", summary: "One.", options: [OptionSpec("it", type, "It.")],
            make: { options throws(OptionProblem) in
                let value = options["it"]
                self.option.withLock { $0 = value }
                return { _, _ in StandInSink() }
            })
    }
}

@Suite("Options of a sink")
struct SinkOptionTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The value of an option of that type in a file, and what is wrong with the file.
    private func read(_ type: OptionType, _ text: String) throws -> (value: OptionValue?, said: [String]) {
        try directory.write("sinks:\n  s:\n    kind: one\n    it: \(text)\n", to: "a.yaml", mode: 0o600)
        let given = Given()
        let loader = ConfigurationLoader(
            directory: directory.path, sourceKinds: [], sinkKinds: [given.kind(type)], environment: [:])
        let said = loader.load().problems.map { $0.description.replacing(directory.path, with: "DIR") }
        return (given.value, said)
    }

    @Test("`update` is refused where a receiver cannot change a message, with the kinds that can")
    func update() throws {
        try directory.write("sinks:\n  s: {kind: one, update: true}\n  c: {kind: chat, update: true}\n", to: "a.yaml")
        let chat = SinkKindEntry(
            name: "chat", summary: "A chat.", options: [OptionSpec("update", .flag, "It can.")],
            make: { _ throws(OptionProblem) in { _, _ in StandInSink() } })
        let loader = ConfigurationLoader(
            directory: directory.path, sourceKinds: [], sinkKinds: [Given().kind(.text), chat], environment: [:])
        #expect(
            loader.load().problems.map { $0.description.replacing(directory.path, with: "DIR") } == [
                "DIR/a.yaml:2:18: 'update' is for chat: no other receiver changes a message that it has"
            ])
    }

    @Test("what a sink refuses is told with the name of its option")
    func subjects() throws {
        let kind = SinkKindEntry(
            name: "one", summary: "One.",
            options: [
                OptionSpec("url", .text, "An address."), OptionSpec("to", .list(.text), "Whom."),
                OptionSpec("headers", .map(.text), "More."),
            ],
            make: { options throws(OptionProblem) in
                if options.text("url") == "x" { throw OptionProblem("url", detail: "must be long; write more") }
                if options.texts("to") == ["a", "b"] { throw OptionProblem("to", "1", detail: "is nobody") }
                if options["headers"] != nil { throw OptionProblem("headers", "X", detail: "is set already") }
                return { _, _ in StandInSink() }
            })
        try directory.write(
            "sinks:\n  s: {kind: one, url: x, to: [a, b]}\n  t: {kind: one, headers: {X: y}}\n", to: "a.yaml")
        let loader = ConfigurationLoader(
            directory: directory.path, sourceKinds: [], sinkKinds: [kind], environment: [:])
        #expect(
            loader.load().problems.map(\.message) == [
                "'url' must be long; write more", "'to' is nobody", "'X' of 'headers' is set already",
            ])
    }

    @Test("`links` is a warning where the page is not offered or has no public address")
    func links() throws {
        let chat = SinkKindEntry(
            name: "chat", summary: "A chat.", options: [OptionSpec("links", .flag, "It can.")],
            make: { _ throws(OptionProblem) in { _, _ in StandInSink() } })
        func said(_ text: String) throws -> [String] {
            try directory.write(text, to: "a.yaml")
            let loader = ConfigurationLoader(
                directory: directory.path, sourceKinds: [], sinkKinds: [chat], environment: [:])
            return loader.load().problems.map(\.message).filter { $0.contains("'links'") }
        }
        #expect(
            try said("sinks: {c: {kind: chat, links: true}}") == [
                "'links' has no effect without 'settings.public_url', where people open the page; add it, or remove 'links'"
            ])
        #expect(try said("sinks: {c: {kind: chat, links: false}}").isEmpty)
        func said(of url: String, _ settings: String) throws -> [String] {
            try said("settings: {public_url: '\(url)'\(settings)}\nsinks: {c: {kind: chat, links: true}}")
        }
        #expect(
            try said(of: "https://v.example.com", "") == [
                "'links' has no effect without 'settings.listen', where the page is offered; add it, or remove 'links'"
            ])
        #expect(try said(of: "https://v.example.com", ", listen: '127.0.0.1:8420'").isEmpty)
        // The error about the setting is enough.
        #expect(try said(of: "v.example.com", "").isEmpty)
        #expect(try said(of: "https://v.example.com", ", listen: '0.0.0.0:8420'").isEmpty)
    }

    @Test("`tls:` of a sink is read like `tls:` of a server, with each error at its place")
    func tls() throws {
        try directory.write("-----BEGIN CERTIFICATE-----\n", to: "c.pem")
        try directory.write("-----BEGIN EC PRIVATE KEY-----\n", to: "k.pem", mode: 0o600)
        let good = try read(.tls, "{ca: c.pem, certificate: c.pem, key: k.pem, minimum: 1.3}")
        #expect(good.said == [])
        guard case .tls(let policy)? = good.value else { throw Miss("no policy: \(String(describing: good.value))") }
        let (certificate, key) = (directory.path + "/c.pem", directory.path + "/k.pem")
        #expect(policy == TLSPolicy(ca: certificate, certificate: certificate, key: key, minimum: .v1_3))
        #expect(
            try read(.tls, "{ca: none.pem, pin: x, kee: y}").said == [
                "DIR/a.yaml:4:14: 'ca' names 'DIR/none.pem', but this file does not exist",
                "DIR/a.yaml:4:29: 'pin' must be 'sha256//' and 44 base64 characters (of 32 bytes), several with ';'",
                "DIR/a.yaml:4:32: unknown key 'kee' in 'tls'; did you mean 'key'?",
            ])
        #expect(try read(.tls, "yes").said == ["DIR/a.yaml:4:9: 'tls' must be a map as {ca: …}, not a text"])
        #expect(Options().tls("it") == TLSPolicy())
    }

    /// The body as JSON text, with what each template makes of an item called `"1"`.
    private func rendered(_ value: OptionValue?) -> String {
        switch value {
        case .template(let template):
            let event = change("\"1\"", "Starting", "Ready")
            return JSON.string(template.render(event.templateContext(rule: "r", field: nil))).text
        case .number(let template): return "number " + rendered(.template(template))
        case .json(let json): return json.text
        case .list(let values): return "[" + values.map(rendered).joined(separator: ",") + "]"
        case .map(let pairs): return "{" + pairs.map { "\($0.name):\(rendered($0.value))" }.joined(separator: ",") + "}"
        default: return "?"
        }
    }

    @Test(
        "a body is a template, or a map or list whose texts are templates and whose plain words are what JSON takes them for"
    )
    func body() throws {
        let good = [
            ("'{{item.title}}'", #""\"1\"""#), ("12", #""12""#), ("[]", "[]"), ("{}", "{}"),
            (
                #"{z: "{{item.title}}", a: [1.50, "1", true, ~, no, [{b: "{{change.to}}!"}]], n: , t: "{{! nothing }}"}"#,
                #"{z:"\"1\"",a:[1.50,"1",true,null,"no",[{b:"Ready!"}]],n:null,t:""}"#
            ),
            ("['{{number item.title}}', '{{ number item.name }}']", #"[number "\"1\"",number "\"1\""]"#),
            ("{a: &x {b: 1}, c: *x, <<: {d: 2}}", "{a:{b:1},c:{b:1},d:2}"),
        ]
        for (text, expected) in good {
            let read = try read(.body, text)
            #expect(read.said == [] && rendered(read.value) == expected, "\(text)")
        }
    }

    @Test("all errors in a body are reported at their places")
    func wrongBody() throws {
        let deep = String(repeating: "[", count: 13) + String(repeating: "]", count: 13)
        let wrong = [
            (
                "\n      a: '{{item.title}} {{nope}}'\n      b: [1, '{{#x}}', !env X, !env 1]",
                [
                    "5:26: in 'a' of 'it': unknown name 'nope'",
                    "6:15: in 'b' of 'it': unknown name 'x'", "6:24: the tag '!env' has no meaning here",
                    "6:32: the tag '!env' has no meaning here",
                ]
            ),
            (
                "['{{number nope}}', '{{number item.a}}{{item.a}}']",
                ["4:11: in 'it': unknown name 'nope'", "4:30: in 'it': 'number item.a' is not a name"]
            ),
            ("{a: {{item.title}}}", ["4:13: 'a' of 'it' holds '{{' without quotes; write \"{{…}}\""]),
            ("{'{{item.key}}': 1}", ["4:10: a name in 'it' is no template; write it out"]),
            (deep, ["4:21: 'it' is deeper than 12 maps and lists"]),
        ]
        for (text, expected) in wrong {
            let said = try read(.body, text).said
            #expect(said.count == expected.count, "\(text): \(said)")
            for (line, words) in zip(said, expected) {
                #expect(line.hasPrefix("DIR/a.yaml:" + words), "\(text): \(line)")
            }
        }
        #expect(try read(.body, "").said == ["DIR/a.yaml:4:5: 'it' has no value; write one or remove the key"])
    }
}
