// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What must be so at the end of a run, when nothing holds messages back.
extension Verdict {
    mutating func checkEnd() {
        for match in history.matches.indices {
            for sink in Receivers.notified { check(match, sink) }
        }
        guard plan.has(.end) else { return }
        for (sink, believed) in beliefs.sorted(by: { $0.key < $1.key }) {
            for (key, belief) in believed where history.current[key] == nil && !mayBelieve(belief.match, sink) {
                record(.stale, "\(sink) believes \(name(belief.match))")
            }
        }
    }

    private mutating func check(_ match: Int, _ sink: String) {
        guard firings[Pair(sink: sink, match: match)] == nil else { return }
        let one = history.matches[match]
        // Today the engine takes it that the sink knows what it refused.
        if plan.has(.end), answers.contains(.refusedGoesOn), wasRefused(one.key, sink) { return }
        // With `at_least`, the latest state is no match of its own either.
        if tellsLatest, plan.has(.atLeast) { return }
        let isSame = beliefs[sink]?[one.key].map { !$0.values.isDisjoint(with: initialValues(of: one)) } ?? false
        let goesOn = plan.has(.end) && isSame
        if one.ended == nil, !goesOn, !isKeptByValue(match), !mayBeDropped(match, sink, until: history.time) {
            record(.missing, "\(sink) does not know \(name(match))")
        }
        if one.isReplaced, answers.contains(.replacementsLeaveNoReason) { return }
        if !run.reasons.contains(Run.Reason(sink: sink, event: one.id)), !goesOn {
            record(.unexplained, "\(sink) was not told \(name(match))")
        }
    }

    /// Whether a gate dropped the match, or may have.
    func mayBeDropped(_ match: Int, _ sink: String, until time: Int) -> Bool {
        let one = history.matches[match]
        if plan.has(.dropping), wasQuiet(from: one.time, to: time) { return true }
        if plan.has(.condition), plan.when.isNews || plan.conditionDrops,
            history.wasEver({ $0.isMaintenance }, during: one)
        {
            return true
        }
        return wasDropSilenced(match, sink)
    }

    /// Whether another match may have used the value of `once_per`.
    private func isKeptByValue(_ match: Int) -> Bool {
        let one = history.matches[match]
        return plan.has(.oncePer) && history.matches.contains { $0.team == one.team && $0.id != one.id }
    }

    func wasDropSilenced(_ match: Int, _ sink: String) -> Bool {
        let one = history.matches[match]
        return history.wasEver(
            { now in now.covering(one.key, sink, at: one.time).contains(where: \.drops) }, during: one)
    }

    /// Whether a sink may believe what is over.
    private func mayBelieve(_ match: Int, _ sink: String) -> Bool {
        // What is dropped by hand reaches no fallback either.
        let sinks = sink == "spare" ? [sink, "out"] : [sink]
        return sinks.contains { wasRefused(history.matches[match].key, $0, end: true) }
    }
}
