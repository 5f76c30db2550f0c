// SPDX-License-Identifier: Apache-2.0

/// What a start, a reload and the end of a source do to the rows.
extension RuleEngine {
    /// Restores the rows of the journal. Times on the steady clock are clamped to what their rule can have meant.
    /// - Parameters:
    ///   - health: the sources that are failing or down.
    ///   - unconfirmed: sources whose polls were missed meanwhile. Rows about their items wait for a good poll.
    public mutating func restore(
        _ rows: [RuleMemory], silences: [Silence], health: SourceHealth = SourceHealth(),
        unconfirmed: Set<String> = [], at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            (engine.world.silences, engine.world.health) = (silences, health)
            var unchanged = Set<RuleMemory.Key>()
            for row in rows {
                let rule = engine.rule(of: row.key)
                guard let rule, rule.identity == row.identity else {
                    engine.step.changes[row.key] = .some(nil)
                    engine.discard(row, of: rule, RuleEngine.ruleChanged, at: moment)
                    continue
                }
                let clamped = row.clamped(by: rule, at: now)
                engine.put(clamped)
                if clamped == row { unchanged.insert(row.key) }
            }
            engine.step.removeWrites(of: unchanged)
            engine.world.unconfirmed = unconfirmed.filter { engine.table.hasRows(of: $0) }
            engine.world.uncounted = engine.rules.countedSources
            engine.openSilences(at: moment)
            engine.start(at: moment)
        }
    }

    /// Replaces the rules. Rows of rules with the same identity are kept, all others are discarded.
    public mutating func reload(_ rules: RuleSet, at now: RuleTime, identifier: () -> Identifier) -> Step {
        take(at: now, identifier) { engine, moment in
            let old = engine.rules
            engine.rules = rules
            engine.takeGatheredFacts()
            engine.world.uncounted = rules.countedSources
            for key in engine.table.keys {
                guard let row = engine.table[key], engine.rule(of: key)?.identity != row.identity else { continue }
                engine.forget(key)
                engine.discard(row, of: old.rule(named: key.rule), RuleEngine.ruleChanged, at: moment)
            }
            engine.start(at: moment)
        }
    }

    /// `depends`, `if` and `unless` may name other sources now, or none; and a new rule has no time without a match yet.
    private mutating func start(at moment: StepContext) {
        openSourceGates(at: moment)
        startAbsences(at: moment)
    }

    /// Discards the rows about items of all other sources, which will never be polled again.
    public mutating func forgetSources(
        except known: Set<String>, at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            engine.world.health.servers = engine.world.health.servers.filter { known.contains($0.key) }
            for key in engine.table.keys where key.slot == .failed && !known.contains(key.name) { engine.forget(key) }
            for source in engine.rememberedSources.subtracting(known).sorted() {
                for key in engine.table.keys(of: source) {
                    guard let row = engine.table[key] else { continue }
                    engine.forget(key)
                    engine.discard(row, of: engine.rule(of: key), "the source '\(source)' is gone", at: moment)
                }
            }
        }
    }

    private static let ruleChanged = "its rule was changed or removed"

    /// Suppresses the message that a discarded row was waiting to send, so that `explain` shows the reason.
    /// - Parameter rule: the rule before or after the change; nil when it is unknown and with it the sinks.
    private mutating func discard(_ row: RuleMemory, of rule: Rule?, _ reason: String, at moment: StepContext) {
        let isWaiting = row.key.slot == .log || row.waits.contains { $0.content != .count }
        guard let event = row.held?.event ?? (isWaiting ? row.event : nil) else { return }
        let unknown = Rule(name: row.key.rule, when: .any([]), notify: [Rule.NotificationTarget(sink: "nobody")])
        suppress(rule ?? unknown, event, "\(reason) while it was held back", at: moment)
        step.discarded.append(
            "rule '\(row.key.rule)' does not send '\(MessageTitle.of(event))': \(reason) while it was held back")
    }
}

extension RuleMemory {
    /// Returns a copy without times that its rule cannot have meant: the wall clock may have been set while the program
    /// was down. Nothing began in the future, and nothing is due later than the rule waits.
    func clamped(by rule: Rule, at now: RuleTime) -> RuleMemory {
        func clamp(_ due: Timestamp?, within span: Duration) -> Timestamp? {
            due.map { min($0, now.steady.advanced(by: span)) }
        }
        var row = self
        row.since = min(since, now.steady)
        for i in row.times.indices { row.times[i].time = min(row.times[i].time, now.steady) }
        if !isCivil { row.due = clamp(due, within: longestDelay(rule)) }
        if let held = row.held {
            row.held?.since = min(held.since, now.steady)
            row.held?.due =
                rule.timeOfAge(of: held.event, at: now) ?? min(held.due, now.steady.advanced(by: rule.gates.pendingFor))
        }
        for i in row.waits.indices where !row.waits[i].isCivil {
            row.waits[i].until = clamp(row.waits[i].until, within: ServerGate.span)
        }
        if let told = row.told {
            row.told?.since = min(told.since, now.steady)
            row.told?.ended = told.ended.map { min($0, now.steady) }
            row.told?.reminded = told.reminded.map { min($0, now.steady) }
            let longest = max(rule.gates.remind?.every ?? .zero, rule.gates.escalate.last?.after ?? .zero)
            if !told.isCivil { row.told?.due = clamp(told.due, within: longest) }
        }
        return row
    }

    private func longestDelay(_ rule: Rule) -> Duration {
        switch key.slot {
        case .limit: times.isEmpty ? LimitGate.countSpan : rule.gates.limit?.per ?? .zero
        case .log: if case .every(let interval) = rule.gates.digest?.release { interval } else { .zero }
        case .server: ServerGate.span
        case .tally: rule.gates.atLeast?.per ?? .zero
        case .absence: rule.gates.nothing
        case .match, .reference, .once, .failed: .zero
        }
    }
}
