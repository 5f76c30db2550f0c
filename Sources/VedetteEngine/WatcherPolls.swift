// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One poll, from the request to the commit.
extension Watcher {
    func poll(_ entry: WatchedSource, lane: Lane) async {
        if entry.isAccepted { entry.record.snapshot?.emptiness = .accepted }
        entry.isAccepted = false
        let (journal, name) = (surroundings.journal, entry.source.name)
        let reader = PollReader(
            source: entry.source, head: entry.record.snapshot, fetcher: surroundings.fetcher,
            clock: surroundings.clock, lane: lane, userAgent: surroundings.userAgent,
            storedItems: { () async throws(JournalError) in try await journal.items(of: name) })
        do throws(JournalError) {
            let result = try await reader.read()
            if entry.isRemoved || entry.mustRestart { return }
            if case .cancelled = result { return postpone(entry) }
            try await settle(entry, result, poll: pollIdentifier(random: surroundings.chance.next()))
        } catch {
            // Nothing advanced: the same poll is made again at the usual pace.
            surroundings.log.log(.error, "\(entry.source.name): \(error.detail)")
            entry.lastResult = .unwritten(error.detail)
            postpone(entry)
        }
    }

    private func postpone(_ entry: WatchedSource) {
        let delay = entry.source.pace.delay(states: [:], freshFor: nil, chance: surroundings.chance.fraction())
        entry.record.due = surroundings.clock.now().wall.advanced(by: delay)
    }

    private func settle(
        _ entry: WatchedSource, _ result: PollResult, poll: String
    ) async throws(JournalError) {
        let now = surroundings.clock.now().wall
        var verdict = Settlement(source: entry.source, record: entry.record, now: now, chance: surroundings.chance)
        if case .failed(_, _, _, timedOut: true) = result {
            suspects.insert(entry.origin)
        } else {
            suspects.remove(entry.origin)
        }
        switch result {
        case .cancelled: return
        case .failed(let failure, let detail, let retryAfter, _):
            if failure == .unauthorized { refreshSecrets(of: entry) }
            verdict.failed(failure, detail: detail, retryAfter: retryAfter)
            surroundings.log.log(.warning, "\(entry.source.name): \(failure.rawValue): \(detail) (\(poll))")
        case .unchanged(let validators, let freshFor):
            let pending = entry.record.snapshot?.pendingAbsences ?? 0
            let stored = pending > 0 ? try await surroundings.journal.items(of: entry.source.name) : [:]
            verdict.unchanged(validators, stored: stored, freshFor: freshFor)
        case .read(let difference, let warnings, let freshFor):
            for warning in warnings { surroundings.log.log(.info, "\(entry.source.name): \(warning) (\(poll))") }
            verdict.read(difference, freshFor: freshFor)
        }
        guard !entry.isRemoved, !entry.mustRestart else { return }
        guard verdict.isTouch else { return try await commit(verdict, of: entry, poll: poll, at: now) }
        entry.record = verdict.record
        entry.lastResult = verdict.onceResult(isBaseline: false)
        touched(entry)
    }

    private func commit(
        _ verdict: Settlement, of entry: WatchedSource, poll: String, at now: Timestamp
    ) async throws(JournalError) {
        let (chance, log) = (surroundings.chance, surroundings.log)
        var record = PollRecord(
            record: verdict.record, isNewBaseline: verdict.isNewBaseline, writes: verdict.writes,
            deletions: verdict.deletions)
        record.events = verdict.events.map {
            $0.event(id: chance.identifier(at: now), source: entry.source, poll: poll, at: now)
        }
        record.deliveries = record.events.flatMap { event in
            rules.deliveries(
                of: event, at: now, broken: { log.log(.error, "rule '\($0)' was not judged: \($1)") },
                identifier: { chance.identifier(at: now) })
        }
        let committed = try await committer.commit(record)
        let wasBaseline = entry.record.snapshot == nil || verdict.isNewBaseline
        entry.record = verdict.record
        entry.isDirty = false
        entry.lastResult = verdict.onceResult(isBaseline: wasBaseline)
        if wasBaseline, let count = verdict.record.snapshot?.count {
            log.log(.notice, "\(entry.source.name): baseline of \(counted(count, "item"))")
        }
        if !committed.deliveries.isEmpty { await courier.owe(committed.deliveries) }
    }

    /// Off this thread: a `command:` secret may take seconds.
    private func refreshSecrets(of entry: WatchedSource) {
        let secrets = entry.source.server.secrets
        guard !secrets.isEmpty, entry.record.health.failures == 0 else { return }
        Task { @concurrent in for secret in secrets { _ = secret.refresh() } }
    }
}

extension Watcher {
    /// Polls every source once, those under Retry-After or backoff only when `force`d, and says what came of each.
    public func runOnce(force: Bool) async -> [OnceResult] {
        let now = surroundings.clock.now().wall
        let all = entries.values.sorted { $0.source.name < $1.source.name }
        var names: [String] = []
        for entry in all {
            let isHeld = entry.record.notBefore.map { $0 > now } ?? false
            let isBackingOff = entry.record.health.failures > 0 && (entry.record.due ?? now) > now
            entry.lastResult = !force && (isHeld || isBackingOff) ? .held(entry.source.name) : nil
            if entry.lastResult == nil { names.append(entry.source.name) }
        }
        await withTaskGroup(of: Void.self) { group in
            for (i, name) in names.enumerated() {
                if i >= Watcher.mostUnfinished { await group.next() }
                group.addTask { await self.pollNow(name) }
            }
        }
        await flushTouches()
        await committer.finish()
        return all.compactMap(\.lastResult)
    }

    private func pollNow(_ name: String) async {
        guard let entry = entries[name] else { return }
        await poll(entry, lane: suspects.contains(entry.origin) ? .suspects : .polls)
    }
}
