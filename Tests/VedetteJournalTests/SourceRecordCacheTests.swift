// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Records of sources that are read again and again")
struct SourceRecordCacheTests {
    @Test(
        "from the second reading on a row is decoded when it is new or changed, and a source that is gone is forgotten")
    func decodes() throws {
        let cache = SourceRecordCache()
        func decoded(_ rows: KeyValuePairs<String, String>) throws -> [String] {
            var (rest, decoded) = (Array(rows)[...], [String]())
            let records = try cache.records {
                rest.popFirst().map { ($0.key, Array($0.value.utf8)) }
            } decode: { name, row in
                decoded.append(name)
                var record = SourceRecord(name: name)
                record.urlDigest = UInt64(String(decoding: row, as: UTF8.self))
                return record
            }
            #expect(records.map(\.name) == rows.map(\.key))
            #expect(records.map(\.urlDigest) == rows.map { UInt64($0.value) })
            return decoded
        }
        #expect(try decoded(["a": "1", "b": "2"]) == ["a", "b"])
        #expect(try decoded(["a": "1", "b": "2"]) == ["a", "b"])
        #expect(try decoded(["a": "1", "b": "2"]) == [])
        #expect(try decoded(["a": "1", "b": "3", "c": "4"]) == ["b", "c"])
        #expect(try decoded(["b": "3", "c": "4"]) == [])
        #expect(try decoded(["a": "1", "b": "3", "c": "4"]) == ["a"])
    }

    @Test("records that nobody reads for a while are forgotten")
    func forgets() async throws {
        let (pauses, end) = AsyncStream<Void>.makeStream()
        let cache = SourceRecordCache { for await _ in pauses { return } }
        /// Returns whether the row was decoded.
        func read() throws -> Bool {
            var (rest, isDecoded) = (["a"][...], false)
            _ = try cache.records {
                rest.popFirst().map { ($0, [1]) }
            } decode: { name, _ in
                isDecoded = true
                return SourceRecord(name: name)
            }
            return isDecoded
        }
        for isDecoded in [true, true, false, false] { #expect(try read() == isDecoded) }
        var isForgotten = false
        for _ in 0..<1000 where !isForgotten {
            // The first pause ends after a reading, and the second one without.
            for _ in 1...2 { end.yield() }
            for _ in 0..<1000 { await Task.yield() }
            isForgotten = try read()
        }
        #expect(isForgotten)
    }
}
