// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// I10 while the program can do nothing else: what ends it may need no thread of Swift's pool.
@Suite("A pool without a free thread", .timeLimit(.minutes(10)))
struct BusyPoolTests {
    /// A watcher in which each thread of the pool computes for ever: a preloaded library lets each match of a pattern do so.
    private func busyWatcher(_ home: Home) async throws -> Child {
        let code = home.directory.appending(path: "busy.c")
        let library = home.directory.appending(path: "busy.so")
        try """
        #include <unistd.h>
        int pcre2_match_8(void) {
            write(2, "busy\\n", 5);
            for (volatile int forever = 1; forever;) {}
            return 0;
        }
        """.write(to: code, atomically: true, encoding: .utf8)
        let compiler = try Child("/usr/bin/env", ["cc", "-shared", "-fPIC", "-o", library.path, code.path])
        guard await compiler.end(within: 60) == 0 else { throw Trouble(compiler.text(of: .err)) }
        let text = home.directory.appending(path: "text")
        try "a 1\n".write(to: text, atomically: true, encoding: .utf8)
        // The pool has a thread for each processor.
        let threads = ProcessInfo.processInfo.activeProcessorCount
        let sources = (0..<threads + 4).map {
            "  s\($0): {kind: text, url: \"file://\(text.path)\", match: '(?<key>.+)', every: 1s}"
        }
        try home.write("sources:\n" + sources.joined(separator: "\n") + "\n")
        let watcher = try Child(Program.path, ["run"] + home.places, environment: ["LD_PRELOAD": library.path])
        try await watcher.wait(for: .err) { $0.count { $0.hasSuffix("busy") } >= threads }
        return watcher
    }

    @Test("I10: SIGTERM ends the program within 10 s with 143 while every thread of the pool is busy", .tags(.I10))
    func forced() async throws {
        let home = try Home()
        let watcher = try await busyWatcher(home)
        watcher.kill(SIGTERM)
        #expect(await watcher.end(within: 20) == 143)
        #expect(watcher.text(of: .err).contains("failed to stop within 9 s"), "\(watcher.text(of: .err))")
        // The lock of the journal is free.
        let other = try await home.watcher()
        #expect(await other.stop() == 0)
    }

    @Test("I10: a second request to stop ends the program at once while every thread of the pool is busy", .tags(.I10))
    func second() async throws {
        let watcher = try await busyWatcher(try Home())
        // Two different ones, since the kernel makes one of two that are alike; which comes first is open.
        watcher.kill(SIGTERM)
        watcher.kill(SIGINT)
        #expect([130, 143].contains(await watcher.end(within: 8)))
        #expect(!watcher.text(of: .err).contains("failed to stop"))
    }
}
