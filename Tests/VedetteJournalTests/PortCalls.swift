// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Calls what the engine calls.
func exerciseEngine(_ journal: any Journal) async throws {
    var record = PollRecord(record: SourceRecord(name: "source1"), isNewBaseline: true, writes: [item("1")])
    record.deletions = ["2"]
    let cause = event(1, source: "source1")
    (record.events, record.deliveries) = (
        [cause], [delivery(1, of: cause), delivery(2, of: event(9, kind: .test))]
    )
    record.endedSilences = [1]
    let stop = StoppedSink(sink: "sink9", kind: .paused, reason: "401", since: stamp(0), fingerprint: 1)
    record.sinkChange = .stopped(stop)
    let memory = RuleMemory(key: .init(rule: "r", slot: .tally, name: "n"), identity: 1, since: stamp(0))
    record.memories = [memory.key: memory, .init(rule: "r", slot: .once, name: "n"): nil]
    _ = try await journal.commit([record])
    try await journal.write(deferred: [DeferredWrite(SourceRecord(name: "source1"))])
    _ = try await journal.commit([PollRecord(record: nil, sinkChange: .resumed("sink9"))])
    _ = try await journal.stoppedSinks()
    _ = try await journal.sourceRecords()
    _ = try await journal.items(of: "source1")
    _ = try await journal.lastOfWatcher(.offline, or: .online)
    _ = try await journal.ruleMemories()
    _ = try await journal.silences()
    let lane = DeliveryLane(source: "source1", sink: "sink1")
    let pending = try await journal.pending(in: lane, after: 0, limit: 64)
    var attempt = Attempt(
        delivery: pending[0].id, state: .dead, attempts: 1, due: stamp(0), at: stamp(0), reason: "404")
    attempt.successor = pending[0].fallback(among: ["x"], where: { _ in true }, id: "msg_x", at: stamp(1))
    try await journal.record([attempt])
    _ = try await journal.sent(before: pending[0], limit: 100)
    _ = try await journal.messages(of: "rule1", to: "sink1", about: "source1", before: 100, limit: 10)
    for policy in QueueBound.Policy.allCases {
        var limits = limits(["sink1": bound(20_000, bytes: 2_000_000, policy)], oldest: ["sink2": stamp(0)])
        limits.diverted = ["sink3": [7]]
        _ = try await journal.evict(limits)
    }
}

/// Calls what the program calls beside the engine.
func exerciseMaintenance(
    _ journal: any JournalMaintenance & CookieStore, prunedBefore time: Timestamp
) async throws {
    let queued = QueuedRequest(id: 1, request: .reloadSilences)
    _ = try await journal.controlRequests()
    try await journal.finish(queued)
    try await journal.forgetCookies(keeping: [])
    _ = await journal.cookies(of: "x")
    await journal.keep([1], of: "x")
    _ = try await journal.size()
    try await journal.store(PollLateness.Report(p99: 1, polls: 1, at: stamp(0)), of: "")
    try await journal.prune(
        Retention(eventsBefore: time, sources: [], sourcesBefore: stamp(0)))
}

/// Calls what commands call to read.
func exerciseReader(_ reader: any JournalReader, since time: Timestamp) async throws {
    for filter in [
        EventFilter(), .init(source: "source1"), .init(rule: "rule1"), .init(since: time),
        .init(source: "source1", rule: "rule1", since: time),
        .init(source: "source1", key: "k1", kinds: [.changed], isSent: true, until: time),
    ] {
        _ = try await reader.seq(before: 9, filter)
        _ = try await reader.events(after: 0, filter, limit: 9)
        _ = try await reader.lastEvents(9, filter)
    }
    _ = try await reader.deliveryStates(of: [7, 8])
    _ = try await reader.deliveryStates(of: [7, 9])
    _ = try await reader.events(matching: "7")
    _ = try await reader.events(matching: "id7")
    _ = try await reader.deliveries(ofMessage: "id7")
    _ = try await reader.history(source: "source1", key: "k1", limit: 9)
    for filter in [
        DeliveryFilter(), .init(.unsent), .init(.unsent, sink: "sink1", rule: "rule1", before: stamp(0)),
        .init(.only(.paused), sink: "sink1"), .init(.only(.dead), sink: "sink1"), .init(event: 7),
    ] {
        _ = try await reader.deliveries(filter, limit: 9)
    }
    _ = try await reader.attempts(of: 1)
    _ = try await reader.sourceRecord(of: "source1")
    _ = try await reader.sinkCounts()
    _ = try await reader.stoppedSinks()
    _ = try await reader.lateness()
    _ = try await reader.activity(of: ["sink1"], since: stamp(0))
    _ = try await reader.ruleCount(of: "rule1")
    _ = try await reader.lastSeq()
}
