// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteText

@testable import VedetteSinks

@Suite("Bodies of webhooks")
struct WebhookBodyTests {
    static let url = "https://ops.example.com/in"

    func sink(_ fetcher: ScriptedFetcher, _ options: [String: OptionValue]) throws -> any Sink {
        let services = SinkServices(fetcher: fetcher, clock: StillClock(), userAgent: "vedette/1.0")
        let all = options.merging(["url": .text(Self.url)]) { mine, _ in mine }
        return try WebhookKind.entry.make(Options(all))("hook", services)
    }

    func request(_ options: [String: OptionValue], _ message: Message = .of()) async throws -> Request {
        let fetcher = ScriptedFetcher(status: 200)
        #expect(try await sink(fetcher, options).deliver(message) == .delivered)
        return try #require(fetcher.requests.first)
    }

    func template(_ text: String) throws -> OptionValue {
        .template(try MustacheTemplate(text, names: .message))
    }

    func header(_ request: Request, _ name: String) -> String? { request.headers.first { $0.name == name }?.value }

    @Test("binary mode is the data alone, with the attributes in headers")
    func binary() async throws {
        let event = Event.changed(key: "ä \"5\"%\n€")
        let request = try await request(["mode": .text("binary")], .of(event))
        #expect(request.body == Message.of(event).json["data"]?.bytes)
        #expect(header(request, "ce-rule") == "ready" && header(request, "ce-priority") == "normal")
        #expect(header(request, "Content-Type") == "application/json")
        #expect(header(request, "ce-specversion") == "1.0")
        #expect(header(request, "ce-id") == "0199a")
        #expect(header(request, "ce-type") == "io.vedette.item.changed")
        #expect(header(request, "ce-source") == "/sources/lab-systems")
        #expect(header(request, "ce-subject") == "%C3%A4%20%225%22%25%0A%E2%82%AC")
        #expect(header(request, "ce-time") == "2026-11-21T10:00:00.000Z")
        #expect(header(request, "ce-data") == nil && header(request, "ce-datacontenttype") == nil)
    }

    @Test("a key of 100 KB stays out of the headers and in the data")
    func longKey() async throws {
        let event = Event.changed(key: String(repeating: "k", count: 100_000))
        let request = try await request(["mode": .text("binary")], .of(event))
        #expect(header(request, "ce-subject") == nil)
        #expect(request.headers.allSatisfy { $0.value.utf8.count <= 2048 })
    }

    @Test(
        "in a JSON text a tag outside quotes is a value of its own, inside it is a part of the string",
        arguments: [
            (#"{"a": {{item.n}}, "b": "{{item.n}}"}"#, #"{"a": 12.5, "b": "12.5"}"#),
            (#"{"a": {{item.none}}, "b": "{{item.none}}", "c":{{item.none}}}"#, #"{"a": null, "b": "", "c":null}"#),
            (#"[{{item.none}}, {{item.n}}, {{item.none}}]"#, "[null, 12.5, null]"),
            (#"[{{item.t}}, "x\"{{item.t}}"]"#, #"["say \"12\", 5", "x\"say \"12\", 5"]"#),
            (#"{"a": {{item.zero}}{{#item.none}}, "b": 1{{/item.none}}}"#, #"{"a": "007"}"#),
        ])
    func values(template text: String, expected: String) async throws {
        var event = Event.changed(key: "a")
        event.item?.fields = ["n": "12.5", "t": "say \"12\", 5", "zero": "007"]
        let request = try await request(["body": try template(text)], .of(event))
        #expect(String(decoding: request.body ?? [], as: UTF8.self) == expected)
    }

    @Test(
        "a list is one value, escaped as a whole",
        arguments: [
            (
                "json", #"{"a": {{item.tags}}, "b": "{{item.tags}}", "c": {{digest.lines}}}"#,
                #"{"a": "x, \"y\" z", "b": "x, \"y\" z", "c": "one, two"}"#
            ),
            ("json", #"[{{#item.tags}}{{.}},{{/item.tags}}1]"#, #"["x","\"y\" z",1]"#),
            ("form", "b={{item.tags}}&c=1", "b=x%2C%20%22y%22%20z&c=1"),
            ("form", "{{#item.tags}}b={{.}}&{{/item.tags}}c=1", "b=x&b=%22y%22%20z&c=1"),
            ("xml", "<t a=\"{{item.tags}}\"/>", "<t a=\"x, &quot;y&quot; z\"/>"),
        ])
    func lists(_ format: String, _ text: String, expected: String) async throws {
        let message = Self.listed
        #expect(try await body(text, format, message) == expected)
        #expect(try await url("/x/{{item.tags}}", message) == Self.url + "/x/x%2C%20%22y%22%20z")
    }

    private static var listed: Message {
        var event = Event.changed(key: "a")
        event.item?.fields = ["tags": .list(["x", #""y" z"#])]
        event.summary = Event.Summary(events: ["0199a"], count: 2, lines: ["one", "two"])
        return .of(event)
    }

    @Test("in a JSON map a text that is one tag is null for an event without that value, and text otherwise")
    func absent() async throws {
        let body = OptionValue.map([
            (name: "a", value: try template("{{item.none}}")), (name: "b", value: try template("is {{item.none}}")),
            (name: "c", value: try template("{{item.key}}")),
        ])
        let request = try await request(["body": body], .of(.changed(key: "5")))
        #expect(String(decoding: request.body ?? [], as: UTF8.self) == #"{"a":null,"b":"is ","c":"5"}"#)
    }

    @Test(
        "in a JSON map a field that is to be a number is one, as rules read it, and null without one",
        arguments: [
            ("12.50", "12.50"), ("1e3", "1e3"), ("007", "7"), ("$1,299.00", "1299.00"), ("-5 %", "-5"),
            ("unknown", "null"), ("3 of 4", "null"), ("", "null"),
        ])
    func number(_ text: String, sent: String) async throws {
        var event = Event.changed(key: "59")
        event.item?.fields = ["n": .text(text)]
        let number = OptionValue.number(try MustacheTemplate("{{item.n}}", names: .message))
        let body = OptionValue.map([("id", try template("{{item.key}}")), ("n", number)])
        let request = try await request(["body": body], .of(event))
        #expect(String(decoding: request.body ?? [], as: UTF8.self) == #"{"id":"59","n":\#(sent)}"#)
    }

    @Test(
        "a body that is no JSON, whatever an event holds, is refused, and one that some event makes JSON is not",
        arguments: [
            ("hello {{item.title}}", false), (#"{"a": "{{item.title}}",}"#, false), (#"{"a" {{item.key}}}"#, false),
            ("", false), ("[1, {{item.n}}]", true), ("{ {{item.key}}: 1 }", true), (#"{"a": -{{item.n}}}"#, true),
            ("{{#item.n}}[1]{{/item.n}}{{#item.key}}[2]{{/item.key}}", true),
            ("{{#item.n}}[{{/item.n}}{{^item.key}}1]{{/item.key}}", true), ("{{#item.n}}1{{/item.n}}", true),
        ])
    func possible(_ text: String, isPossible: Bool) throws {
        let fetcher = ScriptedFetcher(status: 200)
        let body = try template(text)
        do {
            _ = try sink(fetcher, ["body": body])
            #expect(isPossible)
        } catch let problem as OptionProblem {
            #expect(!isPossible && problem.path == ["body"] && problem.detail.contains("format: text"))
        }
        _ = try sink(fetcher, ["body": body, "format": .text("text")])
    }

    @Test("a message of which a JSON text makes no JSON is dead, and says so")
    func invalid() async throws {
        let fetcher = ScriptedFetcher(status: 200)
        let body = try template(#"{"a": {{#item.title}}1,{{/item.title}}}"#)
        let outcome = try await sink(fetcher, ["body": body]).deliver(.of())
        #expect(outcome == .rejected(reason: "the body's template makes no JSON of this event"))
        #expect(fetcher.requests.isEmpty)
    }

    @Test("batch mode is an array of the event")
    func batch() async throws {
        let request = try await request(["mode": .text("batch")])
        #expect(header(request, "Content-Type") == "application/cloudevents-batch+json; charset=utf-8")
        #expect(try JSON(parsing: request.body ?? []) == .array([Message.of().json]))
    }

    @Test("a JSON text stays valid and the title stays one string", arguments: ChatHostileTests.texts)
    func json(_ title: String) async throws {
        let body = try template(#"{"text": "{{item.title}}", "to": "{{change.to}}"}"#)
        let request = try await request(["body": body], .of(.changed(title: title)))
        let json = try JSON(parsing: request.body ?? [])
        #expect(json.members?.map(\.name) == ["text", "to"])
        #expect(json["text"]?.string == title)
        #expect(header(request, "Content-Type") == "application/json")
    }

    @Test("a body and a path show the change that the rule is about, not the first of the poll")
    func changeOfTheRule() async throws {
        var message = Message.of()
        message.event.changes.append(FieldChange(field: "owner", from: "ann", to: "bob"))
        message.field = "owner"
        let request = try await request(
            [
                "body": try template(#"["{{change.field}}", "{{change.to}}"]"#),
                "path": try template("/{{change.field}}"),
            ], message
        )
        #expect(request.body == Array(#"["owner", "bob"]"#.utf8) && request.url == Self.url + "/owner")
    }

    @Test("a body written as a map is JSON whatever its strings hold", arguments: ChatHostileTests.texts)
    func tree(_ title: String) async throws {
        let tree = OptionValue.map([
            ("text", try template("{{item.title}}!")), ("n", .integer(7)), ("on", .flag(true)),
            ("list", .list([.text("{{raw}}"), .map([("state", try template("{{item.state}}"))])])),
        ])
        let request = try await request(["body": tree], .of(.changed(title: title)))
        let expected = JSON.members([
            "text": .string(title + "!"), "n": .number(7), "on": .bool(true),
            "list": .array([.string("{{raw}}"), .members(["state": .string("Ready for use")])]),
        ])
        #expect(try JSON(parsing: request.body ?? []) == expected)
    }

    @Test("untrusted values do not change the structure of XML, forms and paths, as Python reads them")
    func otherFormats() async throws {
        let script = """
            import json, sys, urllib.parse, xml.etree.ElementTree as tree
            for line in sys.stdin.buffer.read().decode().split("\\n")[:-1]:
                row = json.loads(line)
                root = tree.fromstring(row["xml"])
                assert [child.tag for child in root] == ["t"] and not list(root[0]), row
                clean = "".join("\\ufffd" if c < " " and c not in "\\t\\n\\r" or c in "\\ufffe\\uffff" else c for c in row["title"])
                assert (root[0].text or "") == clean and root.get("a") == clean, row
                form = urllib.parse.parse_qs(row["form"], keep_blank_values=True, strict_parsing=True)
                assert form == {"a": [row["title"]], "b": ["1"]}, row
                url = urllib.parse.urlsplit(row["url"])
                assert url.netloc == "ops.example.com" and url.path.count("/") == 3, row
                assert urllib.parse.unquote(url.path.split("/")[2]) == row["title"], row
            print("good")
            """
        var lines: [UInt8] = []
        for title in ChatHostileTests.texts where (1..<100_000).contains(title.utf8.count) {
            let message = Message.of(.changed(title: title))
            let xml = try await body(#"<r a="{{item.title}}"><t>{{item.title}}</t></r>"#, "xml", message)
            let form = try await body("a={{item.title}}&b=1", "form", message)
            let url = try await url("/{{item.title}}/x", message)
            let row = JSON.members([
                "title": .string(title), "xml": .string(xml), "form": .string(form), "url": .string(url),
            ])
            lines += row.bytes + [10]
        }
        let (output, status) = try Python.run(script, input: lines)
        #expect(output == "good\n")
        #expect(status == 0)
    }

    private func body(_ text: String, _ format: String, _ message: Message) async throws -> String {
        let settings = try WebhookSettings(
            Options(["url": .text(Self.url), "body": try template(text), "format": .text(format)]))
        return String(decoding: try settings.body.content(message).bytes, as: UTF8.self)
    }

    private func url(_ path: String, _ message: Message) async throws -> String {
        let fetcher = ScriptedFetcher(status: 200)
        _ = try await sink(fetcher, ["path": try template(path)]).deliver(message)
        return fetcher.requests.first?.url ?? ""
    }

    @Test(
        "a message whose value would change the path is rejected",
        arguments: [
            ("/s/{{item.title}}", ".."), ("/s/{{item.title}}/x", "."), ("{{item.title}}", "@evil.example/"),
            ("{{item.title}}", "/x"), (".evil.example/{{item.title}}", "x"), ("/{{item.title}}{{item.title}}", "."),
            ("/s/{{item.title}}", ""), ("/s/{{item.title}}/x", ""), ("/{{item.nothing}}", "x"),
        ])
    func badPath(_ path: String, _ title: String) async throws {
        let fetcher = ScriptedFetcher(status: 200)
        let outcome = try await sink(fetcher, ["path": try template(path)]).deliver(.of(.changed(title: title)))
        guard case .rejected = outcome else {
            Issue.record("\(fetcher.requests.map(\.url))")
            return
        }
        #expect(fetcher.requests.isEmpty)
    }

    @Test("a configured empty segment is kept, and so is an empty section")
    func emptySegments() async throws {
        for (path, expected) in [
            ("/s/", "/s/"), ("/s//{{item.title}}", "/s//x"),
            ("/s{{#item.nothing}}/{{item.nothing}}{{/item.nothing}}", "/s"),
            ("/s?id={{item.nothing}}", "/s?id="),
        ] {
            let url = try await url(path, .of(.changed(title: "x")))
            #expect(url.hasSuffix(expected), "\(url)")
        }
    }

    @Test("a standard method is sent in upper case, another one as configured")
    func methods() async throws {
        for (method, expected) in [("put", "PUT"), ("Delete", "DELETE"), ("Purge", "Purge")] {
            let fetcher = ScriptedFetcher(status: 200)
            _ = try await sink(fetcher, ["method": .text(method)]).deliver(.of())
            #expect(fetcher.requests.map(\.method) == [expected])
        }
    }

    @Test("a token is sent as a bearer token, and to its own origin only")
    func bearer() async throws {
        let request = try await request(["token": .secret(Secret("t0k3n"))])
        #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "Bearer t0k3n" && $0.isSecret })
    }

    @Test("options that contradict each other are refused with their path")
    func contradictions() throws {
        let wrong: [([String: OptionValue], String)] = [
            (["format": .text("xml")], "format"), (["body": .map([]), "format": .text("xml")], "format"),
            (["body": .text("x"), "mode": .text("batch")], "mode"), (["body": .duration(.zero)], "body"),
            (["path": try template("/x"), "url": .text("https://x/?a=1")], "path"),
            (["token": .secret(Secret("t")), "headers": .headers([Header("authorization", "x")])], "headers"),
            (["headers": .headers([Header("ce-id", "x")])], "headers"), (["token": .secret(Secret("a b"))], "token"),
            (["timeout": .duration(.seconds(60))], "timeout"), (["sign": .secret(Secret("whsec_s3cret"))], "sign"),
            (["sign": .list([.secret(Secret("whsec_" + String(repeating: "A", count: 88)))])], "sign"),
        ]
        for (options, name) in wrong {
            let problem = try #require(throws: OptionProblem.self) {
                try sink(ScriptedFetcher(status: 200), options)
            }
            #expect(problem.path.first == name, "\(problem)")
            #expect(!problem.detail.contains("s3cret"))
        }
    }
}

@Suite("Standard Webhooks")
struct SignatureTests {
    static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test("the specification's own vector is reproduced")
    func vector() throws {
        let header = try Signature(keys: [Secret(Self.key)]).header(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(header.name == "webhook-signature")
        #expect(header.value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("a key that becomes invalid later pauses the sink and is not shown")
    func rotated() async throws {
        let key = Secret(Self.key) { "whsec_s3cret" }
        let fetcher = ScriptedFetcher(status: 200)
        let services = SinkServices(fetcher: fetcher, clock: StillClock(), userAgent: "v")
        let sink = try WebhookKind.entry.make(Options(["url": .text("https://x/"), "sign": .secret(key)]))(
            "h", services)
        #expect(await key.refresh())
        guard case .paused(let reason) = await sink.deliver(.of()) else {
            Issue.record("not paused")
            return
        }
        #expect(!reason.contains("s3cret"))
        #expect(fetcher.requests.isEmpty)
    }
}
