// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSinks

/// The libraries that receivers use verify what the webhook sends: `standardwebhooks` and `cloudevents` of PyPI, which
/// contrib/test puts into .build/python.
@Suite("Receivers' own libraries verify the webhook")
struct VerifierTests {
    static let old = "whsec_" + Data((0..<24).map { UInt8($0) }).base64EncodedString()
    static let new = "whsec_" + Data((0..<64).map { UInt8(255 - $0) }).base64EncodedString()

    /// A good request passes with each of the two keys and with no other one, and is the event; a changed one does not.
    static let script = """
        import base64, json, sys
        from cloudevents.core.bindings.http import HTTPMessage, from_http
        from cloudevents.core.formats.json import JSONFormat
        from standardwebhooks import Webhook
        from standardwebhooks.webhooks import WebhookVerificationError

        def passes(key, body, headers):
            try: Webhook(key).verify(body, headers); return True
            except WebhookVerificationError: return False

        def events(mode, headers, body):
            if mode != "batch": return [from_http(HTTPMessage(headers, body), JSONFormat())]
            return [JSONFormat().read(None, json.dumps(event)) for event in json.loads(body)]

        def problem(row):
            headers, body, event = row["headers"], base64.b64decode(row["body"]), row["event"]
            names = [name.lower() for name in headers]
            if len(set(names)) != len(names): return "a header twice"
            if not all(passes(key, body, headers) for key in row["keys"]): return "not verified"
            if passes("whsec_" + base64.b64encode(b"z" * 32).decode(), body, headers): return "verified by any key"
            if passes(row["keys"][0], body + b" ", headers): return "a changed body verified"
            if passes(row["keys"][0], body, {**headers, "webhook-id": "msg_other"}): return "a changed id verified"
            got = events(row["mode"], headers, body)
            if len(got) != 1: return "%d events" % len(got)
            data, attributes = got[0].get_data(), got[0].get_attributes()
            if data != event.pop("data"): return "other data"
            attributes["time"] = attributes["time"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
            long = len(event.get("subject", "").encode()) > 600
            if row["mode"] == "binary" and long and "subject" not in attributes: event.pop("subject")
            # The headers of the binary mode are texts.
            if row["mode"] == "binary" and "suppressed" in event: event["suppressed"] = str(event["suppressed"])
            return None if attributes == event else "attributes %r, not %r" % (attributes, event)

        rows = [json.loads(line) for line in sys.stdin.buffer.read().split(b"\\n")[:-1]]
        bad = ["%d %s: %s" % (i, row["mode"], words) for i, row in enumerate(rows) for words in [problem(row)] if words]
        print("\\n".join(bad[:10]) or "%d good" % len(rows))
        """

    /// One request as the script reads it.
    static func row(_ mode: String, _ message: Message) async throws -> JSON {
        let fetcher = ScriptedFetcher(status: 204)
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let services = SinkServices(fetcher: fetcher, clock: StillClock(now.rfc3339), userAgent: "vedette/1.0")
        let keys = [old, new].map { OptionValue.secret(Secret($0)) }
        let options = Options(["url": .text("https://x/"), "sign": .list(keys), "mode": .text(mode)])
        let outcome = try await WebhookKind.entry.make(options)("hook", services).deliver(message)
        #expect(outcome == .delivered)
        let request = try #require(fetcher.requests.first)
        return .members([
            "mode": .string(mode), "event": message.json,
            "headers": .object(request.headers.map { JSON.Member(name: $0.name, value: .string($0.value)) }),
            "body": .string(Data(request.body ?? []).base64EncodedString()),
            "keys": .array([.string(old), .string(new)]),
        ])
    }

    @Test("1,000 random messages in every mode, with two keys while one replaces the other", .timeLimit(.minutes(10)))
    func random() async throws {
        var stranger = Stranger(seed: 20_261_121)
        var lines: [UInt8] = []
        for turn in 0..<1000 {
            let mode = WebhookBody.Mode.allCases[turn % 3].rawValue
            lines += try await Self.row(mode, stranger.message(turn)).bytes + [10]
        }
        let (output, status) = try Python.run(Self.script, input: lines, python: Python.withPackages)
        #expect(output == "1000 good\n", "\(output.prefix(2000))")
        #expect(status == 0)
    }
}

/// Makes random hostile texts, the same for the same seed.
struct Stranger {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed) }

    mutating func below(_ limit: Int) -> Int { random.below(limit) }

    /// Words that mean something somewhere, scalars of every plane, control characters; up to some 100 of them, now and then
    /// many.
    mutating func text(atLeast least: Int = 0) -> String {
        let count = below(50) == 0 ? 2000 : least + below(30)
        return (0..<count).reduce(into: "") { text, _ in
            switch below(5) {
            case 0: text += hostileTitles[below(hostileTitles.count - 1)]
            case 1: text.unicodeScalars.append(Unicode.Scalar(UInt8(below(128))))
            case 2: text.unicodeScalars.append(Unicode.Scalar(UInt32(below(0x11_0000))) ?? "\u{FFFD}")
            default: text += ["prod-1", " ", "\"", "\\", "é", "%", ".", "/", "\u{2028}"][below(9)]
            }
        }
    }

    mutating func message(_ turn: Int) -> Message {
        let kind = Event.Kind.allCases[below(Event.Kind.allCases.count)]
        var event = Event.changed(title: text(), key: text(atLeast: 1), url: text(), to: .text(text()))
        (event.id, event.kind, event.seq) = (Identifier("0199-\(turn)"), kind, Int64(bitPattern: random.next() >> 12))
        event.changes.append(FieldChange(field: text(), from: nil, to: .list([text(), text()])))
        if kind.isAboutWatcher { (event.item, event.changes) = (nil, []) }
        event.error = below(2) == 0 ? nil : Event.Problem(failure: "tls", detail: text(), server: text())
        if below(4) == 0 {
            var summary = Event.Summary(events: ["a", "b"], count: 3, lines: [text(), text()])
            summary.parts = [Event.Summary.Part(event: "a", kind: "changed", source: "s", key: text(), title: text())]
            event.summary = summary
        }
        var message = Message.of(event, id: "msg_0199-\(turn)", title: text(), text: text())
        (message.tags, message.suppressed) = (below(2) == 0 ? [] : ["ops", "a b"], below(3))
        return message
    }
}
