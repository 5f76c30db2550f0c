// SPDX-License-Identifier: Apache-2.0

/// A delivery for each sink of a rule: pending, or suppressed with its reason.
extension RuleEngine {
    /// Makes a pending delivery for each of the rule's sinks.
    /// - Parameters:
    ///   - withheld: earlier messages that were withheld.
    ///   - sink: the only sink to send it to; nil for all.
    mutating func send(
        _ rule: Rule, _ event: Event, withheld: Int, sink: String? = nil, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        // The other sinks got a message for one sink already, so it joins no group.
        guard sink != nil || !joinsGroup(rule, event, at: now, identifier) else { return }
        let targets = sink.map(rule.targets) ?? rule.notify
        // Before the delivery, which changes the value that `by` compares with.
        if event.kind == .digest { activateDigest(rule, event, at: now) } else { activate(rule, event, at: now) }
        deliver(rule, event, to: targets, suppressedBy: nil, withheld: withheld, at: now, identifier)
    }

    /// Makes a suppressed delivery for each of the rule's sinks.
    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, suppressedBy: reason, at: now, identifier)
    }

    /// Suppresses a match that a gate has no room to count. To send it uncounted would break the promise of the gate.
    mutating func suppressForRoom(
        _ rule: Rule, _ event: Event, _ slot: RuleMemory.Slot, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let room = "\(RuleMemory.maximum) \(slot.noun)"
        suppress(rule, event, "the rule has no room for more than \(room)", at: now, identifier)
    }

    /// - Parameter reason: why the messages are suppressed; nil when they are sent.
    mutating func deliver(
        _ rule: Rule, _ event: Event, to targets: [Rule.NotificationTarget], suppressedBy reason: String?,
        withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        add(
            rule, event, about: [event], to: targets, suppressedBy: reason, withheld: withheld, at: now, identifier)
        if reason == nil { rememberAnnounced(rule, event, at: now) }
    }

    /// Delivers one message about several events to each of the sinks. An event that a silence withholds from one sink is not
    /// in the message to that sink, unless the silence withholds all of it.
    mutating func deliverTogether(
        _ rule: Rule, _ events: [Event], as message: Event, to targets: [Rule.NotificationTarget], withheld: Int = 0,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        var whole: [Rule.NotificationTarget] = []
        for target in targets {
            let isSilenced = { [self] in silence(of: rule, $0, sink: target.sink, at: now) != nil }
            guard !isSilenced(message), events.contains(where: isSilenced) else {
                whole.append(target)
                continue
            }
            let told = events.filter { !isSilenced($0) }
            for event in events.filter(isSilenced) {
                add(rule, event, about: [event], to: [target], at: now, identifier)
            }
            guard let last = told.last else { continue }
            var part = last
            if told.count > 1 {
                part = last.message(about: told, of: rule, id: identifier(), at: now.wall)
                part.kind = message.kind
            }
            add(rule, part, about: told, to: [target], withheld: withheld, at: now, identifier)
        }
        add(rule, message, about: events, to: whole, withheld: withheld, at: now, identifier)
        for event in events { rememberAnnounced(rule, event, at: now) }
    }

    /// Adds the deliveries of a message to the step, and keeps what a silence withholds from one sink.
    /// - Parameters:
    ///   - events: what the message is about.
    ///   - reason: why the messages are suppressed; nil when they are sent.
    private mutating func add(
        _ rule: Rule, _ message: Event, about events: [Event], to targets: [Rule.NotificationTarget],
        suppressedBy reason: String? = nil, withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let shown = announcedValues(in: message, rule)
        let stillFailing = reason == nil ? othersThatFail(rule, message) : nil
        for target in targets {
            let silence = reason == nil ? silence(of: rule, message, sink: target.sink, at: now) : nil
            let isSent = reason == nil && silence == nil
            var withheld = withheld
            if isSent {
                for event in events {
                    withheld += takeEarlier(
                        rule, event, sink: target.sink, from: [.silenced, .blocked], at: now, identifier)
                }
            }
            var delivery = rule.delivery(of: shown, to: target, withheld: withheld, at: now.wall, identifier())
            // The event itself has the values of the poll.
            delivery.message.event = message
            if target.text == nil, let stillFailing {
                delivery.message.text += (delivery.message.text.isEmpty ? "" : " · ") + stillFailing
            }
            if let reason {
                (delivery.state, delivery.reason) = (.suppressed, reason)
            } else if let silence {
                (delivery.state, delivery.reason) = (.suppressed, "silenced: \(silence.description)")
                keep(events, of: rule, silencedBy: silence, at: target.sink, count: withheld, at: now)
            }
            step.deliveries.append(delivery)
            guard isSent else { continue }
            for event in events { rememberRecipients(rule, event, [target.sink], at: now) }
        }
    }

    /// Keeps what a silence of one sink withholds from it, each event of its own: it may be over before the silence is.
    private mutating func keep(
        _ events: [Event], of rule: Rule, silencedBy silence: Silence, at sink: String, count: Int, at now: RuleTime
    ) {
        var count = count
        for event in events where event.kind != .reminder {
            guard !silence.drops else {
                if event.kind == .resolved { forgetRecipients(rule, event, [sink]) }
                continue
            }
            let group = RowGroup(rule: rule.name, slot: .silenced, name: sink)
            let end = silenceEnd(of: rule, event, sink: sink, at: now)
            keepWithheld(rule, event, in: group, sink: sink, count: count, due: end, isCivil: true, at: now)
            count = 0
        }
    }
}

extension Rule {
    /// The targets of the rule and of its escalations, one for each sink.
    var allTargets: [NotificationTarget] {
        var seen = Set<String>()
        return (notify + gates.escalate.flatMap(\.notify)).filter { seen.insert($0.sink).inserted }
    }

    /// Returns the target of that name, also one of `escalate`.
    func targets(_ sink: String) -> [NotificationTarget] { allTargets.filter { $0.sink == sink } }
}
