// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Polls without a task: most responses are unchanged, and then a request and a transition are all that there is to do.
extension PollPipeline {
    /// What remains of a poll whose request was answered.
    enum Remainder {
        /// Read the answer.
        case read(FirstAnswer)
        case commit(PollTransition, PollNote)
    }

    /// Sends the request of a poll whose response is likely the last one's.
    ///
    /// - Parameter answered: called on the watcher's executor after this has returned; `end` must follow.
    /// - Returns: false for a poll that needs a task from its start.
    func send(_ start: PollSchedule.Start, answered: @escaping @Sendable (FirstAnswer) -> Void) -> Bool {
        let source = start.source
        guard let fetcher = dependencies.callbacks, !start.isHealthCheck, source.source.stream == nil,
            let snapshot = source.record.snapshot, snapshot.digest != nil
        else { return false }
        let prepared = prepare(source, in: start.lane)
        guard !prepared.isObserved, snapshot.isComparable(with: source.source, prepared.identity) else { return false }
        let request = prepared.conditional(prepared.request, on: snapshot)
        guard request.knownDigest != nil, let id = fetcher.send(request, ended: answered) else { return false }
        let now = dependencies.clock.now().boot
        meter.started(source, in: start.lane, at: now)
        source.pollBegan(
            SentPoll(
                id: pollIdentifier(random: dependencies.random.next()), start: start, prepared: prepared, sentAt: now,
                hasValidators: !request.validators.isEmpty, fetcher: fetcher, request: id))
        return true
    }

    /// Applies an answer to the source's record when it is unchanged.
    /// - Returns: what remains to be done; nil when the poll is over.
    func end(_ poll: SentPoll, of source: WatchedSource, _ answer: FirstAnswer) -> Remainder? {
        guard case .unchanged(let response) = answer, response.status != 304 || poll.hasValidators,
            !source.source.hasUnknownNextPage(response), source.record.snapshot?.pendingAbsences == 0
        else { return .read(answer) }
        let validators = source.source.validators(of: response, at: dependencies.clock.now().wall)
        let result = PollResult(.unchanged(validators), freshFor: response.headers.freshFor)
        noteAnswer(result, of: source)
        if case .commit(let transition, let note) = makeTransition(source, result, poll.id, ConnectionPlan(), [:]) {
            return .commit(transition, note)
        }
        ended(poll, of: source)
        return nil
    }

    /// Finishes a poll.
    func run(_ remainder: Remainder, of poll: SentPoll, _ source: WatchedSource) async {
        let memory = PollMemoryShare(dependencies.memory)
        defer {
            memory.release()
            ended(poll, of: source)
        }
        switch remainder {
        case .read(let answer):
            var stages = begin(source, poll.start.lane, memory, after: poll)
            stages.first = (answer, poll.sentAt)
            await run(stages, of: source, nil)
        case .commit(let transition, let note):
            guard !source.isRemoved, !source.mustRestart else { return takeBack(note, of: source) }
            do throws(JournalError) {
                _ = try await evaluateAndCommit(transition, note, of: source)
            } catch {
                noteFailure(error, of: source)
            }
        }
    }

    private func ended(_ poll: SentPoll, of source: WatchedSource) {
        meter.ended(source, in: poll.start.lane, from: poll.sentAt, at: dependencies.clock.now().boot)
    }
}
