// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A watcher as process 1 of a namespace, as in a container.
private enum ProcessOne {
    static func arguments(_ arguments: [String]) -> [String] {
        ["-Urpf", "--mount-proc", "--kill-child"] + arguments
    }

    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = arguments(["true"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return false }
        return process.waitForEnd() == 0
    }()
}

@Suite(
    "A watcher that is process 1", .timeLimit(.minutes(5)),
    .enabled(if: ProcessOne.isPossible, "no namespace of processes"))
struct ProcessOneTests {
    @Test("what a command left running is reaped after its end, and SIGTERM ends the watcher")
    func orphans() async throws {
        let home = try Home()
        let orphan = home.directory.appending(path: "orphan").path
        // The first run leaves a process in the background that ends later; the others say whether there is one with its id.
        let script = """
            if [ -e \(orphan) ]; then [ -e /proc/$(cat \(orphan)) ] && echo orphan there || echo orphan gone
            else echo orphan there; sleep 0.1 & echo $! >\(orphan); fi
            """
        try home.write(
            """
            sources:
              orphan:
                kind: text
                command: [sh, -c, '\(script.replacing("\n", with: "; "))']
                match: '^(?<key>orphan) (?<state>.*)$'
                state: state
                every: 200ms
            sinks:
              out: {kind: stdout, format: line}
            rules:
              - {name: any, when: {field: state, to: gone}, notify: [out]}
            """)
        let watcher = try Child("/usr/bin/unshare", ProcessOne.arguments([Program.path, "run"] + home.places))
        try await watcher.wait { $0.contains { $0.contains("gone") } }
        // unshare(1) itself waits for its child and is deaf to SIGTERM.
        let children = try String(contentsOfFile: "/proc/\(watcher.pid)/task/\(watcher.pid)/children", encoding: .utf8)
        let inside = try #require(children.split(separator: " ").first.flatMap { pid_t($0) })
        #expect(kill(inside, SIGTERM) == 0)
        #expect(await watcher.end(within: 10) == 0)
    }
}
