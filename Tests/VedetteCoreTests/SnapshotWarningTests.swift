// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What a snapshot was read with")
struct SnapshotWarningTests {
    @Test("a warning of the last good body is stored and a remark of 'status'; so is whether a page had its end tag")
    func warning() throws {
        var record = SourceRecord(name: "shop")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: at(0))
        record.snapshot?.warning = "'1.299 €' of 'price' is 1299 as a number"
        record.snapshot?.hasEndTag = true
        let read = SourceRecord(name: "shop", json: try JSON(parsing: record.bytes))
        #expect(read == record)
        let status = SourceStatus(name: "shop", kindName: "html", every: .seconds(60), isInsecure: false, record: read)
        #expect(status.remarks(now: at(1)) == ["'1.299 €' of 'price' is 1299 as a number"])
    }
}
