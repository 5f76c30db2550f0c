// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

@testable import vedette

@Suite("The trial of new replacements on what is stored")
struct FilterTrialTests {
    private struct Lines: SourceKind {
        let mode = ReadingMode.list
        let identity: UInt64 = 1
        let fingerprints: [String: UInt64] = [SnapshotHead.everyField: 1]
        let fieldNames: [String]? = nil
        func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
        func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
    }

    private func source(_ expressions: [String], sorts: Bool = false) throws -> Source {
        var source = Source(
            name: "a", kindName: "lines", kind: Lines(), server: Server(name: ""), url: "https://h/",
            interval: PollInterval(every: .seconds(60)))
        source.filter = TextFilter(try expressions.map { TextFilter.Step(try RegularExpression($0)) }, sorts: sorts)
        return source
    }

    /// The expressions that are tried after a poll with others.
    private func added(_ expressions: [String], after earlier: [String], sorted: Bool = false) throws -> [String] {
        let polled = try source(earlier, sorts: sorted)
        let head = SnapshotHead(
            identity: polled.identity, fingerprints: polled.fingerprints, goodAt: Timestamp(milliseconds: 0))
        return FilterTrial.added(in: try source(expressions), since: head).map(\.pattern.source)
    }

    @Test("tried is what was added: all of a first filter, one expression anywhere, and several at the end")
    func added() throws {
        #expect(try added(["a", "b"], after: []) == ["a", "b"])
        #expect(try added(["a", "new", "b"], after: ["a", "b"]) == ["new"])
        #expect(try added(["a", "new", "other"], after: ["a"]) == ["new", "other"])
        #expect(try added(["a", "new"], after: ["a"], sorted: true) == ["new"])
    }

    @Test("nothing is tried of a filter that stayed, and of one whose expression took the place of another")
    func unknown() throws {
        #expect(try added(["a"], after: ["a"]) == [])
        #expect(try added(["a", "new"], after: ["a", "old"]) == [])
    }

    @Test("said is what changes nothing, and what leaves nothing of a field")
    func problems() throws {
        let items = [Item(key: "1", title: "12 people"), Item(key: "2", title: "7 people")]
        func problems(_ expression: String) throws -> [String] {
            FilterTrial.problems(of: try source([expression]).filter.steps, with: items, unstored: ["key"])
        }
        #expect(
            try problems("guests") == [
                "'guests' changes nothing in the 2 items of the last poll; check the expression, and 'in'"
            ])
        #expect(try problems(".*people").first?.hasPrefix("'replace' and 'ignore' leave nothing of 'title'") == true)
        #expect(try problems("\\d+") == [])
    }
}
