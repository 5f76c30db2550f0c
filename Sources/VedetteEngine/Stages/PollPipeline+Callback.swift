// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Polls without a task: most responses are unchanged, and then a request and a transition are all that there is to do.
extension PollPipeline {
    /// What is left to do of a poll whose request was answered.
    enum Rest {
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
            source.record.snapshot != nil
        else { return false }
        let requests = RequestBuilder(source: source.source, lane: start.lane, userAgent: dependencies.userAgent)
        let prepared = prepare(source, requests)
        guard !prepared.isObserved, let snapshot = source.record.snapshot,
            snapshot.isComparable(with: source.source, prepared.identity)
        else { return false }
        let request = prepared.conditional(prepared.request, on: snapshot)
        guard request.knownDigest != nil, let id = fetcher.send(request, ended: answered) else { return false }
        let now = dependencies.clock.now().boot
        meter.started(source, in: start.lane, at: now)
        source.pollBegan(
            SentPoll(
                id: pollIdentifier(random: dependencies.random.next()), start: start, prepared: prepared, at: now,
                fetcher: fetcher, request: id))
        return true
    }

    /// Ends a poll whose response is unchanged.
    /// - Returns: what is left to do of any other; nil when the poll is over.
    func end(_ poll: SentPoll, of source: WatchedSource, _ answer: FirstAnswer) -> Rest? {
        guard case .unchanged(let response) = answer, !source.source.hasUnknownNextPage(response),
            source.record.snapshot?.pendingAbsences == 0
        else { return .read(answer) }
        let validators = source.source.validators(of: response, at: dependencies.clock.now().wall)
        let result = PollResult(.unchanged(validators), freshFor: response.headers.freshFor)
        if case .commit(let transition, let note) = makeTransition(source, result, poll.id, ConnectionPlan(), [:]) {
            return .commit(transition, note)
        }
        ended(poll, of: source)
        return nil
    }

    /// Does what is left of a poll.
    func run(_ rest: Rest, of poll: SentPoll, _ source: WatchedSource) async {
        let memory = PollMemoryShare(dependencies.memory)
        defer {
            memory.release()
            ended(poll, of: source)
        }
        switch rest {
        case .read(let answer):
            var stages = begin(source, poll.start.lane, memory)
            (stages.id, stages.prepared, stages.first) = (poll.id, poll.prepared, (answer, poll.at))
            await run(stages, of: source, nil)
        case .commit(let transition, let note):
            do throws(JournalError) {
                _ = try await evaluateAndCommit(transition, note, of: source)
            } catch {
                failed(source, error)
            }
        }
    }

    private func ended(_ poll: SentPoll, of source: WatchedSource) {
        meter.ended(source, in: poll.start.lane, from: poll.at, at: dependencies.clock.now().boot)
    }
}
