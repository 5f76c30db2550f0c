// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Signals and control requests overtake pruning", .timeLimit(.minutes(10)))
struct OvertakingTests {
    private static let old = 1_000_000

    private func oldEvents(_ home: Home) async throws -> Int {
        Int(try await home.sqlite("select count(*) from event where source = 'old'")) ?? -1
    }

    @Test("with many old events a request is carried out, SIGHUP reloads and SIGTERM ends before pruning has ended")
    func pruning() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        try "[]".write(to: list, atomically: true, encoding: .utf8)
        let configuration = "sources: {list: {kind: json, url: \"file://\(list.path)\", every: 1s}}\n"
        try home.write(configuration)
        #expect(try await home.vedette("run", "--once").code == 0)
        _ = try await home.sqlite(
            """
            with recursive n (i) as (select 1 union all select i + 1 from n where i < \(Self.old))
            insert into event (id, source, type, key, time, body) select 'old' || i, 'old', 'x', null, i, '{}' from n
            """)
        let watcher = try await home.watcher()
        #expect(try await home.vedette("snooze", "--source", "list", "--for", "1h").code == 0)
        while try await home.sqlite("select count(*) from request") != "0" {}
        try home.write(configuration + "sinks: {out: {kind: stdout}}\n")
        watcher.kill(SIGHUP)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("reloaded") } }
        let left = try await oldEvents(home)
        #expect(left > 0, "pruning had ended before: the test proves nothing")
        #expect(await watcher.stop() == 0)
        #expect(try await oldEvents(home) > 0)
    }
}
