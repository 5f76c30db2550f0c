// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One poll, from the request to the commit.
extension Watcher {
    func poll(_ entry: WatchedSource, lane: Lane) async {
        if entry.isAccepted { entry.change { $0.snapshot?.emptiness = .accepted } }
        entry.isAccepted = false
        do throws(JournalError) {
            let result = try await reader(of: entry, lane: lane).read()
            if entry.isRemoved || entry.mustRestart { return }
            if case .cancelled = result.outcome { return postpone(entry) }
            if let links = result.links { entry.links = links }
            heard(result, of: entry)
            try await settle(entry, result, poll: pollIdentifier(random: dependencies.random.next()))
        } catch {
            // Nothing advanced: the same poll is made again at the usual pace.
            dependencies.log.log(.error, "\(entry.source.name): \(error.detail)")
            entry.lastResult = .unwritten(error.detail)
            postpone(entry)
        }
    }

    private func reader(of entry: WatchedSource, lane: Lane) -> PollReader {
        let (journal, name) = (dependencies.journal, entry.source.name)
        return PollReader(
            source: entry.source, head: entry.record.snapshot, failures: entry.record.health.failures,
            fetcher: dependencies.fetcher, clock: dependencies.clock, lane: lane, userAgent: dependencies.userAgent,
            transformer: dependencies.transformer, thresholds: thresholds.thresholds(for: name), links: entry.links,
            storedItems: { () async throws(JournalError) in try await journal.items(of: name) })
    }

    private func postpone(_ entry: WatchedSource) {
        let delay = entry.source.pace.delay(states: [:], freshFor: nil, random: dependencies.random.fraction())
        let now = dependencies.clock.now()
        entry.followWallClock(now)
        entry.change { $0.due = now.wall.advanced(by: delay) }
    }

    private func settle(
        _ entry: WatchedSource, _ result: PollResult, poll: String
    ) async throws(JournalError) {
        let now = dependencies.clock.now()
        entry.followWallClock(now)
        var verdict = PollTransition(
            source: entry.source, record: entry.record, now: now.wall, random: dependencies.random)
        if network.reachability.isOffline, result.isAnswered == false {
            verdict.frozen(result.silence?.detail ?? "")
        } else {
            try await judge(result, of: entry, into: &verdict, poll: poll)
        }
        guard !entry.isRemoved, !entry.mustRestart else { return }
        let word = network.word(result.silence.map { "\(entry.source.name): \($0.detail)" })
        if let word {
            dependencies.log.log(.notice, word.kind == .offline ? "the network is gone" : "the network is back")
            verdict.add(word)
        }
        let isGood = result.isGood
        if !isGood { rules.missed(entry.source.name) }
        guard verdict.isTouch, !isGood || !confirms(entry.source.name, at: now) else {
            return try await commit(verdict, word?.kind, isGood: isGood, of: entry, poll: poll, at: now)
        }
        entry.take(verdict.record, at: now)
        entry.refreshes = verdict.refreshes
        entry.lastResult = verdict.onceResult(isBaseline: false)
        touched(entry)
    }

    private func judge(
        _ result: PollResult, of entry: WatchedSource, into verdict: inout PollTransition, poll: String
    ) async throws(JournalError) {
        let name = entry.source.name
        for warning in result.warnings { dependencies.log.log(.info, "\(name): \(warning) (\(poll))") }
        switch result.outcome {
        case .cancelled: return
        case .failed(let failure, let detail):
            if failure == .unauthorized { refreshSecrets(of: entry) }
            verdict.failed(failure, detail: detail, retryAfter: result.retryAfter)
            dependencies.log.log(.warning, "\(name): \(failure.rawValue): \(detail) (\(poll))")
        case .doubtful(let detail):
            verdict.doubtful(retryAfter: result.retryAfter)
            dependencies.log.log(.info, "\(name): \(detail) (\(poll))")
        case .unchanged(let validators):
            let pending = entry.record.snapshot?.pendingAbsences ?? 0
            let stored = pending > 0 ? try await dependencies.journal.items(of: name) : [:]
            verdict.unchanged(validators, stored: stored, freshFor: result.freshFor)
        case .read(let difference):
            verdict.read(difference, freshFor: result.freshFor, retryAfter: result.retryAfter)
        }
    }

    /// - Parameter word: what the commit says of the machine itself.
    private func commit(
        _ verdict: PollTransition, _ word: Event.Kind?, isGood: Bool, of entry: WatchedSource, poll: String,
        at now: Moment
    ) async throws(JournalError) {
        var record = record(of: verdict, entry.source, poll: poll, at: now)
        let step = judge(&record, entry.source, isGood: isGood, at: now)
        let committed = try await write(record, of: entry, word, step)
        let wasBaseline = entry.record.snapshot == nil || verdict.isNewBaseline
        entry.take(verdict.record, at: now)
        entry.refreshes = []
        entry.lastResult = verdict.onceResult(isBaseline: wasBaseline)
        if wasBaseline, let count = verdict.record.snapshot?.count {
            dependencies.log.log(.notice, "\(entry.source.name): baseline of \(counted(count, "item"))")
        }
        let pending = committed.deliveries.filter(\.state.isPending)
        if !pending.isEmpty { await dispatcher.enqueue(pending) }
    }

    private func record(of verdict: PollTransition, _ source: Source, poll: String, at now: Moment) -> PollRecord {
        let random = dependencies.random
        var record = PollRecord(
            record: verdict.record, isNewBaseline: verdict.isNewBaseline, writes: verdict.writes + verdict.refreshes,
            deletions: verdict.deletions)
        record.events = verdict.events.map {
            $0.event(id: random.identifier(at: now.wall), source: source, poll: poll, at: now.wall)
        }
        return record
    }

    private func write(
        _ record: PollRecord, of entry: WatchedSource, _ word: Event.Kind?, _ step: RuleEngine.Step
    ) async throws(JournalError) -> Committed {
        // What waited to be written is older: handed in now, it would be written over this.
        let wasDirty = entry.isDirty
        entry.isDirty = false
        do throws(JournalError) {
            let committed = try await commitBatcher.commit(record)
            if let word { network.said(word) }
            return committed
        } catch {
            // Nobody was told.
            rules.undo(step)
            failureGrouping.unsaid(record.deliveries)
            if word != nil { network.said(nil) }
            if wasDirty { touched(entry) }
            throw error
        }
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
        let now = dependencies.clock.now().wall
        let all = entries.values.sorted { $0.source.name < $1.source.name }
        var names: [String] = []
        for entry in all {
            let isHeld = entry.record.notBefore.map { $0 > now } ?? false
            let isBackingOff = entry.record.health.problem != nil && (entry.record.due ?? now) > now
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
        await tickNow()
        await commitBatcher.finish()
        return all.compactMap(\.lastResult)
    }

    private func pollNow(_ name: String) async {
        guard let entry = entries[name] else { return }
        await poll(entry, lane: slowHosts.contains(entry.origin) ? .slowHosts : .polls)
    }
}
