// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteText

@testable import VedetteSinks

/// Checks every sink that writes lines: one line for each message, whatever its text holds, as Python reads them.
@Suite("The contract of sinks that write lines")
struct LineContractTests {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vedette-lines-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    /// Sinks by name, with what they append to a file of that name.
    private func sinks() throws -> [(name: String, sink: any Sink)] {
        let services = SinkServices(fetcher: ScriptedFetcher(status: 200), clock: StillClock(), userAgent: "v")
        func file(_ name: String, _ options: [String: OptionValue]) throws -> (String, any Sink) {
            let options = options.merging(["path": .text(directory.appending(path: name).path)]) { $1 }
            return (name, try FileKind.entry.make(Options(options))(name, services))
        }
        let script = "cat >> '\(directory.path)/command'; [ \"$(printenv | grep -c '^VEDETTE_RULE=ready$')\" = 1 ]"
        let command = OptionValue.list(["/bin/sh", "-c", script].map { .text($0) })
        return [
            try file("json", [:]), try file("line", ["format": .text("line")]),
            try file(
                "template",
                [
                    "template": .template(
                        try MustacheTemplate("{{item.title}} {{item.key}} {{change.to}}", names: .message))
                ]),
            ("command", try CommandKind.entry.make(Options(["command": command]))("command", services)),
        ]
    }

    static let script = """
        import json, os, sys, unicodedata
        told = json.loads(sys.stdin.buffer.read()); titles = told["titles"]
        for name in ("json", "line", "template", "command"):
            data = open(os.path.join(told["directory"], name), "rb").read()
            lines = data.decode().split("\\n")
            assert lines.pop() == "", name
            assert len(lines) == len(titles), "%s: %d lines" % (name, len(lines))
            if name in ("json", "command"):
                assert [json.loads(line)["data"]["item"]["title"] for line in lines] == titles, name
                continue
            for line in lines:
                bad = [c for c in line if unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in "\\u202a\\u202b\\u202d\\u202e\\u2066\\u2067\\u2068"]
                assert not bad, "%s: %r" % (name, bad)
        print("good")
        """

    @Test("hostile titles, keys and states stay in one line each, and JSON stays what it is")
    func hostile() async throws {
        for (name, sink) in try sinks() {
            for text in ChatHostileTests.texts {
                let event = Event.changed(title: text, key: text, from: .text(text), to: .text(text))
                let outcome = await sink.deliver(.of(event, title: text, text: text))
                #expect(outcome == .delivered, "\(name): \(outcome)")
            }
        }
        let input = JSON.members([
            "directory": .string(directory.path), "titles": .array(ChatHostileTests.texts.map(JSON.string)),
        ])
        let (output, status) = try Python.run(Self.script, input: input.bytes)
        #expect(status == 0 && output == "good\n", "\(output.prefix(1000))")
        try FileManager.default.removeItem(at: directory)
    }
}
