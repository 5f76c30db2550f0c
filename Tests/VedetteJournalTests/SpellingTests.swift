// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Keys that are the same to Unicode in other bytes")
struct SpellingTests {
    private struct Kind: SourceKind {
        let mode = ReadingMode.list
        let identity: UInt64 = 1
        let fingerprints: [String: UInt64] = [:]
        let fieldNames: [String]? = nil

        func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
        func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
    }

    @Test(
        "a key that a server spells in two ways is one row, and its change is told once", arguments: Backend.allCases)
    func spellings(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let source = Source(
            name: "lab", kindName: "stub", kind: Kind(), server: Server(name: "lab"), url: "https://lab.example/",
            interval: PollInterval(every: .seconds(60)))
        var record = SourceRecord(name: "lab")
        var told: [Int] = []
        let (short, long) = ("caf\u{E9}", "cafe\u{301}")
        for (key, state) in [(short, "up"), (long, "down"), (long, "down"), (short, "down")] {
            let seen = Observation(items: [Item(key: key, state: state)], mode: .list)
            let stored = try await journal.items(of: "lab")
            let difference = Differ(source: source, now: stamp(0)).compare(record.snapshot, stored: stored, with: seen)
            record.snapshot = difference.head
            told.append(difference.events.count)
            _ = try await journal.commit([
                PollRecord(record: record, writes: difference.writes, deletions: difference.deletions)
            ])
        }
        #expect(told == [0, 1, 0, 0])
        #expect(try await store.reader().items(of: "lab", from: 0, limit: 10).count == 1)
        try await journal.close()
    }
}
