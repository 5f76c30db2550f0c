// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides which lines the log gets about polls. A failure and the recovery from it are logged once, when they happen; the
/// first polls of a run one by one for ten sources, then all of them in one line.
struct PollLog {
    struct Line: Equatable {
        let level: LogLevel
        private let make: () -> String

        /// - Parameter text: made only when it is read, since most lines are not shown.
        init(level: LogLevel, text: @autoclosure @escaping () -> String) { (self.level, make) = (level, text) }

        var text: String { make() }

        static func == (a: Line, b: Line) -> Bool { a.level == b.level && a.text == b.text }
    }

    /// A poll that ended.
    struct End {
        var source: String
        var id: String
        var before: Health
        var after: Health
        var items: Int?
        var events: Int
        var isBaseline: Bool

        var isFailed: Bool { after.problem != nil }
        /// It proved nothing that ends the failure before it.
        fileprivate var isInconclusive: Bool { after.failures > 0 && after.failures == before.failures }

        fileprivate var count: String { counted(items ?? 0, "item") }
        fileprivate var change: String { events > 0 ? counted(events, "event") : "unchanged" }
    }

    /// The first polls of more sources are logged in one line.
    static let mostSources = 10

    /// Sources whose first poll of this run has not ended.
    private var awaited: Set<String> = []
    private var (started, shown, read) = (0, 0, 0)
    private var failed: [String] = []

    /// Begins with the first polls of these sources.
    mutating func start(_ sources: [String]) {
        (awaited, started, shown, read, failed) = (Set(sources), sources.count, 0, 0, [])
    }

    /// Returns the lines about a poll.
    mutating func lines(of poll: End) -> [Line] {
        let isFirst = awaited.remove(poll.source) != nil
        let line = poll.isFailed ? PollLog.failure(poll, isFirst: isFirst) : good(poll, isFirst: isFirst)
        guard isFirst else { return [line] }
        if poll.isFailed { failed.append(poll.source) } else { read += 1 }
        guard awaited.isEmpty, started > PollLog.mostSources else { return [line] }
        let summary = summary
        return [line, Line(level: .notice, text: summary)]
    }

    /// Returns the lines about sources that are not polled before a window begins.
    static func waiting(_ sources: [(name: String, first: Timestamp)]) -> [Line] {
        guard sources.count > mostSources else {
            return sources.map { source in
                Line(
                    level: .notice,
                    text: "\(source.name): outside its windows; the first poll is at \(source.first.rfc3339)")
            }
        }
        let first = sources.map(\.first).min()?.rfc3339 ?? ""
        return [
            Line(
                level: .notice,
                text: "\(sources.count) sources are outside their windows; the first poll is at \(first)")
        ]
    }

    /// Returns the line about a Retry-After of hours: a person may wonder why the source is not polled. Nil for a shorter one.
    static func longWait(_ retryAfter: Duration?, of source: String) -> Line? {
        guard let retryAfter, retryAfter > .seconds(3600) else { return nil }
        let wait = DurationText.long(seconds: PollInterval.clamped(retryAfter: retryAfter).inSeconds)
        return Line(level: .notice, text: "\(source): the server wants no request for \(wait) (Retry-After)")
    }

    /// Returns the line about entries of a window that were taken for old: a publisher may have given a new one an old date.
    static func unannounced(_ difference: Difference, of source: String, _ poll: String) -> Line? {
        let items = difference.unannounced
        guard !items.isEmpty else { return nil }
        let why =
            difference.head.unannounced?.isUndated ?? false
            ? "undated behind the known ones, so nothing shows whether they are new ('time:' decides)"
            : "older than the window"
        let titles = items.prefix(3).map { "'\($0.title ?? $0.key)'" } + (items.count > 3 ? ["…"] : [])
        return Line(
            level: .notice,
            text: "\(source): not announced, since \(why): \(counted(items.count, "item")), "
                + "\(titles.joined(separator: ", ")) (\(poll))")
    }

    /// Returns the line about values that turned out to be no keys.
    static func shared(_ difference: Difference, of source: String, _ poll: String) -> Line? {
        guard difference.newlyShared > 0, let last = difference.head.sharedKeys.last else { return nil }
        let values = counted(difference.newlyShared, "value")
        return Line(
            level: .notice,
            text: "\(source): several entries have \(values) in common that would key each, last '\(last)': "
                + "what else they have keys them (\(poll))")
    }

    /// Returns the line about a source that its server has moved for good; nil when that is known.
    static func move(from old: String?, to new: String?, of source: String) -> Line? {
        guard let new, new != old else { return nil }
        return Line(
            level: .warning,
            text: "\(source): its server has moved it for good to \(new); write that address into the configuration")
    }

    /// The warnings of one poll that have a line each which is shown, as many as `status` shows.
    private static let mostWarnings = 3

    /// Returns the lines about what a poll was read with. A resource has the same warnings at each poll, often with another
    /// number, so that each is shown once.
    /// - Parameter last: the warnings of the last body that was read.
    static func warnings(_ warnings: [String], after last: [String], of source: String, _ poll: String) -> [Line] {
        func words(_ warning: String) -> String { warning.filter { !$0.isNumber } }
        var (known, shown) = (Set(last.map(words)), 0)
        return warnings.map { warning in
            let isNew = shown < mostWarnings && known.insert(words(warning)).inserted
            if isNew { shown += 1 }
            return Line(level: isNew ? .warning : .debug, text: "\(source): \(warning) (\(poll))")
        }
    }

    private static func failure(_ poll: End, isFirst: Bool) -> Line {
        let problem = poll.after.problem
        guard !poll.isInconclusive || isFirst else {
            return Line(
                level: .debug, text: "\(poll.source): still failing: \(problem?.failure ?? "") (\(poll.id))")
        }
        // The cause of a later failure often differs in nothing but a number. Each run logs what it found failing.
        let isKnown = !isFirst && poll.before.problem?.failure == problem?.failure
        return Line(
            level: isKnown ? .debug : .warning,
            text: "\(poll.source): \(problem?.failure ?? ""): \(problem?.detail ?? "") (\(poll.id))")
    }

    private mutating func good(_ poll: End, isFirst: Bool) -> Line {
        if let since = poll.before.failingSince, let now = poll.after.lastPollAt, poll.before.problem != nil {
            let length = DurationText.long(seconds: max(0, now.seconds(since: since)))
            let failures = counted(poll.before.failures, "failed poll")
            return Line(
                level: .notice, text: "\(poll.source): answers again after \(length), \(failures); \(poll.count)")
        }
        let isShown = isFirst ? shown < PollLog.mostSources : poll.isBaseline
        if isFirst, isShown { shown += 1 }
        let level = isShown ? LogLevel.notice : .debug
        if poll.isBaseline { return Line(level: level, text: "\(poll.source): baseline of \(poll.count)") }
        return Line(level: level, text: "\(poll.source): \(poll.count), \(poll.change) (\(poll.id))")
    }

    private var summary: String {
        let text = "first poll: \(read) of \(counted(started, "source")) read"
        guard !failed.isEmpty else { return text }
        let names = failed.sorted().prefix(3).joined(separator: ", ")
        let rest = failed.count > 3 ? " and \(failed.count - 3) more" : ""
        return "\(text), \(failed.count) failing: \(names)\(rest)"
    }
}
