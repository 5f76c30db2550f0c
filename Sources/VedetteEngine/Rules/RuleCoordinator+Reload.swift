// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Start and reload: rows, stored items and failures under the rules that are in force.
extension RuleCoordinator {
    /// Takes up what the journal kept, and looks for matches that exist already.
    /// - Parameter watched: the sources by name.
    func restore(_ records: [SourceRecord], watched: [String: Source]) async throws(JournalError) {
        adoption.begin(watched)
        let (kept, silences) = try await remembered()
        try await readFacts(of: engine.factSources)
        let stored = try await storedItems(of: engine.sourcesOfEdited(in: engine.rules, kept))
        let now = now()
        let unconfirmed = records.filter { record in
            // Other watchers may go on to poll meanwhile.
            let isUncertain = share != nil ? record.health.failures > 0 : record.isUncertain(at: now.wall)
            return watched[record.name] == nil || isUncertain
        }.map(\.name)
        var step = engine.restore(
            kept, silences: silences, health: SourceHealth(records, watched: watched), unconfirmed: Set(unconfirmed),
            stored: stored, at: now, identifier: identifiers(at: now))
        step.add(
            engine.forgetSources(
                except: Set(records.map(\.name)).union(watched.keys), watched: Set(watched.keys), at: now,
                identifier: identifiers(at: now)))
        if share != nil { engine.fire([]) }
        await share?.barrier.enter()
        let error = await commit(step)
        await share?.barrier.leave()
        if error?.reason == .conflict {
            // Another watcher did the same at the same time.
            await refresh()
        } else if let error {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
            adoption.adopted(since: engine.rules, isRefused: true)
            retryLater()
        }
        guard share == nil else { return }
        try await findExisting(in: records.filter { $0.snapshot != nil }.compactMap { watched[$0.name] })
    }

    /// Reads what rules remember, and the silences.
    func remembered() async throws(JournalError) -> ([RuleMemory], [Silence]) {
        guard let share else {
            return (try await dependencies.journal.ruleMemories(), try await dependencies.journal.silences())
        }
        let all = try await share.start()
        return (all.memories.values.compactMap { $0 }, all.silences)
    }

    /// Reads what the rules of a coming `reload` ask of other sources. Until then the rules in force stay.
    func prepare(_ rules: RuleSet) async throws(JournalError) {
        try await readFacts(of: engine.gatherFacts(for: rules))
    }

    /// Takes another set of rules, after `prepare`. The polls of sources with rows of edited rules wait meanwhile, so that
    /// the items which decide about these rows are the present ones.
    /// - Parameters:
    ///   - watched: the sources.
    ///   - polled: the watched sources that this watcher polls, in which new rules may match already.
    func reload(_ rules: RuleSet, watched: [Source], polled: [Source]) async {
        adoption.begin(Dictionary(watched.map { ($0.name, $0) }) { first, _ in first }, former: engine.rules)
        interests.set(rules)
        await adopt(rules)
        // Of rules that were unknown here, it left out what others wrote.
        share?.mustReadAll = true
        await refresh()
        // That may have waited for one that began before.
        if share?.mustReadAll == true { await refresh() }
        adoption.askedForFailures(of: polled)
        await endUnwatched()
        do throws(JournalError) {
            try await findExisting(in: polled)
        } catch {
            dependencies.log.log(.warning, "failed to look for existing matches of new rules: \(error.detail)")
        }
    }

    /// Puts the rows under the rules. What the journal refuses is done again later.
    /// - Parameter new: the rules that replace those in force; nil to do again what was refused.
    func adopt(_ new: RuleSet? = nil) async {
        let edited = engine.sourcesOfEdited(in: new ?? engine.rules)
        for source in edited.sorted() { await locks.lock(source) }
        defer { for source in edited { locks.unlock(source) } }
        let (old, rules) = (adoption.unadopted ?? engine.rules, new ?? engine.rules)
        var (stored, failures): (RuleEngine.StoredItems, [Event]) = ([:], [])
        do throws(JournalError) {
            stored = try await storedItems(of: edited)
            if engine.asksForHealth(rules, after: old) {
                await commits.flush()
                failures = self.failures(in: try await dependencies.journal.sourceRecords())
            }
        } catch {
            // The rows have the items of their last events.
            dependencies.log.log(.warning, "failed to read what edited rules are about: \(error.detail)")
        }
        // Another reload may have come while one that is done again read the journal.
        if let new { engine.replaceRules(new) }
        let error = await commitCurrent { engine, now, identifier in
            engine.adopt(stored, failures: failures, after: old, at: now, identifier: identifier)
        }
        adoption.adopted(since: old, isRefused: error != nil)
        guard let error else { return }
        dependencies.log.log(.error, "failed to store what edited rules send: \(error.detail)")
        retryLater()
    }

    /// Returns an event for each failure of the sources.
    func failures(in records: [SourceRecord]) -> [Event] {
        let now = now()
        return records.flatMap { $0.failures(of: adoption.sources[$0.name], at: now.wall, identifiers(at: now)) }
    }

    /// Tells the ends of what was told about removed sources. What waits is kept as long as the snapshot, since the source may
    /// come back.
    func endUnwatched() async {
        let watched = Set(adoption.sources.keys)
        let unwatched = engine.sources(exceptIn: watched)
        guard !unwatched.isEmpty else { return }
        for source in unwatched { engine.pollFailed(source) }
        var failure: JournalError?
        do throws(JournalError) {
            let known = try await dependencies.journal.sourceRecords().map(\.name)
            failure = await commitCurrent { engine, now, identifier in
                engine.forgetSources(
                    except: watched.union(known), watched: watched, at: now, identifier: identifier)
            }
        } catch {
            failure = error
        }
        guard let failure else { return }
        dependencies.log.log(.error, "failed to store what is told of removed sources: \(failure.detail)")
        adoption.adopted(since: adoption.unadopted ?? engine.rules, isRefused: true)
        retryLater()
    }

    /// Reads the stored items of the sources that `if`, `unless` and `how_many` ask for.
    func readFacts(of sources: Set<String>) async throws(JournalError) {
        guard !sources.isEmpty else { return }
        // The engine gathers what is evaluated from now on; what was evaluated before must be in the journal.
        await commits.flush()
        let polled = try await dependencies.journal.sourceRecords().filter { $0.snapshot != nil }.map(\.name)
        for source in sources.intersection(polled) {
            let items = try await dependencies.journal.items(of: source).values.compactMap(\.item)
            engine.addStoredFacts(of: source, items)
        }
    }

    /// Reads the items of these sources, as all that was evaluated before left them.
    func storedItems(of sources: Set<String>) async throws(JournalError) -> RuleEngine.StoredItems {
        if !sources.isEmpty { await commits.flush() }
        var stored: RuleEngine.StoredItems = [:]
        for source in sources {
            stored[source] = try await dependencies.journal.items(of: source).compactMapValues(\.item)
        }
        return stored
    }

    func findExisting(in sources: [Source]) async throws(JournalError) {
        for source in sources where !engine.rulesMatchingExisting(in: source.name).isEmpty {
            await locks.lock(source.name)
            defer { locks.unlock(source.name) }
            // What the rules before evaluated last may not be in the journal yet.
            await commits.flush()
            let items = try await dependencies.journal.items(of: source.name).values.sorted { $0.key < $1.key }
            for _ in 0..<RuleCoordinator.maximumConflicts {
                guard let error = await holdExisting(items, of: source) else { break }
                guard error.reason == .conflict else {
                    dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
                    break
                }
                await refresh()
            }
        }
    }

    func holdExisting(_ items: [StoredItem], of source: Source) async -> JournalError? {
        let now = now()
        await share?.barrier.enter()
        var evaluation = PollEvaluation(existing: items, of: source, at: now)
        var error: JournalError?
        if await finish(&evaluation, identifiers(at: now)) {
            error = await commit(evaluation.step)
        } else {
            engine.undo(evaluation.step)
        }
        await share?.barrier.leave()
        return error
    }
}
