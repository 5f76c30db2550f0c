// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The journals of released versions, as `contrib/fixtures/make` kept them, under today's program.
@Suite("Journals of earlier versions", .timeLimit(.minutes(10)))
struct EarlierVersionTests {
    static let versions: [URL] = {
        let fixtures = Program.root.appending(path: "Tests/Fixtures")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []
        return names.filter { $0.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil }.sorted()
            .map { fixtures.appending(path: $0) }
    }()

    private let home: Home

    init() throws {
        home = try Home()
        let text = try String(
            contentsOf: Program.root.appending(path: "contrib/fixtures/journal.yaml"), encoding: .utf8)
        try home.write(text.replacing("HOME", with: home.directory.path))
    }

    /// Runs a program of the system to its end.
    private func shell(_ script: String, _ arguments: String...) async throws {
        let child = try Child("/bin/sh", ["-euc", script, "sh"] + arguments)
        guard await child.end(within: 60) == 0 else { throw Trouble(child.text(of: .err)) }
    }

    /// Lets the sources show what they showed last, and polls each once.
    private func poll(_ places: [String]) async throws {
        let script = Program.root.appending(path: "contrib/fixtures/watched.py").path
        try await shell("python3 \"$@\"", script, "4", home.directory.path)
        let run = try await Program.run(["run", "--once", "--force"] + places)
        // The source 'down' fails, as it always did.
        #expect(run.code == 69, "\(run.err)")
    }

    /// Compares what the journal tells with what the version printed.
    private func compare(_ version: URL, _ places: [String]) async throws {
        let old = try String(contentsOf: version.appending(path: "events.ndjson"), encoding: .utf8)
            .split(separator: "\n").compactMap { Program.object(String($0)) }
        let tail = try await Program.run(["tail", "--json", "--no-follow", "--number", "1000"] + places)
        let new = tail.json
        #expect(new.count >= old.count && !old.isEmpty)
        for (before, now) in zip(old, new) {
            #expect(before["id"] as? String == now["id"] as? String)
            #expect(before["type"] as? String == now["type"] as? String)
        }
        for command in [
            ["status", "--json"], ["list", "systems"], ["list", "news", "--json"],
            ["show", "systems", "s2", "--stored"],
            ["outbox", "--json"], ["silences", "--json"], ["explain", "3"], ["explain", "--now", "busy", "s2"],
            ["test", "--since", "3650d"],
        ] {
            let result = try await Program.run(command + places)
            #expect(result.code == 0, "\(command): \(result.err)")
        }
        let silences = try await Program.run(["silences", "--json"] + places).json
        #expect(silences.count <= 2)
        let outbox = try await Program.run(["outbox", "--json"] + places).json
        #expect(outbox.contains { $0["sink"] as? String == "away" }, "what was pending is pending or dead")
    }

    @Test("a journal in SQLite is upgraded, sound, and tells what it told", arguments: EarlierVersionTests.versions)
    func sqlite(_ version: URL) async throws {
        try FileManager.default.createDirectory(at: home.state, withIntermediateDirectories: true)
        try await shell(
            "chmod 700 \"$2\"; umask 077; gzip -dc \"$1\" >\"$2/journal.db\"",
            version.appending(path: "journal.db.gz").path, home.state.path)
        try await poll(home.places)
        try await compare(version, home.places)
        let check = try await home.vedette("journal", "check")
        #expect(check.code == 0, "\(check.err)")
    }

    @Test("a journal in PostgreSQL is upgraded, sound, and tells what it told", arguments: EarlierVersionTests.versions)
    func postgres(_ version: URL) async throws {
        let server = try PostgresServer()
        try await shell(
            "gzip -dc \"$1\" | psql --quiet --set=ON_ERROR_STOP=1 --dbname=\"$2\"",
            version.appending(path: "journal.sql.gz").path, server.keywords)
        let places = ["--config", home.config.path, "--state", server.url]
        try await poll(places)
        try await compare(version, places)
        let check = try await Program.run(["journal", "check"] + places)
        #expect(check.code == 0, "\(check.err)")
    }
}
