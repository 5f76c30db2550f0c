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
        let sinks = deliver(rule, event, to: targets, suppressedBy: nil, withheld: withheld, at: now, identifier)
        rememberRecipients(of: [event], sinks, rule)
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
    /// - Returns: the sinks that a message is sent to.
    @discardableResult
    mutating func deliver(
        _ rule: Rule, _ event: Event, to targets: [Rule.NotificationTarget], suppressedBy reason: String?,
        withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) -> Set<String> {
        defer { if reason == nil { rememberAnnounced(rule, event, at: now) } }
        return add(rule, event, to: targets, suppressedBy: reason, withheld: withheld, at: now, identifier)
    }

    /// Adds the deliveries of a message to the step, and keeps what a silence withholds from one sink.
    @discardableResult
    private mutating func add(
        _ rule: Rule, _ event: Event, to targets: [Rule.NotificationTarget], suppressedBy reason: String? = nil,
        withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) -> Set<String> {
        var told = Set<String>()
        let shown = announcedValues(in: event, rule)
        let stillFailing = reason == nil ? othersThatFail(rule, event) : nil
        for target in targets {
            let silence = reason == nil ? silence(of: rule, event, sink: target.sink, at: now) : nil
            let isSent = reason == nil && silence == nil
            let withheld = withheld + (isSent ? takeEarlier(rule, event, sink: target.sink) : 0)
            var delivery = rule.delivery(of: shown, to: target, withheld: withheld, at: now.wall, identifier())
            // The event itself has the values of the poll.
            delivery.message.event = event
            if target.text == nil, let stillFailing {
                delivery.message.text += (delivery.message.text.isEmpty ? "" : " · ") + stillFailing
            }
            if isSent { told.insert(target.sink) }
            if let reason {
                (delivery.state, delivery.reason) = (.suppressed, reason)
            } else if let silence {
                (delivery.state, delivery.reason) = (.suppressed, "silenced: \(silence.description)")
                if event.kind != .reminder, !silence.drops {
                    let group = RowGroup(rule: rule.name, slot: .silenced, name: target.sink)
                    let end = silenceEnd(of: rule, event, sink: target.sink, at: now)
                    keepWithheld(
                        rule, event, in: group, sink: target.sink, count: withheld, due: end, isCivil: true, at: now)
                }
            }
            step.deliveries.append(delivery)
        }
        return told
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
            for event in events.filter(isSilenced) { add(rule, event, to: [target], at: now, identifier) }
            guard let last = told.last else { continue }
            var part = last
            if told.count > 1 {
                part = last.message(about: told, of: rule, id: identifier(), at: now.wall)
                part.kind = message.kind
            }
            let sinks = add(rule, part, to: [target], withheld: withheld, at: now, identifier)
            rememberRecipients(of: told, sinks, rule)
        }
        if !whole.isEmpty {
            let sinks = add(rule, message, to: whole, withheld: withheld, at: now, identifier)
            rememberRecipients(of: events, sinks, rule)
        }
        for event in events { rememberAnnounced(rule, event, at: now) }
    }

    /// Remembers for `resolved` which sinks were told the matches.
    private mutating func rememberRecipients(of events: [Event], _ sinks: Set<String>, _ rule: Rule) {
        guard rule.gates.resolved else { return }
        for event in events {
            let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
            guard var memory = memories[key], memory.untold.contains(where: sinks.contains) else { continue }
            memory.untold.removeAll(where: sinks.contains)
            put(memory)
        }
    }
}

extension Rule {
    /// Returns the target of that name, also one of `escalate`.
    func targets(_ sink: String) -> [NotificationTarget] {
        (notify + gates.escalate.flatMap(\.notify)).first { $0.sink == sink }.map { [$0] } ?? []
    }
}
