// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("The hint about a resource without items", .timeLimit(.minutes(10)))
struct EmptyHintTests {
    private static let warning = "'match' fits no line; correct it, or write 'empty: valid' where there is often none"

    private func watched(_ empty: Source.Empty = .suspect) -> Source {
        var source = source("a", LineKind(emptyHint: "'match' fits no line; correct it"))
        source.empty = empty
        return source
    }

    /// The stored warning after a poll, and whether the log had it.
    private func warning(_ source: Source, _ body: String) async throws -> (stored: String?, isLogged: Bool) {
        let world = World([source])
        world.fetcher.serve(url("a"), body, [("Next", url("a") + "/2")])
        world.fetcher.serve(url("a") + "/2", "\n")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        return (
            await world.journal.records["a"]?.snapshot?.warning,
            world.log.all.contains { $0.contains("a: \(Self.warning)") }
        )
    }

    @Test("what no item of a page has is told where it is so on each page")
    func absences() async throws {
        func stored(_ first: String, _ second: String) async throws -> String? {
            let world = World([source("a", LineKind(wanted: "Ready"))])
            world.fetcher.serve(url("a"), first, [("Next", url("a") + "/2")])
            world.fetcher.serve(url("a") + "/2", second)
            try await world.watcher.restore()
            _ = await world.watcher.runOnce(force: true)
            return await world.journal.records["a"]?.snapshot?.warning
        }
        #expect(try await stored("1=Ready\n", "2=Starting\n") == nil)
        #expect(try await stored("1=Stopped\n", "2=Ready\n") == nil)
        #expect(try await stored("1=Stopped\n", "2=Starting\n") == "no item is Ready")
    }

    @Test("the first poll logs it, and 'check' and 'status' find it with the snapshot")
    func said() async throws {
        let said = try await warning(watched(), "\n")
        #expect(said.stored == Self.warning && said.isLogged)
    }

    @Test("an item on any page, and a user who expects none, need no hint")
    func unsaid() async throws {
        let found = try await warning(watched(), "1=Ready")
        #expect(found.stored == nil && !found.isLogged)
        let expected = try await warning(watched(.valid), "\n")
        #expect(expected.stored == nil && !expected.isLogged)
    }
}
