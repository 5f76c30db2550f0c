// SPDX-License-Identifier: Apache-2.0

/// The JSON of `status`: one object a line, for the watcher, each watcher that shares the journal, each source, each sink,
/// each silence, and each rule that waits or matched nothing.
extension StatusFacts {
    /// Returns the objects, each as one line.
    /// - Parameter names: the sources to show; nil for all of everything.
    public func json(only names: Set<String>?) -> [String] {
        let sources = zip(sources, sourceRows).filter { names?.contains($0.0.name) != false }.map(\.1)
        guard names == nil else { return sources.map(\.text) }
        var rows =
            [watcherJSON] + watchers.map(json) + sources + sinks.map(json)
            + silences.map { .members(["silence": $0.json, "warning": warning(about: $0).map(JSON.string)]) }
            + timers.map(json)
        if let stalledSince {
            rows.append(.members(["journal": .string("stalled"), "since": .string(stalledSince.rfc3339)]))
        }
        rows += unmatched.map { .members(["rule": .string($0.rule), "warning": .string($0.text)]) }
        return rows.map(\.text)
    }

    /// An object for each source.
    public var sourceRows: [JSON] { sources.map(json) }

    private var watcherJSON: JSON {
        .members([
            "watcher": .string(watcher == nil ? "not running" : "running"),
            "pid": watcher.map { .number($0.process.pid) }, "host": (watcher?.process.host).map(JSON.string),
            "since": watcher?.since.map { .string($0.rfc3339) },
            "state": .string(location), "sources": .number(sources.count),
            "health": .object(
                healthCounts.map { JSON.Member(name: $0.health.rawValue, value: .number($0.count)) }),
            "lateness": lateness[""].map(json),
            "configurationErrors": configurationErrors > 0 ? .number(configurationErrors) : nil,
        ])
    }

    private func json(_ report: PollLateness.Report) -> JSON {
        .members([
            "p99": .number(rounded: report.p99), "polls": .number(report.polls), "at": .string(report.at.rfc3339),
        ])
    }

    private func json(_ watcher: RegisteredWatcher) -> JSON {
        let newest = ConfigurationDrift(watchers).newest
        return .members([
            "member": .string(watcher.name), "pid": .number(watcher.process.pid),
            "host": watcher.process.host.map(JSON.string), "since": .string(watcher.started.rfc3339),
            "sources": .number(watcher.sources), "sinks": .number(watcher.sinks),
            "lateness": lateness[watcher.name].map(json), "late": watcher.isLate ? .bool(true) : nil,
            "configuration": .string(watcher.configuration),
            "newestConfiguration": .bool(watcher.configuration == newest?.configuration),
        ])
    }

    private func json(_ source: SourceStatus) -> JSON {
        let (record, times) = (source.record, PollTimes(source, isWatching: watcher != nil, now: now))
        return .members([
            "source": .string(source.name), "kind": source.kindName.isEmpty ? nil : .string(source.kindName),
            "health": .string(source.health.rawValue),
            "every": source.every > .zero ? .number(rounded: source.every.inSeconds) : nil,
            "calendar": source.calendar.map { .string($0.text) },
            "items": record?.snapshot.map { .number($0.count) },
            "states": record?.snapshot.map { head in
                .object(head.states.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .number($0.value)) })
            },
            "lastPoll": times.last.map { .string($0.rfc3339) },
            "lastGood": times.lastGood.map { .string($0.rfc3339) },
            "nextPoll": times.next.map { .string($0.rfc3339) },
            "connection": connection(of: record, times),
            "retryAfter": times.isDelayedByServer ? .bool(true) : nil,
            "since": source.troubledSince.map { .string($0.rfc3339) },
            "failures": (record?.health.failures).map { .number($0) },
            "error": (record?.health.problem).map {
                .members(["class": .string($0.failure), "detail": .string($0.detail)])
            },
            "movedTo": source.movedTo.map(JSON.string),
            "unannounced": (record?.snapshot?.unannounced).map {
                .members([
                    "count": .number($0.count), "last": .string($0.last), "at": .string($0.at.rfc3339),
                    "undated": $0.isUndated ? .bool(true) : nil,
                ])
            },
            "sharedKeys": (record?.snapshot?.sharedKeys).flatMap { shared in
                shared.last.map { .members(["count": .number(shared.digests.count), "last": .string($0)]) }
            },
            "insecure": source.isInsecure ? .bool(true) : nil,
        ])
    }

    /// How records that the server pushes are read; nil for a source that is only polled.
    private func connection(of record: SourceRecord?, _ times: PollTimes) -> JSON? {
        if times.isPushed { return .string("open") }
        if case .polled = record?.connection { return .string("polled") }
        return nil
    }

    private func json(_ sink: SinkStatus) -> JSON {
        .members([
            "sink": .string(sink.name), "pending": .number(sink.count.pending), "dead": .number(sink.count.dead),
            "retrying": .number(sink.count.retrying), "sentToday": .number(sink.activity.sent),
            "lastSent": sink.activity.lastSentAt.map { .string($0.rfc3339) },
            "lastDead": sink.activity.lastDeadAt.map { .string($0.rfc3339) },
            "deadReason": sink.activity.lastDeadReason.map(JSON.string),
            "stopped": sink.stop.map { .string($0.kind.word) },
            "since": (sink.stop?.since).map { .string($0.rfc3339) },
            "nextTry": (sink.waiting?.due).map { .string($0.rfc3339) },
            "remark": (sink.stop?.reason ?? sink.waiting?.reason).map(JSON.string),
            "insecure": sink.isInsecure ? .bool(true) : nil,
        ])
    }

    private func json(_ timer: RuleMemory) -> JSON {
        let text = timer.waitingText(of: rules.first { $0.name == timer.key.rule }, at: now)
        return .members([
            "rule": .string(timer.key.rule), "waits": timer.waitingReason.map(JSON.string),
            "text": text.map(JSON.string), "due": timer.waitingUntil.map { .string($0.rfc3339) },
            "event": timer.waitingEvent.map { .string($0.id.description) },
            "acknowledged": timer.acknowledgement?.json,
        ])
    }
}
