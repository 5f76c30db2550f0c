// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Stopped sinks and the lateness of polls in a journal")
struct StoppedSinkRowTests {
    private func stop(_ sink: String, since: Int64 = 5, kind: Event.Kind = .disabled) -> StoppedSink {
        StoppedSink(sink: sink, kind: kind, reason: "the answer is 410 \"é\"", since: stamp(since), fingerprint: .max)
    }

    @Test(
        "a stopped sink is read back as it was, over a restart, until it takes messages again",
        arguments: Backend.allCases)
    func stopped(_ backend: Backend) async throws {
        let store = try await backend.open()
        // A source may have the same name.
        let changes = [stop("team"), stop("lab", kind: .paused), stop("other")].map(SinkChange.stopped)
        let records = changes.map { PollRecord(record: nil, events: [], sinkChange: $0) }
        _ = try await store.journal.commit([poll()] + records)
        _ = try await store.journal.commit([
            PollRecord(record: nil, sinkChange: .stopped(stop("team", since: 9, kind: .failing)))
        ])
        _ = try await store.journal.commit([PollRecord(record: nil, sinkChange: .resumed("other"))])
        try await store.restart()
        let expected = [stop("lab", kind: .paused), stop("team", since: 9, kind: .failing)]
        #expect(try await store.journal.stoppedSinks() == expected)
        #expect(try await store.reader().stoppedSinks() == expected)
        #expect(try await store.reader().sourceRecords().map(\.name) == ["lab"])
        try await store.journal.close()
    }

    @Test("of each watcher the last report of how late its polls start is kept", arguments: Backend.allCases)
    func lateness(_ backend: Backend) async throws {
        let store = try await backend.open()
        let (first, last) = (
            PollLateness.Report(p99: 2.5, polls: 7, at: stamp(1)),
            PollLateness.Report(p99: 0.025, polls: 1234, at: stamp(9))
        )
        for report in [first, last] { try await store.journal.store(report, of: "") }
        try await store.journal.store(first, of: "db2")
        try await store.restart()
        #expect(try await store.reader().lateness() == ["": last, "db2": first])
        #expect(try await store.reader().sourceRecords().isEmpty)
        try await store.journal.close()
    }

    @Test(
        "the stop of a sink that is no longer configured is forgotten once its time is over, and so is an old report",
        arguments: Backend.allCases)
    func pruning(_ backend: Backend) async throws {
        let store = try await backend.open()
        let stops = [stop("gone"), stop("kept"), stop("young", since: 200)]
        _ = try await store.journal.commit(stops.map { PollRecord(record: nil, sinkChange: .stopped($0)) })
        for (watcher, time) in [("gone", 99), ("young", 100)] as [(String, Int64)] {
            try await store.journal.store(PollLateness.Report(p99: 1, polls: 1, at: stamp(time)), of: watcher)
        }
        try await store.journal.prune(
            Retention(eventsBefore: stamp(0), sources: [], sinks: ["kept"], sourcesBefore: stamp(100)))
        #expect(try await store.reader().stoppedSinks().map(\.sink) == ["kept", "young"])
        #expect(try await Array(store.reader().lateness().keys) == ["young"])
        try await store.journal.close()
    }
}
