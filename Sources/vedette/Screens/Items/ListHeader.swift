// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSinks

/// The line above the items of a source: how old they are, and why when they are older than they should be.
enum ListHeader {
    /// Returns the line, and whether something is wrong.
    static func text(
        _ record: SourceRecord, _ source: Source, isWatched: Bool, now: Timestamp
    ) -> (text: String, isBad: Bool) {
        let lastGood = PollTimes(record, isWatching: isWatched, now: now).lastGood
        let read = lastGood.map { "read \($0.relative(to: now))" } ?? "never read"
        if let problem = record.health.problem {
            let since = record.health.failingSince.map { " since \(LocalTime.text($0, now: now))" } ?? ""
            return ("\(source.name) fails\(since): \(problem.failure): \(problem.detail); \(read)", true)
        }
        if let emptiness = record.snapshot?.emptiness {
            let since = LocalTime.text(emptiness.since, now: now)
            return (
                "\(source.name): \(emptiness.summary) (since \(since)), which is not believed yet: "
                    + "`vedette accept \(source.name)` accepts it; \(read)", true
            )
        }
        let limit = source.interval.every * 3 + .seconds(60)
        let calendar = source.interval.calendar
        guard let good = record.snapshot?.goodAt,
            source.interval.deadline(limit, since: calendar?.next(after: good) ?? good) < now
        else { return (read, false) }
        let every = DurationText.long(seconds: source.interval.every / .seconds(1))
        let times = PollCalendar.text(calendar, every: every)
        return (isWatched ? "\(read), although it is due \(times)" : "\(read); no watcher runs", true)
    }
}
