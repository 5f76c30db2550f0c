// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A response whose records go on arriving.
struct OpenStream: Sendable {
    let records: any RecordStream
    /// Of the response.
    let headers: ResponseHeaders
    let url: String
    /// Finds secrets in what the server sends.
    let redactor: SecretRedactor?
    /// Where permanent redirects led; nil for none.
    let movedTo: String?
    /// Whether the server was asked to go on behind an id.
    let isResumed: Bool

    init(
        _ records: any RecordStream, _ response: Response, movedTo: String?, isResumed: Bool,
        _ redactor: SecretRedactor?
    ) {
        (self.records, headers, url, self.movedTo) = (records, response.headers, response.url, movedTo)
        (self.isResumed, self.redactor) = (isResumed, redactor)
    }
}

/// What was read of records that arrived.
struct RecordReading: Sendable {
    var changes = RecordChanges()
    var warnings: [String] = []
    /// The records that are still to be read.
    var rest: ArraySlice<StreamRecord>
    /// The server reported that the resume id is too old.
    var isExpired = false
    /// Why the record after `changes` cannot be read.
    var failure: ReadError?
}

/// Everything that a stream sent until it paused.
struct CollectedRecords: Sendable {
    /// In the order of their first records.
    var items: [Item] = []
    var deletions: [String] = []
    var resume: String?
    var warnings: [String] = []
    /// Of all records.
    var bytes = 0

    var changes: RecordChanges {
        var changes = RecordChanges()
        _ = changes.add(items, isDeletion: false)
        _ = changes.add(deletions.map { Item(key: $0) }, isDeletion: true)
        changes.resume = resume
        return changes
    }
}

extension PollReader {
    /// A server that sends only what happens is given this long to send what waits.
    static let briefPause = Duration.seconds(1)
    /// A brief connection ends after this time, whatever goes on arriving.
    static let briefTime = Duration.seconds(10)
    /// A longer resume id is not kept.
    private static let longestResume = 4096

    /// The result of a connection over which the server reports that the id is too old, where it was told none.
    static var expiredUnasked: PollResult {
        PollResult(.failed(.bodyStatus, detail: "the server reports an expired id, though none was sent"))
    }

    /// The id behind which the stream goes on; nil when the snapshot is of no use for that.
    var resume: String? {
        guard let settings = source.stream, let snapshot, snapshot.identity == source.identity else { return nil }
        // Fields that are read with other options must be read again where the server lists everything.
        guard snapshot.fingerprints == source.fingerprints || settings.initial == nil else { return nil }
        guard snapshot.resumeForm == nil || snapshot.resumeForm == settings.resumeForm else { return nil }
        // An empty one is the server's word for none (WHATWG HTML §9.2.6).
        return snapshot.resume == "" ? nil : snapshot.resume
    }

    /// Asks for a stream, behind the last id.
    func request(streaming template: RequestTemplate, _ settings: StreamSettings) -> Request {
        var template = template
        if let resume {
            if let parameter = settings.parameter {
                template.url = WebURL(template.url)?.setting([(parameter, resume)]) ?? template.url
            } else {
                template.headers.append(Header("Last-Event-ID", resume))
            }
        }
        let accepted = template.headers.first { $0.name == "Accept" }?.value ?? "*/*"
        if settings.format != .lines {
            template.headers.removeAll { $0.name == "Accept" }
            template.headers.append(
                Header("Accept", "text/event-stream, application/x-ndjson;q=0.9, \(accepted);q=0.8"))
        }
        // A compressor on the way would hold records back.
        template.headers.append(Header("Accept-Encoding", "identity"))
        var request = requests.first(template)
        request.stream = settings
        return request
    }

    /// Reads records until one is about a key that is there already, or cannot be read.
    ///
    /// Runs beside the network thread.
    @concurrent
    func read(_ records: ArraySlice<StreamRecord>, of stream: OpenStream) async -> RecordReading {
        var reading = RecordReading(rest: records)
        guard let settings = source.stream else { return reading }
        while let record = reading.rest.first, await read(record, of: stream, settings, into: &reading) {
            reading.rest.removeFirst()
        }
        return reading
    }

    /// - Returns: whether the record was read.
    private func read(
        _ record: StreamRecord, of stream: OpenStream, _ settings: StreamSettings, into reading: inout RecordReading
    ) async -> Bool {
        var id = settings.resume == nil ? record.id : nil
        if !record.data.isEmpty, !settings.isIgnored(event: record.event) {
            var body = PageBody(
                bytes: record.data, headers: stream.headers, url: stream.url, receivedAt: clock.now().wall)
            body.event = record.event
            switch await PollReader.read(body, with: source, transformer, stream.redactor) {
            case .failure(let error):
                reading.failure = ReadError(error.failure, "a record of the stream: \(error.detail)")
                return false
            case .success(let page):
                let note =
                    page.record
                    ?? RecordNote(settings.meaning { $0 == RecordCondition.event ? record.event : nil })
                guard take(page, note, into: &reading) else { return false }
                id = note.resume ?? id
            }
        }
        if let id, id.utf8.count <= PollReader.longestResume, id.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) {
            reading.changes.resume = id
        }
        return true
    }

    /// - Returns: false when nothing was taken.
    private func take(_ page: Page, _ note: RecordNote, into reading: inout RecordReading) -> Bool {
        switch note.meaning {
        case .nothing, .bookmark: return true
        case .expired:
            reading.isExpired = true
            return false
        case .items, .deletion:
            guard reading.changes.add(page.items, isDeletion: note.meaning == .deletion) else { return false }
            reading.warnings += page.warnings
            return true
        }
    }

    /// Waits until the memory suffices for so much of records.
    /// - Returns: false when the poll was cancelled meanwhile.
    @discardableResult
    func reserve(records bytes: Int, items: Int) async -> Bool {
        await memory?.grow(to: PollMemory.charge(body: bytes, items: items)) ?? true
    }

    // MARK: All at once

    /// Collects what a stream sends until it pauses: the last state of each item.
    /// - Parameters:
    ///   - length: it has paused when no record came for this long.
    ///   - time: it ends after this time in any case; false when that is a failure.
    /// - Returns: what came, and whether the server has ended the response; or why nothing of it counts.
    func collect(
        _ stream: OpenStream, pause length: Duration, time: Duration, isBrief: Bool
    ) async -> Result<(CollectedRecords, hasEnded: Bool), PollResult.Stop> {
        var (collected, order) = (CollectedRecords(), [String: Int]())
        var items: [Item?] = []
        var bytes = 0
        var pause = StreamPause(of: length, within: time, at: clock.now().boot)
        var hasEnded = false
        while clock.now().boot < pause.deadline {
            // The next records may come late.
            guard memory?.park() ?? true else {
                let detail = "the memory for what polls read is used up, before the stream paused"
                return .failure(.init(PollResult(.failed(.memory, detail: detail))))
            }
            let batch: RecordBatch?
            switch await next(of: stream, before: pause.deadline) {
            case .failure(let error): return .failure(.init(PollResult(error)))
            case .success(let next): batch = next
            }
            guard let batch else {
                hasEnded = true
                break
            }
            bytes += batch.records.reduce(0) { $0 + $1.data.count }
            guard await reserve(records: bytes, items: items.count + batch.records.count) else {
                return .failure(.init(PollResult(.cancelled)))
            }
            var rest = batch.records[...]
            while !rest.isEmpty {
                let reading = await read(rest, of: stream)
                if let failure = reading.failure { return .failure(.init(PollResult(failure))) }
                if reading.isExpired {
                    return .failure(.init(stream.isResumed ? PollResult(.expired) : PollReader.expiredUnasked))
                }
                rest = reading.rest
                collected.resume = reading.changes.resume ?? collected.resume
                collected.warnings += reading.warnings
                for item in reading.changes.items {
                    if let at = order[item.key] {
                        items[at] = item
                    } else {
                        order[item.key] = items.count
                        items.append(item)
                    }
                }
                for key in reading.changes.deletions {
                    if let at = order.removeValue(forKey: key) { items[at] = nil }
                    collected.deletions.append(key)
                }
            }
            guard bytes <= limits.bytes, isBrief || clock.now().boot < pause.end else {
                let detail = "the stream has not paused for \(length) after \(bytes) bytes and \(time)"
                return .failure(.init(PollResult(.failed(.tooLarge, detail: detail))))
            }
            if !batch.records.isEmpty { pause.begin(at: clock.now().boot) }
        }
        (collected.items, collected.bytes) = (items.compactMap { $0 }, bytes)
        collected.deletions.removeAll { order[$0] != nil }
        return .success((collected, hasEnded))
    }

    /// Waits for records.
    /// - Parameter deadline: an empty batch is returned then; nil waits on.
    func next(of stream: OpenStream, before deadline: BootTime?) async -> Result<RecordBatch?, FetchError> {
        guard let deadline else { return await next(of: stream) }
        let timer = Task { [clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            stream.records.interrupt()
        }
        defer { timer.cancel() }
        return await next(of: stream)
    }

    private func next(of stream: OpenStream) async -> Result<RecordBatch?, FetchError> {
        do throws(FetchError) {
            return .success(try await stream.records.next())
        } catch {
            return .failure(source.server.redactor?.redacted(error) ?? error)
        }
    }

    /// Reads what a stream sends at once, for polls that are not stored.
    func readBriefly(_ stream: OpenStream) async -> ReadResult {
        defer { stream.records.close() }
        let pause = source.stream?.initial ?? PollReader.briefPause
        switch await collect(stream, pause: pause, time: PollReader.briefTime, isBrief: true) {
        case .failure(let stop): return .ended(stop.result)
        case .success((let collected, _)):
            var items = ReadItems(
                observation: Observation(items: collected.items, mode: source.kind.mode), stored: [:])
            items.warnings = collected.warnings
            return .items(items)
        }
    }
}
