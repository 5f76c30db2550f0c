// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One attempt: what the sink is asked, and what its answer means.
extension Dispatcher {
    func attempt(_ delivery: Delivery) {
        let name = delivery.message.sink
        let (sink, generation, mark) = (sinks[name], sinks.generation(of: name), suspendedAge.excluded)
        meter.started()
        // Beside the network thread: templates, JSON and signatures of a large event take time that polls do not have.
        let task = Task { @concurrent in
            var message = delivery.message
            let route = message.endedSubjects.isEmpty ? nil : await self.route(of: delivery)
            guard route?.isForSink != false else {
                return await self.attempted(delivery, nil, generation, mark, route?.fallback)
            }
            if sink?.updates == true, message.isFollowUp { message.replacing = await self.replaced(by: delivery) }
            // The process may have stood still since `work` looked at the clock, or the journal answered late.
            guard self.maySend else { return await self.notBegun(delivery) }
            let outcome =
                await sink?.deliver(message) ?? .rejected(reason: "the sink '\(name)' is no longer configured")
            await self.attempted(delivery, outcome, generation, mark, route?.fallback)
        }
        attempts.started(delivery.id, to: name, task)
    }

    /// Returns which sinks took what a message tells to be over; nil where the journal cannot tell.
    func route(of delivery: Delivery) async -> EndRoute? {
        await waitForOutcomes()
        let fallbacks = delivery.chain ?? sinks.policy(of: delivery.message.sink).fallbacks
        do throws(JournalError) {
            return try await EndRoute(
                of: delivery, fallbacks: fallbacks.filter(sinks.names.contains), dependencies.journal)
        } catch {
            dependencies.log.log(
                .warning, "failed to find the sinks that accepted a match which is over: \(error.detail)")
            return nil
        }
    }

    /// The outcomes of earlier messages may not be stored yet.
    func waitForOutcomes() async {
        let known = writer.appended
        await waiters.wait { !writer.isWriting || writer.stored >= known || Task.isCancelled }
    }

    /// Returns the receiver's name of the message whose place this one takes; nil to send it as a new one.
    func replaced(by delivery: Delivery) async -> String? {
        let (message, most) = (delivery.message, Message.maximumEarlier)
        await waitForOutcomes()
        do throws(JournalError) {
            var earlier = try await dependencies.journal.sent(before: delivery, limit: most)
            // In a large outage its rule may have sent that many about other subjects since.
            if earlier.count == most, !message.subject.isEmpty, let oldest = earlier.last?.id {
                earlier += try await dependencies.journal.messages(
                    of: message.rule, to: message.sink, about: message.subject, before: oldest, limit: most
                ).map(\.delivery).filter { $0.receiverID != nil }
            }
            return message.replaced(among: earlier)
        } catch {
            dependencies.log.log(.warning, "failed to find the message that a later one changes: \(error.detail)")
            return nil
        }
    }

    /// - Parameters:
    ///   - outcome: nil where the sink is not to get the message.
    ///   - generation: the sink's generation at the start.
    ///   - mark: the suspends that the delivery's age left out at the start.
    ///   - fallback: the sink that is to get the message, too.
    func attempted(
        _ delivery: Delivery, _ outcome: Outcome?, _ generation: Int, _ mark: Duration, _ fallback: String?
    ) {
        let name = delivery.message.sink
        var delivery = delivery
        delivery.created = delivery.created.advanced(by: suspendedAge.length(since: mark))
        let outcome = sinks.generation(of: name) == generation ? outcome : outcome?.ofAnotherSink
        let wasCancelled = attempts.ended(delivery.id)
        meter.ended()
        defer { waiters.resume() }
        if wasCancelled {
            guard case .delivered = outcome else { return schedule.cancelled(in: delivery.lane) }
        }
        let (now, policy) = (dependencies.clock.now(), sinks.policy(of: name))
        let moment = time.moment(now).wall
        var attempt =
            outcome.map {
                RetryPolicy(giveUp: policy.giveUp).attempt(
                    delivery, $0, at: moment, random: dependencies.random.fraction())
            } ?? .unwanted(delivery, at: moment)
        reportChange(outcome, of: name)
        let isDiverted = outcome.map { schedule.diverts($0, of: name, at: attempt.at) } ?? false
        let isPassedOn = isDiverted && delivery.hasFallback(among: policy.fallbacks, where: sinks.names.contains)
        if attempt.state == .dead || attempt.state.isPending && isPassedOn {
            attempt.state = .dead
            attempt.passOn(delivery, policy, to: sinks.names, at: now.wall, dependencies.random)
        } else if let fallback, !attempt.state.isPending {
            attempt.passOn(delivery, policy, to: [fallback], at: now.wall, dependencies.random)
            attempt.successor?.reason = "'\(fallback)' got the match in the place of '\(name)'"
        }
        schedule.attempted(attempt, outcome, in: delivery.lane, random: dependencies.random.fraction())
        meter.count(attempt.state, of: delivery.message)
        if attempt.state == .dead, attempt.successor == nil, outcome != nil { meter.countUnsent(1) }
        if attempt.state == .retry { probeRecovery(name) }
        writer.append(time.stored(attempt, now), to: name)
        let fields = LogFields(source: delivery.message.event.source, sink: name, message: delivery.message.id)
        if outcome == nil {
            dependencies.log.log(.debug, fields, "\(name): \(attempt.state.rawValue): \(attempt.reason ?? "")")
        } else {
            let line = log.line(of: attempt, delivery.message, isDiverted: isDiverted)
            dependencies.log.log(line.level, fields, line.text)
        }
        startWriting()
        work()
    }
}

extension Outcome {
    /// The outcome of a sink that was replaced meanwhile: its refusal only makes the new one try.
    fileprivate var ofAnotherSink: Outcome {
        switch self {
        case .paused(let reason), .disabled(let reason): .retry(reason: reason, after: nil)
        case .delivered, .rejected, .retry: self
        }
    }
}
