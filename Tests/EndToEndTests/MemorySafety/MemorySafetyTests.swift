// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// With `VEDETTE=FILE` these tests try that program, such as the release binary, whose optimised code has faults of its own.
/// contrib/memcheck runs them under valgrind.
@Suite("The whole program with poisoned memory", .timeLimit(.minutes(10 * Program.slowness)))
struct MemorySafetyTests {
    @Test(
        "I11: the tables of these tests have each source kind, each that reads streams, and each sink kind", .tags(.I11)
    )
    func tables() async throws {
        let schema = try #require(Program.object(try await Program.run(["schema"]).out))
        func kinds(_ part: String) -> Set<String> {
            let kinds = schema.at("properties", part, "additionalProperties", "anyOf") as? [[String: Any]]
            return Set((kinds ?? []).compactMap { $0.text("properties", "kind", "const") })
        }
        let sources = kinds("sources")
        #expect(sources == Set(SourceKindCase.all.map(\.kind)))
        #expect(kinds("sinks") == Set(SinkKindCase.all.map(\.kind)))

        let home = try Home()
        let lines = sources.map { "  \($0): {kind: \($0), url: 'http://127.0.0.1:1/', stream: true}" }
        try home.write("sources:\n" + lines.joined(separator: "\n"))
        let check = try await home.vedette("check")
        #expect(check.code == 78)
        let streaming = sources.filter { !check.err.contains("the kind '\($0)' reads no stream") }
        #expect(streaming == Set(SourceKindCase.all.filter { $0.record != nil }.map(\.kind)), "\(check.err)")
    }

    @Test(
        "I11: each source kind reads unchanged, changed, unreadable, missing and oversized bodies, over each way to get bytes",
        .tags(.I11),
        arguments: PoisonedMemory.all)
    func sources(_ memory: PoisonedMemory) async throws {
        let place = await Place()
        defer { withExtendedLifetime(place) {} }
        let polled = try await PolledSources(memory)
        let rounds: [PolledSources.Served] = [
            .first, .first, .changed, .changed, .unreadable, .missing, .oversized, .first,
        ]
        for (number, served) in rounds.enumerated() {
            try polled.serve(served)
            let fails = polled.sources.contains { !$0.failures(served).isEmpty }
            let once = try await polled.run("run", "--once", "--force", "--verbose")
            #expect(once.code == (fails ? 69 : 0), "\(served), round \(number): \(once.err)")
            if [1, 3].contains(number) {
                let unchanged = PolledSources.unchanged(in: once.err.components(separatedBy: "\n"))
                #expect(Set(unchanged.keys) == Set(polled.sources.map(\.name)), "\(once.err)")
            }
            let status = try await polled.run("status", "--all", "--json").json
            for source in polled.sources {
                let failure = status.first { $0.text("source") == source.name }?.text("error", "class")
                let failures = source.failures(served)
                #expect(
                    failure.map(failures.contains) ?? (failures.isEmpty || source.mayLackMemory(served)),
                    "\(source.name), \(served): \(failure ?? "-")")
            }
        }
        let events = RecordedEvents(try await polled.run("tail", "--no-follow", "--json", "--since", "1d"))
        for source in polled.sources {
            let (name, kind) = (source.name, source.kind)
            var values = events.values(of: kind.field, in: name)
            // What is down has events about its status, too.
            if kind.failure == nil {
                values = values.indices.filter { $0 == 0 || values[$0] != values[$0 - 1] }.map { values[$0] }
            }
            #expect(values == [kind.changed, kind.first], "\(name)")
            if let key = kind.key { #expect(events.keys(in: name) == [key], "\(name)") }
            let health = events.health(of: name)
            let lackedMemory = source.mayLackMemory(.oversized) && health == ["failing:memory", "recovered"]
            #expect(
                lackedMemory || health == (kind.failure.map { ["failing:\($0)", "recovered"] } ?? []),
                "\(name): \(health)")
        }
        await polled.server.end()
    }

    @Test(
        "I11: a watcher polls what does not change again and again, and reads records of streams, good and bad ones",
        .tags(.I11),
        arguments: PoisonedMemory.all)
    func watcher(_ memory: PoisonedMemory) async throws {
        let place = await Place()
        defer { withExtendedLifetime(place) {} }
        let world = try await PolledSources(memory, readsStreams: true)
        let (names, streams) = (world.sources.map(\.name), world.streams)
        let watcher = try world.watcher()
        /// Waits until so many polls, or records, of each source brought nothing new.
        func unchanged(_ names: [String], _ count: Int) async throws {
            try await watcher.wait(for: .err) { log in
                let unchanged = PolledSources.unchanged(in: log)
                return names.allSatisfy { unchanged[$0, default: 0] >= count }
            }
        }
        /// Waits until the sink got so many messages about items of each source.
        func told(_ names: [String], _ count: Int) async throws {
            try await watcher.wait { lines in
                let told = lines.compactMap(Program.object).filter {
                    $0.text("type")?.hasPrefix("io.vedette.item") == true
                }
                return names.allSatisfy { name in told.count { $0.text("source") == "/sources/\(name)" } >= count }
            }
        }
        func push(_ record: @Sendable (SourceKindCase) -> String?) async throws {
            for kind in SourceKindCase.all {
                guard let record = record(kind) else { continue }
                for format in ["events", "lines"] { try await world.server.push(record, to: "\(kind.kind)-\(format)") }
            }
        }

        try await unchanged(names, 3)
        try await world.server.opened(streams, times: 1)
        try await push { $0.record?("one") }
        try await told(streams, 1)
        try await push { $0.record?("one") }
        try await unchanged(streams, 1)
        try await push { $0.record?("two") }
        try world.serve(.changed)
        try await told(names, 1)
        try await told(streams, 2)
        // A record that cannot be read ends its connection.
        try await push { kind in kind.record.map { kind.unreadable($0("bad")) } }
        try await world.server.opened(streams, times: 2)
        try await push { $0.record?("three") }
        try await told(streams, 3)
        for stream in streams { try await world.server.refuse(stream) }
        try await push { $0.record?(String(repeating: "x", count: 1_200_000)) }
        try await world.server.opened(streams, times: 3)
        try await push { $0.record?("four") }
        try await told(streams, 4)
        #expect(await watcher.stop() == 0, "\(watcher.text(of: .err).suffix(1000))")

        let events = RecordedEvents(try await world.run("tail", "--no-follow", "--json", "--since", "1d"))
        for source in world.sources {
            #expect(events.values(of: source.kind.field, in: source.name) == [source.kind.changed], "\(source.name)")
            #expect(events.health(of: source.name) == [], "\(source.name)")
        }
        for kind in SourceKindCase.all where kind.record != nil {
            for name in ["\(kind.kind)-events", "\(kind.kind)-lines"] {
                #expect(events.values(of: kind.field, in: name) == ["one", "two", "three", "four"], "\(name)")
                // Neither connection lasts long enough to prove that its records can be read again (I12).
                #expect(events.health(of: name) == ["failing:\(kind.failure ?? "-")"], "\(name)")
                let log = watcher.lines(of: .err)
                #expect(log.contains { $0.contains("\(name): too-large") }, "\(name)")
            }
        }
        await world.server.end()
    }

    @Test(
        "I11: each sink kind sends, retries what its receiver could not take, reads a long answer, and ends what is refused",
        .tags(.I11),
        .enabled(if: Desktop.missing.isEmpty, "missing programs: \(Desktop.missing.joined(separator: ", "))"),
        arguments: PoisonedMemory.all)
    func sinks(_ memory: PoisonedMemory) async throws {
        let world = try await Receivers(memory)
        let baseline = try await world.poll("first")
        try #require(baseline.code == 0, "\(baseline.err)")

        try await world.refuse(status: 503, command: 75)
        let retried = try await world.poll("second")
        #expect(retried.code == 69, "\(retried.err)")
        for sink in SinkKindCase.all {
            #expect(world.count("pending", sink) == (sink.kind == "stdout" ? 0 : 1), "\(sink.name)")
        }
        try await world.accept()
        let sent = try await world.poll("second")
        #expect(sent.code == 0, "\(sent.err)")

        try await world.answerAtLength()
        let long = try await world.poll("third")
        #expect(long.code == 0, "\(long.err)")

        try await world.refuse(status: 400, command: 1)
        let refused = try await world.poll("fourth")
        #expect(refused.code == 69, "\(refused.err)")
        for sink in SinkKindCase.all {
            #expect(world.count("pending", sink) == 0, "\(sink.name)")
            #expect(world.count("dead", sink) == (sink.isRefusable ? 1 : 0), "\(sink.name)")
            let seen = try await world.seen(by: sink)
            #expect(seen == ["second", "third", "fourth"], "\(sink.name)")
        }
        await world.end()
    }
}
