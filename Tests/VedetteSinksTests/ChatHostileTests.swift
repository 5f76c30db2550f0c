// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSinks

/// Untrusted text reaches a chat as text: it mentions nobody, links nowhere and formats nothing.
@Suite("Hostile texts in chats")
struct ChatHostileTests {
    static let texts =
        hostileTitles + [
            "@everyone @here @channel @all @room", "<!channel> <!here|x> <!subteam^S1> <@U1> <#C1> <users/all>",
            "[click](https://evil.example) ![i](https://evil.example/i.png) <https://evil.example|good>",
            "*b* _i_ ~s~ `c` ```c``` **bb** __u__ ||s|| # h\n> q\n- l", "</strong><script>alert(1)</script>&amp;&#x3c;",
            #"{{item.name}} ${x} %(x)s \" \u0000 \"#, "<@&123> <@!123> <t:0> <:a:1>", "@\u{200B}everyone",
            String(repeating: "👨‍👩‍👧‍👦", count: 10_000), String(repeating: "&<>\"*@", count: 20_000),
            "a,b ,\u{301}c", "\u{1B}]8;;https://evil.example\u{1B}\\click\u{1B}]8;;\u{1B}\\",
            "\u{202E}\u{2066}evil\u{2069}",
            String(repeating: "\\", count: 100_000), String(repeating: "\"", count: 100_000),
            String(repeating: "\n", count: 100_000), "<\u{338}!channel>", "@\u{301}everyone",
        ]

    /// The text as title, text, field and label at once.
    static func message(_ text: String) -> Message {
        // As long as an address may be, of what takes the most room once it is escaped.
        let url = "https://x/?q=" + WebURL.encoded(String(text.prefix(50)))
        var event = Event.changed(
            title: text, key: text, url: url + String(repeating: "&", count: max(0, 1990 - url.utf8.count)))
        event.changes += (0..<20).map {
            FieldChange(field: "\($0) \(text)", from: .text(text), to: .list([text, text]))
        }
        var message = Message.of(event, title: text, text: text)
        message.tags = Array(repeating: text, count: 20)
        return message
    }

    /// Every string of a body, with where it stands.
    static func strings(_ json: JSON, _ path: String = "") -> [(path: String, text: String)] {
        switch json {
        case .string(let text): [(path, text)]
        case .array(let values): values.flatMap { strings($0, path) }
        case .object(let members): members.flatMap { strings($0.value, path + "." + $0.name) }
        case .null, .bool, .number: []
        }
    }

    static func body(_ sample: ChatSample, _ message: Message) async throws -> JSON {
        try JSON(parsing: try await ChatPayloadTests.posted(sample, message).body ?? [])
    }

    @Test("no control or reordering character passes, and a retry repeats the bytes", arguments: ChatSample.all)
    func controls(_ sample: ChatSample) async throws {
        for text in Self.texts {
            let request = try await ChatPayloadTests.posted(sample, Self.message(text))
            #expect(request.body == (try await ChatPayloadTests.posted(sample, Self.message(text)).body))
            for (path, text) in Self.strings(try JSON(parsing: request.body ?? [])) {
                let bad = text.unicodeScalars.first { scalar in
                    (scalar.value < 32 && scalar != "\n") || (127..<160).contains(scalar.value)
                        || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
                }
                #expect(bad == nil, "\(path)")
            }
        }
    }

    /// Markup that a service obeys, and the strings in which it looks for it.
    static let obeyed: [(kind: String, mark: String, paths: [String])] = [
        ("slack", "<", [""]), ("slack", ">", [""]),
        ("mattermost", "@e", [""]), ("mattermost", "@c", [""]), ("mattermost", "@a", [""]), ("mattermost", "@h", [""]),
        ("mattermost", "k](", [""]), ("discord", " **", ["title", "description", "value"]),
        ("discord", "k](", ["title", "description", "name", "value"]), ("discord", "@e", ["title", "description"]),
        ("googlechat", "<script", ["textParagraph", "decoratedText.text"]), ("googlechat", "<users", ["fallbackText"]),
        ("matrix", "<script", ["formatted_body"]), ("matrix", "<img", ["formatted_body"]),
        ("matrix", "<b>", ["formatted_body"]), ("telegram", "@e", ["text"]), ("telegram", "@c", ["text"]),
    ]

    @Test("no mention, link or markup of a source is left", arguments: ChatSample.all)
    func markup(_ sample: ChatSample) async throws {
        for text in Self.texts {
            for (path, text) in Self.strings(try await Self.body(sample, Self.message(text))) {
                for row in Self.obeyed where row.kind == sample.kind {
                    guard row.paths.contains(where: { path.hasSuffix($0) || path.contains($0 + ".") }) else { continue }
                    #expect(!text.unicodeScalars.contains(row.mark.unicodeScalars), "\(path): \(text.prefix(80))")
                }
            }
        }
    }

    @Test("every chat is told to ping nobody where it can be told")
    func switches() async throws {
        let message = Self.message("@everyone")
        let none = JSON.members(["parse": .array([])])
        #expect(try await Self.body(.of("discord"), message)["allowed_mentions"] == none)
        #expect(try await Self.body(.of("matrix"), message)["m.mentions"] == .members([:]))
        let slack = try await Self.body(.of("slack"), message)
        #expect(slack["link_names"] == nil && slack["parse"] == nil)
        #expect(slack["attachments"]?.array?.first?["mrkdwn_in"] == .array([]))
        #expect(try await Self.body(.of("telegram"), message)["parse_mode"] == nil)
    }

    /// The limits of the services, read by another program in the units of the services.
    static let limits = """
        import json, sys
        def u16(s): return len(s.encode("utf-16-le")) // 2
        def u8(s): return len(s.encode())
        bad = []
        def most(row, what, size, limit):
            if size > limit: bad.append("%s: %s is %d, more than %d" % (row["sink"], what, size, limit))
        def strings(x):
            if isinstance(x, str): yield x
            for y in x.values() if isinstance(x, dict) else x if isinstance(x, list) else []: yield from strings(y)
        for line in sys.stdin.buffer.read().decode().split("\\n")[:-1]:
            row = json.loads(line); body = row["body"]; size = len(json.dumps(body, ensure_ascii=False).encode())
            for s in strings(body): s.encode()
            if row["sink"] in ("slack", "mattermost"):
                a = body["attachments"][0]
                most(row, "text", u16(a.get("text", "")), 3000 if row["sink"] == "slack" else 8000)
                most(row, "all", u16("".join(strings(body))), 40000 if row["sink"] == "slack" else 16383)
            if row["sink"] == "discord":
                e = body["embeds"][0]
                most(row, "title", u16(e["title"]), 256); most(row, "description", u16(e.get("description", "")), 4096)
                most(row, "fields", len(e.get("fields", [])), 25); most(row, "footer", u16(e["footer"]["text"]), 2048)
                for f in e.get("fields", []):
                    most(row, "name", u16(f["name"]), 256); most(row, "value", u16(f["value"]), 1024)
                    if not f["name"] or not f["value"]: bad.append("discord: an empty field")
                counted = [e["title"], e.get("description", ""), e["footer"]["text"]]
                counted += [f[k] for f in e.get("fields", []) for k in ("name", "value")]
                most(row, "embed", sum(map(u16, counted)), 6000)
            if row["sink"] == "teams": most(row, "message", size, 28000)
            if row["sink"] == "googlechat": most(row, "message", size, 32000)
            if row["sink"] == "matrix": most(row, "event", size, 60000)
            if row["sink"] == "ntfy":
                most(row, "message", u8(body["message"]), 4096); most(row, "title", u8(body["title"]), 1024)
                most(row, "tags", u8(",".join(body.get("tags", []))), 512)
                if any("," in t for t in body.get("tags", [])): bad.append("ntfy: a comma in a tag")
            if row["sink"] == "telegram":
                most(row, "text", u16(body["text"]), 4096)
                for e in body["entities"]:
                    cut = body["text"].encode("utf-16-le")[2 * e["offset"]:2 * (e["offset"] + e["length"])]
                    if "\\n" in cut.decode("utf-16-le"): bad.append("telegram: the title's entity runs over its line")
        print("\\n".join(bad[:20]) or "good")
        """

    @Test("every payload keeps within the limits of its service, as Python counts them")
    func sizes() async throws {
        var lines: [UInt8] = []
        for sample in ChatSample.all {
            for text in Self.texts {
                let body = try await Self.body(sample, Self.message(text))
                lines += JSON.members(["sink": .string(sample.kind), "body": body]).bytes + [10]
            }
        }
        let (output, status) = try Python.run(Self.limits, input: lines)
        #expect(output == "good\n")
        #expect(status == 0)
    }
}
