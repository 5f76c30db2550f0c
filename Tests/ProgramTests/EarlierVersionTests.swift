// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteConfig
import VedetteCore
import VedetteDocument

@testable import vedette

/// What each released version wrote, as `contrib/fixtures/make` kept it.
@Suite("Files of earlier versions")
struct EarlierVersionTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The released versions, by the names of their directories.
    static let versions: [URL] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []
        return names.filter { $0.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil }.sorted()
            .map { fixtures.appending(path: $0) }
    }()

    @Test("the first release is among them")
    func first() { #expect(EarlierVersionTests.versions.first?.lastPathComponent == "0.1.0") }

    @Test("a configuration with every key of a version is accepted", arguments: EarlierVersionTests.versions)
    func configuration(_ version: URL) throws {
        let directory = version.appending(path: "configuration").path
        let loaded = ConfigurationLoader(
            directory: directory, sourceKinds: KindRegistry.sourceKinds, sinkKinds: KindRegistry.sinkKinds,
            recurrence: RecurrenceDays.days, environment: [:], secrets: .none
        ).load()
        // A key that goes is a warning until then. Beside the key of a shared journal a sink of one machine names its watcher,
        // which the examples do not.
        let errors = loaded.diagnostics.filter { $0.severity == .error || $0.isFailedTest }.map(\.description)
        #expect(errors.filter { !$0.contains(" belongs to one machine, and watchers on several ") } == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count > 50)
    }

    @Test(
        "each event that a version printed is read, and printed with every member that it had",
        arguments: EarlierVersionTests.versions)
    func events(_ version: URL) throws {
        let lines = try String(contentsOf: version.appending(path: "events.ndjson"), encoding: .utf8)
            .split(separator: "\n")
        #expect(lines.count > 5)
        for line in lines {
            let old = try JSON(parsing: line.utf8)
            let event = try #require(Event(json: old))
            #expect(event.kind != .unknown)
            #expect(EarlierVersionTests.lost(of: old, in: event.json) == [])
        }
    }

    /// The paths of what a value has and another one lacks.
    private static func lost(of old: JSON, in new: JSON?, at path: String = "") -> [String] {
        guard let members = old.members else { return old == new ? [] : [path] }
        return members.flatMap { lost(of: $0.value, in: new?[$0.name], at: "\(path)/\($0.name)") }
    }
}
