// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

@Suite("Values of a JSON document beside its rows")
struct JSONCheckTests {
    private struct Refused: Error {}

    private func read(_ text: String, _ reader: JSONReader, refuse: Bool = false) throws -> (
        cells: [JSONCell], rows: Int
    ) {
        var body = Array(text.utf8)
        var seen: [JSONCell] = []
        var rows = 0
        _ = try reader.read(
            &body,
            check: { cells in
                seen = cells
                if refuse { throw Refused() }
            },
            row: { _ in rows += 1 })
        return (seen, rows)
    }

    @Test(
        "the check receives the values before any row, even where the items are missing, null or not an array",
        arguments: [
            #"{"s": 403}"#, #"{"s": 403, "items": null}"#, #"{"s": 403, "items": {}}"#, #"{"items": [1], "s": 403}"#,
        ])
    func first(text: String) throws {
        let reader = JSONReader(items: try JSONPath("items"), columns: [.root], document: paths("s"))
        #expect(throws: Refused.self) { try read(text, reader, refuse: true) }
        var body = Array(text.utf8)
        var seen: [JSONCell] = []
        _ = try? reader.read(&body, check: { seen = $0 }, row: { _ in })
        #expect(seen == [.number("403")])
    }

    @Test("the check is never called for a broken document")
    func broken() {
        let reader = JSONReader(items: .root, columns: [], document: paths("s"))
        for text in [#"{"s": 403"#, "", "<html>", #"{"s": 403} x"#] {
            #expect(failure { _ = try read(text, reader, refuse: true) } != nil, "\(text)")
        }
    }

    @Test("items that are null are an error, or an empty array where the option allows it")
    func null() throws {
        let path = try JSONPath("items")
        let text = #"{"items": null}"#
        #expect(failure { _ = try read(text, JSONReader(items: path, columns: [])) } == .wrongShape)
        #expect(try read(text, JSONReader(items: path, columns: [], nullIsEmpty: true)).rows == 0)
        for other in ["{}", #"{"items": {}}"#, #"{"items": 1}"#] {
            #expect(
                failure { _ = try read(other, JSONReader(items: path, columns: [], nullIsEmpty: true)) } == .wrongShape)
        }
    }
}
