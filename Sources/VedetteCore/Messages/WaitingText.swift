// SPDX-License-Identifier: Apache-2.0

/// Describes what a rule waits for, for `status`, `explain`, `replay` and `test`.
extension RuleMemory {
    /// Why something waits, in one word: `held`, `deferred`, `digest`, `limited`, `silenced`, `blocked`, `grouped`,
    /// `reminder`, `nothing`, `counted` or `failed`. Nil when nothing waits: then the row only counts or remembers.
    public var waitingReason: String? {
        switch key.slot {
        case .pending: event == nil ? nil : "held"
        case .deferred: event == nil ? nil : "deferred"
        case .digest: count > 0 ? "digest" : nil
        case .active: due == nil ? nil : "reminder"
        case .failed: "failed"
        case .limited: event == nil ? nil : "limited"
        case .silenced: event == nil ? nil : "silenced"
        case .blocked: event == nil ? nil : "blocked"
        case .grouped: "grouped"
        case .absence: due == nil ? nil : "nothing"
        case .tally: "counted"
        case .limit, .outage, .announced, .once, .counted, .recipients: nil
        }
    }

    /// When something is done about what waits; nil when something else shows it.
    public var waitingUntil: Timestamp? { due }

    /// The event of what waits.
    public var waitingEvent: Event? { event }

    /// Returns what waits, in words: `held: Billing, ready for 3 of 5 min`. Nil when nothing waits.
    /// - Parameters:
    ///   - rule: the rule as it is configured now; nil when it is gone.
    ///   - now: the wall time.
    public func waitingText(of rule: Rule?, at now: Timestamp) -> String? {
        guard let reason = waitingReason else { return nil }
        let about = event.map { RuleMemory.subject(of: $0, rule) } ?? ""
        switch key.slot {
        case .pending: return "\(reason): \(about)\(held(by: rule, at: now))"
        case .deferred: return "\(reason): \(about)" + (count > 0 ? ", and \(count) before" : "")
        case .digest: return "\(reason): \(counted(count, "event"))"
        case .active:
            let isEscalation = rule.map { step < $0.gates.escalate.count && $0.gates.remind == nil } ?? false
            return "\(isEscalation ? "escalation" : reason): \(about), sent \(age(now)) ago"
        case .absence: return "\(reason): no match for \(age(now)), sent when it lasts"
        case .tally: return "\(reason): \(times.count) of \(rule?.gates.atLeast?.count ?? times.count) matches"
        case .failed: return "\(reason): \(key.name): \(lines.first ?? "not evaluated")"
        case .limited: return "\(reason): \(about), told when the limit allows it"
        case .silenced: return "\(reason): \(about), told at the end if it is still so"
        case .blocked: return "\(reason): \(about), told when what it depends on is back, if it is still so"
        case .grouped: return "\(reason): \(about), told with the others of its server"
        case .limit, .outage, .announced, .once, .counted, .recipients: return nil
        }
    }

    private func age(_ now: Timestamp) -> String { DurationText.long(seconds: now.seconds(since: since)) }

    /// ` for 3 of 5 min`; a match whose time has passed waits for a good poll.
    private func held(by rule: Rule?, at now: Timestamp) -> String {
        guard let total = rule?.gates.pendingFor.inSeconds, total > 0, let due else { return "" }
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
