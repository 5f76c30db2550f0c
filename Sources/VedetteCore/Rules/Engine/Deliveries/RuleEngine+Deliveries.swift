// SPDX-License-Identifier: Apache-2.0

/// Adds deliveries to the step: pending, or suppressed with the reason.
extension RuleEngine {
    /// Makes a pending delivery.
    /// - Parameter withheld: earlier messages that were withheld.
    mutating func deliver(
        _ rule: Rule, _ event: Event, to target: Rule.NotificationTarget, withheld: Int = 0, at moment: StepContext
    ) {
        step.send(delivery(rule, event, to: target, withheld: withheld, at: moment))
    }

    /// Makes a suppressed delivery for one sink.
    mutating func suppress(_ rule: Rule, _ event: Event, _ reason: String, for sink: String, at moment: StepContext) {
        var delivery = delivery(rule, event, to: rule.target(sink), withheld: 0, at: moment)
        (delivery.state, delivery.reason) = (.suppressed, reason)
        step.send(delivery)
    }

    /// Makes a suppressed delivery for each of the sinks, or of all the rule's.
    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, to sinks: [String]? = nil, at moment: StepContext
    ) {
        for sink in sinks ?? rule.notify.map(\.sink) { suppress(rule, event, reason, for: sink, at: moment) }
    }

    private func delivery(
        _ rule: Rule, _ event: Event, to target: Rule.NotificationTarget, withheld: Int, at moment: StepContext
    ) -> Delivery {
        var delivery = rule.delivery(
            of: shown(event, rule, to: target.sink), to: target, withheld: withheld,
            stillFailing: world.othersThatFail(rule, event),
            acknowledgement: acknowledgement(of: rule, before: event), at: moment.now.wall, moment.identifier())
        // The event itself has the values of the poll.
        delivery.message.event = event
        return delivery
    }
}
