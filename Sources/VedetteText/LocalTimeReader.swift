// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Reads times as people write them on a command line: `07:00`, `tomorrow 8:30`, `monday`, `2026-11-22`, `2026-11-22 07:00`
/// in the zone of this machine, or in one that is named after them (`07:00 Europe/Vienna`), and RFC 3339.
public struct LocalTimeReader: Sendable {
    private let civil: any CivilTime
    private let zone: String?

    /// - Parameter zone: a tz database name; nil for the machine's own.
    public init(_ civil: any CivilTime = ZoneTime(), zone: String? = nil) { (self.civil, self.zone) = (civil, zone) }

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Returns the time; nil when the text is none. A time of day is the next one after `now`, with a day of the week or without;
    /// a day alone is its first moment.
    public func time(_ text: String, now: Timestamp) -> Timestamp? {
        let text = text.trimmed()
        if let time = Timestamp(rfc3339: text) ?? local(text, now: now) { return time }
        let words = text.split(separator: " ")
        guard let zone = words.last.map(String.init), zone.first?.isLetter == true, ZoneTime.knows(zone) else {
            return nil
        }
        return LocalTimeReader(civil, zone: zone).local(words.dropLast().joined(separator: " "), now: now)
    }

    private func local(_ text: String, now: Timestamp) -> Timestamp? {
        if let clock = CivilTimeOfDay(text, zone: zone) { return clock.next(after: now, civil) }
        let parts = text.lowercased().split { $0 == " " || ($0 == "T" || $0 == "t") && text.first?.isNumber == true }
        guard let first = parts.first, parts.count <= 2, let day = day(String(first), now: now) else { return nil }
        guard parts.count == 2 else { return instant(of: day, minutes: 0) }
        guard let minutes = LocalTimeReader.minutes(String(parts[1])) else { return nil }
        // On a Friday `friday 18:00` is today until then.
        if LocalTimeReader.isWeekday(String(first)) {
            let before = instant(of: day.advanced(by: .seconds(-7 * 86_400)), minutes: minutes)
            if before > now { return before }
        }
        return instant(of: day, minutes: minutes)
    }

    /// Returns the last such time that is not after `now`; nil when the text is no time, or names one in the future.
    public func past(_ text: String, now: Timestamp) -> Timestamp? {
        // A time of day has passed within the last day, a day of the week within the last seven.
        let isRelative = ["today", "tomorrow", "yesterday"].contains { text.trimmed().lowercased().hasPrefix($0) }
        for days: Int64 in isRelative ? [0] : [0, 1, 8] {
            let start = now.advanced(by: .seconds(-days * 86_400))
            if let time = time(text, now: start), time <= now { return time }
        }
        return nil
    }

    /// Returns whether a text that is no time was probably meant as one: it begins with a digit and holds a time of day or
    /// a unit of time, or nothing but digits, marks of a time and words of a clock; or it begins with a day, as
    /// `friday 25:00`, or with a word before one, as `next monday` and `in 5 minutes`.
    public static func resemblesTime(_ text: String) -> Bool {
        let text = text.trimmed().lowercased()
        guard let first = text.first else { return false }
        guard !first.isNumber, first != "+" else { return resemblesClock(text) }
        let words = text.split { " ,".contains($0) }.map(String.init)
        if words == ["now"] || words.first.map(isDay) == true { return true }
        guard let last = words.last, ["in", "at", "on", "next"].contains(words[0]) else { return false }
        // `in an hour`, but not `in day care`.
        return resemblesTime(words.dropFirst().joined(separator: " ")) || (words.count <= 3 && units.contains(last))
    }

    private static let units: Set<String> = [
        "am", "pm", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "hr", "hrs", "hour",
        "hours", "day", "days", "week", "weeks", "month", "months", "year", "years",
    ]

    private static func resemblesClock(_ text: String) -> Bool {
        // A code is a state; more digits are the seconds of a time.
        if text.allSatisfy(\.isNumber) { return text.count > 6 }
        let words = text.split { !$0.isLetter }.map(String.init)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let hasTimeOfDay = zip(parts, parts.dropFirst()).contains {
            $0.last?.isNumber == true && $1.first?.isNumber == true
        }
        if hasTimeOfDay || words.contains(where: units.contains) { return true }
        return text.allSatisfy { $0.isLetter || $0.isNumber || ":-./+ ,".contains($0) }
            && words.allSatisfy { ["t", "z", "h", "m", "s", "d", "ms", "utc"].contains($0) }
    }

    private static func isDay(_ word: String) -> Bool {
        ["today", "tomorrow", "yesterday", "noon", "midnight"].contains(word)
            || isWeekday(word)
    }

    private static func isWeekday(_ word: String) -> Bool {
        word.count >= 3 && weekdays.contains { $0.hasPrefix(word) }
    }

    /// `7:30` and `07:30:00`.
    private static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let clock = parts.count == 3 && parts[2] == "00" ? parts[..<2].joined(separator: ":") : text
        return CivilTimeOfDay(clock).map(\.minutes)
    }

    /// Midnight of a day, as if the clocks showed UTC.
    private func day(_ text: String, now: Timestamp) -> Timestamp? {
        let local = now.milliseconds + Int64(civil.offset(at: now, in: zone)) * 1000
        let today = Timestamp(milliseconds: local - (local % 86_400_000 + 86_400_000) % 86_400_000)
        switch text {
        case "today": return today
        case "tomorrow": return today.advanced(by: .seconds(86_400))
        case "yesterday": return today.advanced(by: .seconds(-86_400))
        default: break
        }
        if text.count >= 3, let weekday = LocalTimeReader.weekdays.firstIndex(where: { $0.hasPrefix(text) }) {
            // 1970-01-01 was a Thursday. The day itself is the one in a week.
            let current = Int((today.milliseconds / 86_400_000 + 3) % 7)
            return today.advanced(by: .seconds(Int64((weekday - current + 6) % 7 + 1) * 86_400))
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, text.utf8.count == 10, let year = parts[0], let month = parts[1], let day = parts[2]
        else { return nil }
        return CivilDate(year: year, month: month, day: day).timestamp
    }

    private func instant(of day: Timestamp, minutes: Int) -> Timestamp {
        let shown = day.milliseconds + Int64(minutes) * 60_000
        // The offset at the result, which differs from that at midnight on a day on which the clocks change.
        var time = Timestamp(milliseconds: shown)
        for _ in 0..<2 { time = Timestamp(milliseconds: shown - Int64(civil.offset(at: time, in: zone)) * 1000) }
        return time
    }
}
