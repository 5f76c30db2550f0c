// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The schedule that a feed asks for: RSS 2.0 `ttl`, `skipHours` and `skipDays`, and the syndication module of RSS 1.0.
struct FeedSchedule {
    /// Minutes.
    var ttl: Int?
    var period: String?
    var frequency: Int?
    /// Hours of the day in UTC, 0 to 23.
    private var hours = Set<Int>()
    /// 0 is Sunday.
    private var days = Set<Int>()

    /// The usual interval, which the skipped hours and days may lengthen.
    static let usual = Duration.seconds(1800)

    /// Adds an hour to skip. RSS 0.91 counts hours from 1, so 24 is midnight.
    mutating func skip(hour text: String) {
        if let hour = Int(text), (0...24).contains(hour) { hours.insert(hour % 24) }
    }

    mutating func skip(day text: String) {
        let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        if let day = names.firstIndex(of: String(text.lowercased().prefix(3))) { days.insert(day) }
    }

    /// Returns how long the feed asks not to be polled; nil when it asks for nothing.
    ///
    /// - Parameter now: when the document was received; without it the hours and days are ignored.
    func freshFor(at now: Timestamp?) -> Duration? {
        // Checked before it is multiplied, which could overflow.
        let minutes = ttl.flatMap { (1...31 * 1440).contains($0) ? $0 : nil }
        let seconds = [minutes.map { $0 * 60 }, update].compactMap { $0 }.filter { (1...31 * 86_400).contains($0) }
        let asked = seconds.max().map { Duration.seconds($0) }
        guard let now, now.milliseconds > 0, let pause = pause(from: now, after: max(asked ?? .zero, Self.usual)) else {
            return asked
        }
        return pause
    }

    private var update: Int? {
        guard let length = period.flatMap({ FeedSchedule.periods[$0.lowercased()] }) else { return nil }
        return length / max(1, frequency ?? 1)
    }

    private static let periods = [
        "hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 30 * 86_400, "yearly": 365 * 86_400,
    ]

    /// Returns the time until the first hour that is not skipped, when the next poll would fall into a skipped one. A schedule that
    /// skips a whole week is ignored.
    private func pause(from now: Timestamp, after wait: Duration) -> Duration? {
        var at = now.advanced(by: wait)
        guard isSkipped(at) else { return nil }
        for _ in 0..<168 {
            at = Timestamp(milliseconds: (at.milliseconds / 3_600_000 + 1) * 3_600_000)
            if !isSkipped(at) { return .milliseconds(at.milliseconds - now.milliseconds) }
        }
        return nil
    }

    private func isSkipped(_ time: Timestamp) -> Bool {
        let hour = Int(time.milliseconds / 3_600_000)
        // 1970-01-01 was a Thursday.
        return hours.contains(hour % 24) || days.contains((hour / 24 + 4) % 7)
    }
}
