// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the records of one connection and commits them batch by batch, until the connection ends.
struct StreamPoll {
    /// The usual time before a connection is opened again.
    static let reconnect = Duration.seconds(3)
    /// The bounds of what a server may ask for instead.
    static let retry = Duration.seconds(1)...Duration.seconds(86_400)
    /// Bytes that only keep the connection alive count as a good poll, at most this often.
    private static let alivePause = Duration.seconds(1)

    let pipeline: PollPipeline
    let clock: any Clock
    let source: WatchedSource
    let lane: Lane
    /// Holds the memory for one batch at a time.
    let memory: PollMemoryShare?
    let stream: OpenStream
    /// How the source is read.
    let connection: SourceRecord.Connection?
    private var lastGood: BootTime
    private var progress: ConnectionProgress
    /// What the records of a brief connection made so far, in commits of their own.
    private var brief = (events: 0, warnings: [String]())
    private let openedAt: Timestamp

    init(_ pipeline: PollPipeline, _ poll: Poll, _ stream: OpenStream) {
        (self.pipeline, source, self.stream) = (pipeline, poll.source, stream)
        connection = poll.start.lane == .streams ? .open : poll.start.polled.map { .polled($0) }
        (clock, lane, memory) = (poll.reader.clock, poll.reader.lane, poll.reader.memory)
        let now = clock.now()
        (lastGood, openedAt) = (now.boot, now.wall)
        progress = ConnectionProgress(openedAt: lastGood, unreadableAge: source.unreadableAge)
    }

    private var settings: StreamSettings { source.source.stream ?? StreamSettings() }

    /// Nil where the source is polled by brief connections.
    private var isKept: Bool { connection == .open }

    mutating func run() async throws(JournalError) {
        defer { stream.records.close() }
        let reader = pipeline.reader(of: source, lane, memory)
        if let beginning = beginning(reader) {
            try await readOnce(reader, beginning)
            guard isKept else { return }
        } else {
            try await store(opening(reader), .nothing)
        }
        guard !isOver, source.record.connection == connection else { return }
        try await follow()
    }

    /// What a server sends first over a connection, which is read as a whole.
    private enum Beginning {
        /// Everything that exists.
        case list
        /// What happened before the first connection, as far as the server sends it.
        case past
    }

    /// Returns nil where a connection brings nothing but what happened since the last one.
    private func beginning(_ reader: PollReader) -> Beginning? {
        if settings.initial != nil, !stream.isResumed { return .list }
        return reader.comparableSnapshot == nil && source.source.first == .baseline ? .past : nil
    }

    /// The result of a connection that was opened: the snapshot's items stay, or there are none yet.
    private func opening(_ reader: PollReader) -> PollResult {
        guard reader.comparableSnapshot == nil else { return PollResult(.opened) }
        var result = PollResult(.read(baseline(CollectedRecords(), reader)))
        result.isPartial = true
        return result
    }

    /// Whether what is read no longer counts.
    private var isOver: Bool { Task.isCancelled || source.dropsResult }

    // MARK: All at once

    /// Reads everything that the server sends until it pauses, and commits it as one poll.
    private mutating func readOnce(_ reader: PollReader, _ beginning: Beginning) async throws(JournalError) {
        defer { memory?.release() }
        let pause = beginning == .list ? settings.initial ?? PollReader.briefPause : PollReader.briefPause
        // A list is whole; of its past a server that never pauses sends what it can.
        let isBrief = !isKept || beginning == .past
        let time = isBrief ? PollReader.briefTime : reader.limits.time
        switch await reader.collect(stream, pause: pause, time: time, isBrief: isBrief) {
        case .failure(let stop):
            if stop.result.isUnreadable { source.unreadableAge = progress.age(at: clock.now().boot) }
            try await store(stop.result, .nothing)
        case .success((let collected, let hasEnded)):
            let isStored = !collected.changes.isEmpty || isNew(collected.resume)
            var result =
                switch beginning {
                case .list: try await compare(collected)
                case .past: PollResult(.read(baseline(collected, reader)))
                }
            result.warnings = collected.warnings
            progress.hasStored = progress.hasStored || isStored
            // A brief connection is read as a whole.
            let evidence =
                isKept || isStored
                ? progress.evidence(at: clock.now().boot, isComplete: hasEnded || !isKept) : .connection
            try await store(result, evidence)
            if hasEnded, isKept { pipeline.streamEnded(source, next: nextConnection) }
        }
    }

    private func baseline(_ collected: CollectedRecords, _ reader: PollReader) -> Difference {
        Differ(source: source.source, now: clock.now().wall).streamBaseline(
            collected.items, openedAt: openedAt, resume: collected.resume ?? reader.resume,
            replaces: source.record.snapshot != nil)
    }

    /// Compares everything that the server lists with the snapshot.
    private func compare(_ collected: CollectedRecords) async throws(JournalError) -> PollResult {
        let reader = pipeline.reader(of: source, lane, memory)
        let stored = reader.snapshot?.identity == source.source.identity ? try await pipeline.items(of: source) : [:]
        await reader.reserve(records: collected.bytes, items: collected.items.count + stored.count)
        let observation = Observation(items: collected.items, mode: source.source.kind.mode)
        var result = await reader.diff(.items(ReadItems(observation: observation, stored: stored)))
        if case .read(var difference) = result.outcome {
            difference.head.resume(behind: collected.resume, source.source.stream)
            result.outcome = .read(difference)
        }
        return result
    }

    // MARK: As it arrives

    /// Commits records until the connection ends. A brief connection ends when the server pauses.
    private mutating func follow() async throws(JournalError) {
        var pause =
            isKept
            ? nil : StreamPause(of: PollReader.briefPause, within: PollReader.briefTime, at: clock.now().boot)
        while !isOver {
            let reader = pipeline.reader(of: source, lane, memory)
            let now = clock.now().boot
            if let pause, pause.deadline <= now { return try await endBriefly() }
            let deadline = pause?.deadline ?? (needsProof ? progress.deadline(after: now) : nil)
            switch await reader.next(of: stream, before: deadline) {
            case .failure(let error): return try await store(PollResult(error), .nothing)
            case .success(nil):
                guard isKept else { return try await endBriefly() }
                try await prove(progress.evidence(at: clock.now().boot, isComplete: true))
                return pipeline.streamEnded(source, next: nextConnection)
            case .success(let batch?) where batch.records.isEmpty:
                defer { memory?.release() }
                guard isKept else { continue }
                if batch.isInterrupted {
                    try await prove(progress.evidence(at: clock.now().boot))
                } else {
                    try await keepAlive()
                }
            case .success(let batch?):
                // Held until the last commit of the batch.
                defer { memory?.release() }
                guard try await take(batch, reader) else { return }
                pause?.begin(at: clock.now().boot)
            }
        }
        // The pipeline notes that the poll was cancelled.
        try await store(PollResult(.cancelled), .nothing)
    }

    /// - Returns: whether the connection goes on.
    private mutating func take(_ batch: RecordBatch, _ reader: PollReader) async throws(JournalError) -> Bool {
        await reader.reserve(records: batch.records.reduce(0) { $0 + $1.data.count }, items: batch.records.count)
        var rest = batch.records[...]
        while !rest.isEmpty, !isOver {
            let reading = await pipeline.reader(of: source, lane, memory).read(rest, of: stream)
            rest = reading.rest
            let end = try await take(reading)
            if let end, !isOver { try await store(end, .nothing) }
            guard end == nil, source.record.connection == connection else { return false }
        }
        return true
    }

    /// - Returns: the result that ends the connection; nil when it goes on.
    private mutating func take(_ reading: RecordReading) async throws(JournalError) -> PollResult? {
        if !reading.changes.isEmpty || isNew(reading.changes.resume) {
            var result = try await merge(reading.changes)
            // Of a brief connection only its end tells that nothing else waited.
            (result.warnings, result.isPartial) = (isKept ? reading.warnings : [], !isKept || !reading.rest.isEmpty)
            // Not yet, while a record behind it in the batch may be unreadable.
            if reading.rest.isEmpty { progress.hasStored = true }
            let isProof = isKept && reading.rest.isEmpty
            try await store(result, isProof ? progress.evidence(at: clock.now().boot) : .nothing)
            lastGood = clock.now().boot
            if !isKept { noteBriefly(result, reading.warnings) }
        } else if isKept, reading.failure == nil, !reading.isExpired {
            try await keepAlive()
        }
        if reading.isExpired {
            return source.record.snapshot?.resume?.isEmpty ?? true ? PollReader.expiredUnasked : PollResult(.expired)
        }
        guard let failure = reading.failure else { return nil }
        source.unreadableAge = progress.age(at: clock.now().boot)
        return PollResult(failure)
    }

    private mutating func noteBriefly(_ result: PollResult, _ warnings: [String]) {
        brief.warnings += warnings
        if case .read(let difference) = result.outcome { brief.events += difference.events.count }
    }

    /// Stores that a brief connection has brought all that waited for it: that is its poll.
    private mutating func endBriefly() async throws(JournalError) {
        var result = try await merge(RecordChanges())
        result.warnings = brief.warnings
        try await store(result, progress.hasStored ? .content : .connection)
        source.lastResult = source.lastResult?.adding(events: brief.events)
    }

    private func isNew(_ resume: String?) -> Bool { resume.map { $0 != source.record.snapshot?.resume } ?? false }

    private func merge(_ changes: RecordChanges) async throws(JournalError) -> PollResult {
        let reader = pipeline.reader(of: source, lane, memory)
        guard let snapshot = source.record.snapshot else { return PollResult(.cancelled) }
        let needsAll = reader.differ.needsEveryRow(snapshot, for: changes)
        let stored = try await pipeline.items(of: source, needsAll ? nil : changes.allKeys)
        await reader.reserve(records: 0, items: changes.items.count + stored.count)
        return PollResult(.read(await reader.merge(snapshot, stored, changes)))
    }

    /// The connection is alive: where the source works, what it showed still holds.
    private mutating func keepAlive() async throws(JournalError) {
        let now = clock.now()
        guard lastGood.advanced(by: StreamPoll.alivePause) <= now.boot else { return }
        lastGood = now.boot
        let evidence = progress.evidence(at: now.boot)
        if !source.record.health.isGood(after: evidence) {
            // An open connection has no poll that would show that the source became stale.
            if source.record.health.isStaleDue(source.source.interval, at: now.wall) {
                try await store(PollResult(.opened), .nothing)
            }
        } else if source.record.snapshot?.emptiness != nil {
            try await store(try await compare(CollectedRecords()), evidence)
        } else {
            try await store(PollResult(.unchanged(Validators())), evidence)
        }
    }

    /// Whether the source failed before, or was never read.
    private var needsProof: Bool { source.record.health.failures > 0 || source.record.health.lastPollAt == nil }

    /// Stores that the source works, where the connection proves it.
    private func prove(_ evidence: PollEvidence) async throws(JournalError) {
        guard needsProof, source.record.health.isGood(after: evidence) else { return }
        try await store(PollResult(.opened), evidence)
    }

    // MARK: Ends

    private func store(_ result: PollResult, _ evidence: PollEvidence) async throws(JournalError) {
        if evidence == .content { source.unreadableAge = nil }
        let isClosed =
            switch result.outcome {
            case .failed, .expired, .cancelled: true
            case .unchanged, .read, .unconfirmed, .opened: false
            }
        let plan = ConnectionPlan(
            connection: isClosed && isKept ? nil : connection,
            reconnect: isClosed && isKept ? retry ?? min(StreamPoll.reconnect, source.source.interval.every) : nil)
        try await pipeline.store(
            result.with(evidence, movedTo: stream.movedTo), of: source, pipeline.reader(of: source, lane, memory), plan)
    }

    private var retry: Duration? {
        stream.records.retry.map { min(max($0, StreamPoll.retry.lowerBound), StreamPoll.retry.upperBound) }
    }

    /// When the stream is opened again after the server has ended it.
    private var nextConnection: Duration {
        if let retry { return retry }
        let every = source.source.interval.every
        return progress.isLong(at: clock.now().boot) ? min(StreamPoll.reconnect, every) : every
    }
}
