// SPDX-License-Identifier: Apache-2.0

extension RuleEngine {
    mutating func resume(_ evaluation: inout PollEvaluation, _ elapsed: () -> Duration, _ moment: StepContext) {
        if evaluation.gatherings != world.facts.gatherings, let observation = evaluation.observation {
            world.facts.update(evaluation.source, observation)
            evaluation.gatherings = world.facts.gatherings
        }
        if evaluation.next == nil { begin(evaluation, moment) }
        let start = elapsed()
        var next = evaluation.next ?? 0
        while next < evaluation.events.count {
            evaluation.next = next
            process(evaluation.events[next], &evaluation, elapsed, moment)
            next += 1
            evaluation.next = next
            if evaluation.isPieceOver(after: elapsed() - start) { return }
        }
        evaluation.next = next
        if evaluation.nextExisting == nil, let observation = evaluation.observation {
            take(observation, evaluation, moment)
        }
        guard holdExisting(&evaluation, since: start, elapsed, moment) else { return }
        tellJoined(at: moment)
        reportFailures(evaluation, moment)
        // A step that ran between two pieces is committed before this one, so this one must write its changes, too.
        step.update(from: table)
        evaluation.isFinished = true
    }

    /// Takes what the poll's events depend on.
    private mutating func begin(_ evaluation: PollEvaluation, _ moment: StepContext) {
        guard let observation = evaluation.observation else { return }
        let source = evaluation.source
        openDependencies(on: source, since: world.trackHealth(of: source, observation, &step.world), at: moment)
        if let baseline = observation.baseline { rebaseline(source, baseline, at: moment) }
        if !observation.reread.isEmpty { rebaseline(source, observation.reread, isWhole: false, at: moment) }
    }

    /// Evaluates one event: what rules remember of its subject, then each rule that could match it.
    mutating func process(
        _ event: Event, _ evaluation: inout PollEvaluation, _ elapsed: () -> Duration, _ moment: StepContext
    ) {
        world.facts.update(with: event)
        let hasEndedSilences = world.endSilences(by: event, rules, &step.world)
        openDependencies(on: event.source, since: world.trackHealth(event, &step.world), at: moment)
        // A later message about the subject can be about this event.
        if table.hasRows(about: Subject(event)) { evaluation.recordMatch() }
        let retracting = updateRows(with: event, at: moment)
        let results = rules.evaluate(event) { rule in
            var result = RuleSet.Evaluation.Result.unmatched("")
            for event in referenced(event, rule) {
                result = evaluation.result(of: rule, event, elapsed: elapsed) { $0.result(for: $1) }
                guard case .unmatched = result else { break }
            }
            return result
        }
        for result in results {
            keepReference(result.rule, event, at: moment)
            guard result.result == .matched, !retracting.contains(result.rule.name) else { continue }
            let start = elapsed()
            evaluation.recordMatch()
            hold(result.rule, event, at: moment)
            evaluation.add(elapsed() - start, to: result.rule)
        }
        if event.kind == .disappeared { forgetReferences(of: Subject(event)) }
        if hasEndedSilences { openSilences(at: moment) }
    }

    /// Opens what `depends` on a source that was not available before its health changed.
    private mutating func openDependencies(
        on source: String, since before: RuleWorld.Health?, at moment: StepContext
    ) {
        guard before?.isAvailable == false else { return }
        for rule in rules.rules where rule.gates.depends.contains(source) { openDependencies(of: rule, at: moment) }
    }

    /// Evaluates what the poll observed besides its events.
    private mutating func take(_ observation: PollObservation, _ evaluation: PollEvaluation, _ moment: StepContext) {
        let source = evaluation.source
        forgetItems(observation.forgotten, of: source, at: moment)
        if observation.isGood {
            evaluateCounts(of: source, at: moment)
            confirm(source, missing: observation.missing, evaluation.events, at: moment)
            openConditions(on: source, at: moment)
        } else {
            pollFailed(source)
        }
    }

    /// Evaluates rules with `stays` against existing items until the piece is over.
    /// - Returns: whether every item is evaluated.
    private mutating func holdExisting(
        _ evaluation: inout PollEvaluation, since start: Duration, _ elapsed: () -> Duration, _ moment: StepContext
    ) -> Bool {
        guard let source = evaluation.existingSource else { return true }
        let (rules, now) = (rulesMatchingExisting(in: source.name), moment.now)
        var next = evaluation.nextExisting ?? 0
        while !rules.isEmpty, next < evaluation.existing.count {
            let stored = evaluation.existing[next]
            next += 1
            evaluation.nextExisting = next
            guard stored.absentSince == nil, let item = stored.item else { continue }
            let draft = DraftEvent(.elapsed, item: item)
            let event = draft.event(id: moment.identifier(), source: source, poll: "", at: now.wall)
            for rule in rules where !isHeldOrReleased(event, rule) {
                let result = evaluation.result(of: rule, event, elapsed: elapsed) { rule, event in
                    rule.resultOfExisting(event)
                }
                guard result == .matched, !self.rules.isStopped(rule, event) else { continue }
                let since = rule.field == "state" ? stored.stateSince : now.wall
                holdExisting(rule, event, since: since, at: moment)
            }
            if evaluation.isPieceOver(after: elapsed() - start) { return false }
        }
        return true
    }

    /// Sends each sink of a rule that could not be evaluated one message, and remembers the failure for `status` and `explain`
    /// until the rule is evaluated against events of this source again. A silence lets the sink wait for the next failure.
    mutating func reportFailures(_ evaluation: PollEvaluation, _ moment: StepContext) {
        // Existing items alone prove nothing about events.
        let succeeded =
            evaluation.observation == nil ? [] : evaluation.evaluatedRules.filter { evaluation.failures[$0] == nil }
        for name in succeeded {
            forget(RuleMemory.Key(rule: name, slot: .failed, name: evaluation.source))
        }
        for (name, failure) in evaluation.failures.sorted(by: { $0.key < $1.key }) {
            guard let first = failure.events.first else { continue }
            let detail = "\(failure.detail); \(counted(failure.count, "event")) not evaluated"
            step.fail(name, detail)
            let wall = moment.now.wall
            let event = first.ruleFailure(failure, detail, id: moment.identifier(), at: wall)
            let key = RuleMemory.Key(rule: name, slot: .failed, name: evaluation.source)
            let before = table[key]
            var row = before ?? RuleMemory(key: key, identity: failure.rule.identity, since: moment.now.steady)
            for target in failure.rule.notify where !row.sinks.contains(target.sink) {
                let silence =
                    world.silences.silence(of: failure.rule, event, sink: nil, at: moment.now)
                    ?? world.silences.silence(of: failure.rule, event, sink: target.sink, at: moment.now)
                if silence?.drops != false { row.sinks.append(target.sink) }
                // Nothing new is to be recorded while the silence lasts.
                if silence?.drops == false, before != nil { continue }
                let target = Rule.NotificationTarget(sink: target.sink)
                var delivery = failure.rule.delivery(of: event, to: target, at: wall, moment.identifier())
                if let silence {
                    (delivery.state, delivery.reason) = (.suppressed, "silenced: \(silence.description)")
                }
                step.send(delivery)
            }
            row.count += failure.count
            (row.lines, row.events) = ([detail], failure.identifiers)
            put(row)
        }
    }
}
