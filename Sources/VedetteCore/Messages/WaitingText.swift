// SPDX-License-Identifier: Apache-2.0

/// Describes what a rule waits for, for `status`, `explain`, `replay` and `test`.
extension RuleMemory {
    /// Why something waits, in one word: `held`, `recovering`, `deferred`, `digest`, `limited`, `silenced`, `blocked`, `grouped`,
    /// `unconfirmed`, `reminder`, `acknowledged`, `nothing`, `counted` or `failed`. Nil when nothing waits: then it only counts or
    /// remembers.
    public var waitingReason: String? {
        switch key.slot {
        case .match:
            if held != nil { return "held" }
            if let wait = waiting { return wait.gate == SinkSilencesGate.name ? SilencesGate.name : wait.gate }
            if acknowledgement != nil { return AcknowledgedGate.name }
            guard let told, told.isFollowed else { return nil }
            return told.gate.isEmpty ? "reminder" : told.gate
        case .log: return count > 0 ? "digest" : nil
        case .failed: return "failed"
        case .absence: return due == nil ? nil : "nothing"
        case .tally: return "counted"
        case .limit, .server, .reference, .once: return nil
        }
    }

    /// When something is done about what waits; nil when something else shows it.
    public var waitingUntil: Timestamp? {
        guard key.slot == .match else { return due }
        if let held { return held.due }
        if let waiting { return waiting.until }
        return told?.due
    }

    /// The event of what waits.
    public var waitingEvent: Event? {
        guard key.slot == .match else { return event }
        return held?.event ?? (waiting == nil ? told?.event : event)
    }

    /// Whether `explain` shows with this event what waits, or that the match was acknowledged.
    public func concerns(_ event: Event) -> Bool {
        let id = event.id.description
        return self.event?.id == event.id || events.contains(id) || acknowledgement?.match == id
    }

    private var waiting: Wait? { waits.first { $0.content != .count } }

    /// Returns what waits, in words: `held: Billing, ready for 3 of 5 min`. Nil when nothing waits.
    /// - Parameters:
    ///   - rule: the rule as it is configured now; nil when it is gone.
    ///   - now: the wall time.
    public func waitingText(of rule: Rule?, at now: Timestamp) -> String? {
        guard let reason = waitingReason else { return nil }
        let about = waitingEvent.map { RuleMemory.subject(of: $0, rule) } ?? ""
        switch key.slot {
        case .match:
            if let held { return "\(reason): \(about)\(RuleMemory.held(until: held.due, by: rule, at: now))" }
            if let waiting {
                let text = Gates.named(waiting.gate)?.waitingText ?? ""
                let before = text.isEmpty && waiting.count > 0 ? ", and \(waiting.count) before" : ""
                let known = acknowledgement.map { ", acknowledged \($0.text(at: now))" } ?? ""
                return "\(reason): \(about)" + (text.isEmpty ? before : ", \(text)") + known
            }
            if let acknowledgement { return "\(reason): \(about), \(acknowledgement.text(at: now))" }
            guard let told else { return nil }
            let isEscalation = rule.map { told.step < $0.gates.escalate.count && $0.gates.remind == nil } ?? false
            let age = DurationText.long(seconds: now.seconds(since: told.since))
            return "\(isEscalation ? "escalation" : reason): \(about), sent \(age) ago"
        case .log: return "\(reason): \(counted(count, "event"))"
        case .absence: return "\(reason): no match for \(age(now)), sent when it lasts"
        case .tally: return "\(reason): \(times.total) of \(rule?.gates.atLeast?.count ?? times.total) matches"
        case .failed: return "\(reason): \(key.name): \(lines.first ?? "not evaluated")"
        case .limit, .server, .reference, .once: return nil
        }
    }

    private func age(_ now: Timestamp) -> String { DurationText.long(seconds: now.seconds(since: since)) }

    /// ` for 3 of 5 min`; a match whose time has passed waits for a good poll.
    private static func held(until due: Timestamp, by rule: Rule?, at now: Timestamp) -> String {
        guard let total = rule?.gates.pendingFor.inSeconds, total > 0 else { return "" }
        let word = rule?.when.restartsWait == true ? " unchanged for " : " for "
        let rest = due.seconds(since: now)
        guard rest > 0 else {
            return word + DurationText.long(seconds: total) + ", sent after the next good poll"
        }
        return word + RuleMemory.part(max(0, total - rest), of: total)
    }

    /// Returns a part of a duration in the unit of the whole: `3 of 5 min`, `20 s of 5 min`.
    static func part(_ part: Double, of whole: Double) -> String {
        let text = DurationText.long(seconds: whole)
        let units: [(seconds: Double, name: String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        guard let unit = units.first(where: { whole >= $0.seconds }), part >= unit.seconds else {
            return "\(DurationText.long(seconds: part.rounded(.down))) of \(text)"
        }
        let number = Int64(part / unit.seconds)
        return text.hasSuffix(" \(unit.name)") ? "\(number) of \(text)" : "\(number) \(unit.name) of \(text)"
    }

    /// `Billing, ready`: the item and its value of the rule's field, or a source and what is wrong with it.
    private static func subject(of event: Event, _ rule: Rule?) -> String {
        let kind = event.summary?.cause ?? event.kind
        guard let item = event.item else { return "\(event.source), \(kind.word)" }
        let name = item.title ?? item.key
        if kind == .disappeared { return "\(name), gone" }
        let field = rule.flatMap { $0.when.changedField(in: event) }
        guard let field, !["state", "title", "name"].contains(field) else {
            return item.state.map { "\(name), \($0)" } ?? name
        }
        return item[field].map { "\(name), \(field) \($0.description)" } ?? name
    }
}
