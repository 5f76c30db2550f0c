// SPDX-License-Identifier: Apache-2.0

/// Something that does not work, with its cause and what to do.
public struct StatusProblem: Sendable, Hashable {
    /// The source or sink.
    public var subject: String
    /// Whether something is lost or late until it is repaired; false for what may end by itself. `status --check` ends with 1
    /// for the first.
    public var isBad: Bool
    /// `failing`, `paused`: what is wrong, in one word or two.
    public var word: String
    /// Since when; nil when nobody knows.
    public var since: Timestamp?
    /// Why; empty when nobody knows.
    public var cause: String
    /// What else is known, and the command that helps.
    public var details: [Detail]

    /// A fact about a problem.
    public enum Detail: Sendable, Hashable {
        /// Words.
        case text(String)
        /// A time with the words before it: `last good 07:39:50 (44 min ago)`.
        case past(String, Timestamp)
        /// The same of a time to come.
        case future(String, Timestamp)
    }
}

extension StatusFacts {
    /// Returns what does not work, the worst and oldest first.
    public var problems: [StatusProblem] {
        let all = sources.compactMap(problem) + sinks.flatMap(problems) + watcherProblems
        let order: [String] = ["failing", "suspect", "disabled", "paused"]
        func rank(_ offset: Int) -> (Int, Int64, Int) {
            let problem = all[offset]
            let place = problem.isBad ? order.firstIndex(of: problem.word) ?? order.count : order.count + 1
            return (place, problem.since?.milliseconds ?? .max, offset)
        }
        return all.indices.sorted { rank($0) < rank($1) }.map { all[$0] }
    }

    /// Watchers that are late, and those whose configuration is not the newest.
    private var watcherProblems: [StatusProblem] {
        let late = watchers.filter(\.isLate).map { watcher in
            StatusProblem(
                subject: watcher.name, isBad: false, word: "late", since: nil,
                cause: "not heard of lately; others take over in \(max(0, watcher.left.components.seconds)) s",
                details: [.text(watcher.process.text)])
        }
        guard let cause = ConfigurationDrift(watchers).cause else { return late }
        return late + [
            StatusProblem(
                subject: "configuration", isBad: false, word: "unequal", since: nil, cause: cause,
                details: [.text(ConfigurationDrift.remedy)])
        ]
    }

    private func problem(of source: SourceStatus) -> StatusProblem? {
        // First, since it is cheaper than a copy of the record.
        guard [.failing, .suspect, .retrying].contains(source.health), let record = source.record else { return nil }
        var details: [StatusProblem.Detail] = []
        if let good = record.snapshot?.goodAt { details.append(.past("last good", good)) }
        if record.snapshot == nil { details.append(.text("never read")) }
        let failures = record.health.failures
        if source.health != .suspect, failures > 1 { details.append(.text(counted(failures, "failed poll"))) }
        let times = PollTimes(record, isWatching: watcher != nil, now: now)
        if let next = times.next {
            details.append(.future(times.isDelayedByServer ? "next try (Retry-After)" : "next try", next))
        }
        if source.health == .suspect { details.append(.text("if that is right: vedette accept \(source.name)")) }
        return StatusProblem(
            subject: source.name, isBad: source.health != .retrying, word: source.health.rawValue,
            since: source.troubledSince,
            cause: source.health == .suspect
                ? "\(record.snapshot?.emptiness?.summary ?? "the list turned empty"); what it had is kept"
                : record.health.problem.map { "\($0.detail) [\($0.failure)]" } ?? "the last poll is not confirmed yet",
            details: details)
    }

    private func problems(of sink: SinkStatus) -> [StatusProblem] {
        var problems: [StatusProblem] = []
        let pending = StatusProblem.Detail.text("\(sink.count.pending) pending")
        if let stop = sink.stop {
            problems.append(
                StatusProblem(
                    subject: sink.name, isBad: true, word: stop.kind.word, since: stop.since, cause: stop.reason,
                    details: [pending, .text("when repaired: vedette outbox retry --sink \(sink.name)")]))
        } else if let waiting = sink.waiting {
            problems.append(
                StatusProblem(
                    subject: sink.name, isBad: false, word: "retrying", since: nil, cause: waiting.reason,
                    details: [pending, .future("next try", waiting.due)]))
        }
        guard sink.count.dead > 0 else { return problems }
        let last = sink.activity
        var details = [StatusProblem.Detail.text("vedette outbox --sink \(sink.name)")]
        if let at = last.lastDeadAt { details.insert(.past("the last", at), at: 0) }
        problems.append(
            StatusProblem(
                subject: sink.name, isBad: true, word: "\(sink.count.dead) dead", since: nil,
                cause: last.lastDeadReason ?? "", details: details))
        return problems
    }
}
