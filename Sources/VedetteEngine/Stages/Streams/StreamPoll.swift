// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the records of one connection and commits them batch by batch, until the connection ends.
struct StreamPoll {
    /// The usual time before a connection is opened again.
    static let reconnect = Duration.seconds(3)
    /// The bounds of what a server may ask for instead.
    static let retry = Duration.seconds(1)...Duration.seconds(86_400)
    /// A response that ends sooner was no stream: the source is polled at its interval.
    private static let shortest = Duration.seconds(10)
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
    private let openedAt: BootTime

    init(_ pipeline: PollPipeline, _ poll: Poll, _ stream: OpenStream) {
        (self.pipeline, source, self.stream) = (pipeline, poll.source, stream)
        connection = poll.start.lane == .streams ? .open : poll.start.polled.map { .polled($0) }
        (clock, lane, memory) = (poll.stages.clock, poll.stages.lane, poll.stages.memory)
        openedAt = clock.now().boot
        lastGood = openedAt
    }

    private var settings: StreamSettings { source.source.stream ?? StreamSettings() }

    /// Nil where the source is polled by brief connections.
    private var isKept: Bool { connection == .open }

    mutating func run() async throws(JournalError) {
        defer { stream.records.close() }
        let lists = settings.initial != nil && !stream.isResumed
        let stages = pipeline.stages(of: source, lane, memory)
        if !lists {
            let result: PollResult
            if stages.comparableSnapshot == nil {
                let resume = stages.resume
                let differ = Differ(source: source.source, now: clock.now().wall)
                result = PollResult(
                    .read(differ.emptyBaseline(resume: resume, replaces: source.record.snapshot != nil)))
            } else {
                result = PollResult(.opened)
            }
            try await store(result)
            guard !isOver else { return }
            if isKept { return try await follow() }
            return try await readOnce(stages, lists: false)
        }
        try await readOnce(stages, lists: true)
        if isKept, !isOver, source.record.connection == .open { try await follow() }
    }

    /// Whether what is read no longer counts.
    private var isOver: Bool { Task.isCancelled || source.isRemoved || source.mustRestart }

    // MARK: All at once

    /// Reads everything that the server sends until it pauses, and commits it as one poll.
    private mutating func readOnce(_ stages: PollStages, lists: Bool) async throws(JournalError) {
        defer { memory?.release() }
        let pause = lists ? settings.initial ?? PollStages.briefPause : PollStages.briefPause
        let time = isKept ? stages.limits.time : PollStages.briefTime
        switch await stages.collect(stream, pause: pause, time: time, isBrief: !isKept) {
        case .failure(let stop): try await store(stop.result)
        case .success((let collected, let hasEnded)):
            var result = lists ? try await compare(collected) : try await merge(collected.changes)
            result.warnings = collected.warnings
            try await store(result)
            if hasEnded, isKept { pipeline.streamEnded(source, next: nextConnection) }
        }
    }

    /// Compares everything that the server lists with the snapshot.
    private func compare(_ collected: CollectedRecords) async throws(JournalError) -> PollResult {
        let stages = pipeline.stages(of: source, lane, memory)
        let stored = stages.snapshot?.identity == source.source.identity ? try await pipeline.items(of: source) : [:]
        let observation = Observation(items: collected.items, mode: source.source.kind.mode)
        var result = await stages.diff(.items(ReadItems(observation: observation, stored: stored)))
        if case .read(var difference) = result.outcome {
            difference.head.resume = collected.resume ?? difference.head.resume
            result.outcome = .read(difference)
        }
        return result
    }

    // MARK: As it arrives

    private mutating func follow() async throws(JournalError) {
        while !isOver {
            let stages = pipeline.stages(of: source, lane, memory)
            switch await stages.next(of: stream) {
            case .failure(let error): return try await store(PollResult(error))
            case .success(nil):
                return pipeline.streamEnded(source, next: nextConnection)
            case .success(let batch?) where batch.records.isEmpty:
                if !batch.isInterrupted { try await keepAlive() }
            case .success(let batch?):
                // Held until the last commit of the batch.
                defer { memory?.release() }
                await stages.reserve(
                    records: batch.records.reduce(0) { $0 + $1.data.count }, items: batch.records.count)
                var rest = batch.records[...]
                while !rest.isEmpty, !isOver {
                    let reading = await pipeline.stages(of: source, lane, memory).read(rest, of: stream)
                    rest = reading.rest
                    try await take(reading)
                    guard source.record.connection == .open else { return }
                }
            }
        }
        // The pipeline notes that the poll was cancelled.
        try await store(PollResult(.cancelled))
    }

    private mutating func take(_ reading: RecordReading) async throws(JournalError) {
        let isNew = reading.changes.resume.map { $0 != source.record.snapshot?.resume } ?? false
        if !reading.changes.isEmpty || isNew {
            var result = try await merge(reading.changes)
            (result.warnings, result.isPartial) = (reading.warnings, !reading.rest.isEmpty)
            try await store(result)
            lastGood = clock.now().boot
        } else {
            try await keepAlive()
        }
        guard !isOver else { return }
        if reading.isExpired { return try await store(PollResult(.expired)) }
        if let failure = reading.failure { try await store(PollResult(failure)) }
    }

    private func merge(_ changes: RecordChanges) async throws(JournalError) -> PollResult {
        let stages = pipeline.stages(of: source, lane, memory)
        guard let snapshot = source.record.snapshot else { return PollResult(.cancelled) }
        let needsAll = stages.differ.needsEveryRow(snapshot, for: changes)
        let stored = try await pipeline.items(of: source, needsAll ? nil : changes.allKeys)
        return PollResult(.read(await stages.merge(snapshot, stored, changes)))
    }

    /// The connection is alive: what it showed still holds.
    private mutating func keepAlive() async throws(JournalError) {
        let now = clock.now().boot
        guard lastGood.advanced(by: StreamPoll.alivePause) <= now else { return }
        lastGood = now
        if source.record.snapshot?.emptiness != nil {
            try await store(try await compare(CollectedRecords()))
        } else {
            try await store(PollResult(.unchanged(Validators())))
        }
    }

    // MARK: Ends

    private func store(_ result: PollResult) async throws(JournalError) {
        let isClosed =
            switch result.outcome {
            case .failed, .expired, .cancelled: true
            case .unchanged, .read, .unconfirmed, .opened: false
            }
        let plan = ConnectionPlan(
            connection: isClosed && isKept ? nil : connection,
            reconnect: isClosed && isKept ? retry ?? min(StreamPoll.reconnect, source.source.interval.every) : nil)
        try await pipeline.store(result, of: source, pipeline.stages(of: source, lane, memory), plan)
    }

    private var retry: Duration? {
        stream.records.retry.map { min(max($0, StreamPoll.retry.lowerBound), StreamPoll.retry.upperBound) }
    }

    /// When the stream is opened again after the server has ended it.
    private var nextConnection: Duration {
        if let retry { return retry }
        let every = source.source.interval.every
        let isShort = clock.now().boot < openedAt.advanced(by: StreamPoll.shortest)
        return isShort ? every : min(StreamPoll.reconnect, every)
    }
}
