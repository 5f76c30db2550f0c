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
}
