// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("What reaches a terminal", .timeLimit(.minutes(10)))
struct TerminalOutputTests {
    /// C1, DEL, CR, ESC, a line separator and bidirectional controls, as JSON and as a terminal would obey them.
    private static let hostile = #"A\u009b31m\u007f\r\u001b[2J\u2028\u202e\u2066B"#

    private static func obeyed(_ text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            scalar != "\n"
                && (scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
                    || scalar.value == 0x2028 || scalar.value == 0x2029)
        }
    }

    @Test("no control character of a source comes out of any command, as a line, a template, JSON or an error")
    func hostile() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "list.json")
        func write(_ state: String) throws {
            let title = Self.hostile
            let items = #"[{"id": "k\#(title)", "title": "\#(title)", "state": "\#(state)\#(title)"}]"#
            try Data(items.utf8).write(to: file)
        }
        try home.write(
            """
            sources: {s: {kind: json, url: "\(file.absoluteString)", state: state}}
            sinks: {out: {kind: file, path: \(home.directory.path)/lines}}
            rules: [{name: r, when: {source: s, field: state}, notify: [out]}]
            """)
        for state in ["a", "b"] {
            try write(state)
            #expect(try await home.vedette("run", "--once", "--verbose").code == 0)
        }
        let copy = home.directory.appending(path: "second.json")
        try FileManager.default.copyItem(at: file, to: copy)
        try write("c")
        let template = "{{item.title}} {{change.to}}"
        for command in [
            ["list", "s"], ["list", "s", "--json"], ["list", "s", "--fresh"], ["status"], ["status", "--json"],
            ["tail", "--no-follow"], ["tail", "--no-follow", "--json"],
            ["tail", "--no-follow", "--template", template],
            ["replay", "s", copy.path, file.path], ["replay", "s", "--json", copy.path, file.path],
            ["explain", "1"], ["test", "--since", "1h"], ["show", "s", "kA"], ["wait", "s", "kA", "--to", "x"],
            ["outbox", "show", "1"], ["outbox", "show", "1", "--json"], ["probe", file.path], ["doctor", "--offline"],
        ] {
            let result = try await Program.run(command + home.places)
            let text = result.out + result.err
            #expect(!text.isEmpty && Self.obeyed(text).isEmpty, "\(command): \(Self.obeyed(text)) in \(text)")
        }
        let written = try String(contentsOf: home.directory.appending(path: "lines"), encoding: .utf8)
        #expect(written.contains(#"\u009b"#) && Self.obeyed(written).isEmpty, "\(written)")
    }

    @Test("a standard error that nobody reads stops neither polls nor sinks nor SIGTERM", .tags(.I7))
    func fullStandardError() async throws {
        let home = try Home()
        let file = home.directory.appending(path: "list.json")
        func write(_ count: Int) throws {
            let items = (0..<count).map { #"{"id": \#($0)}"# }.joined(separator: ",")
            try Data("[\(items)]".utf8).write(to: file, options: .atomic)
        }
        try write(1)
        // Each failed poll is a line of the log: a pipe of 4 KiB is full at once.
        let failing = (0..<60).map { "  x\($0): {kind: json, url: \"http://127.0.0.1:1/\($0)\", every: 100ms}" }
        try home.write(
            """
            sources:
            \(failing.joined(separator: "\n"))
              good: {kind: json, url: "\(file.absoluteString)", every: 100ms, first: announce}
            sinks: {out: {kind: stdout, format: json}}
            rules: [{name: new, when: {source: good, appears: true}, notify: [out]}]
            """)
        let watcher = try Child(Program.path, ["run", "--verbose"] + home.places, readsErrors: false)
        for count in 1...20 {
            try write(count)
            try await watcher.wait { $0.count >= count }
        }
        #expect(await watcher.stop() == 0)
    }
}
