// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The watch of the configuration", .timeLimit(.minutes(10)))
struct ConfigurationWatchTests {
    private static func sources(_ names: [String]) -> String {
        "sources:\n" + names.map { "  \($0): {kind: json, url: \"file:///nowhere/\($0)\", every: 1h}\n" }.joined()
    }

    private static func names(_ count: Int, _ prefix: String = "a") -> [String] { (0..<count).map { "\(prefix)\($0)" } }

    @Test("rules/ made later, a replaced directory and 500 quick edits are noticed, and so is the edit after each")
    func noticed() async throws {
        let home = try Home()
        try home.write(Self.sources(Self.names(1)))
        let watcher = try await home.watcher()
        func reloaded(_ count: Int) async throws {
            try await watcher.wait(for: .err) { $0.contains { $0.contains("reloaded: \(count) source") } }
        }
        let rules = home.config.appending(path: "rules")
        try FileManager.default.createDirectory(at: rules, withIntermediateDirectories: true)
        try home.write(Self.sources(Self.names(1, "b")), to: "rules/b.yaml")
        try await reloaded(2)
        try home.write(Self.sources(Self.names(2, "b")), to: "rules/b.yaml")
        try await reloaded(3)

        let fresh = home.directory.appending(path: "fresh")
        try FileManager.default.createDirectory(at: fresh, withIntermediateDirectories: true)
        let file = fresh.appending(path: "vedette.yaml")
        try Self.sources(Self.names(4)).write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.moveItem(at: home.config, to: home.directory.appending(path: "former"))
        try FileManager.default.moveItem(at: fresh, to: home.config)
        try await reloaded(4)
        try home.write(Self.sources(Self.names(5)))
        try await reloaded(5)

        for edit in 0..<500 { try home.write(Self.sources(Self.names(6 + edit % 2))) }
        try home.write(Self.sources(Self.names(8)))
        try await reloaded(8)
        try home.write(Self.sources(Self.names(9)))
        try await reloaded(9)
        #expect(await watcher.stop() == 0)
    }
}
