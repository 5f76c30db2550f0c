// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A journal that is damaged while the watcher runs", .timeLimit(.minutes(10)))
struct DamagedJournalTests {
    @Test("it ends with 65, and the cause comes past the journal: on standard output and in the log")
    func damaged() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        func serve(_ count: Int) throws {
            let rows = (0..<count).map { #"{"id": "\#($0)"}"# }
            try "[\(rows.joined(separator: ","))]".write(to: list, atomically: true, encoding: .utf8)
        }
        try serve(300)
        try home.write(
            """
            sources: {list: {kind: json, url: "file://\(list.path)", every: 200ms}}
            sinks: {out: {kind: stdout, format: json}}
            rules: [{name: new, when: {appears: true}, notify: [out]}]
            """)
        #expect(try await home.vedette("run", "--once").code == 0)
        let watcher = try await home.watcher()
        let file = home.state.appending(path: "journal.db")
        let handle = try FileHandle(forWritingTo: file)
        let size = try handle.seekToEnd()
        for page in stride(from: UInt64(4096), to: size, by: 4096) {
            try handle.seek(toOffset: page)
            try handle.write(contentsOf: Data(count: 64))
        }
        try handle.close()
        try serve(400)
        #expect(await watcher.end(within: 60) == 65)
        let told = watcher.lines(of: .out).compactMap(Program.object)
        #expect(told.contains { $0.text("data", "error", "class") == "journal" }, "\(watcher.text(of: .out))")
        #expect(watcher.lines(of: .err).contains { $0.contains("is damaged") }, "\(watcher.text(of: .err))")
    }
}
