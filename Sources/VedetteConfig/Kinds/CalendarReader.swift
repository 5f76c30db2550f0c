// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads `at` and `during` of a source.
struct CalendarReader {
    let windows: [String: [CivilWindow]]
    /// Shows which windows have ended; nil warns of none.
    let now: Timestamp?
    let findings: Findings

    /// The most times of one source.
    private static let maximum = 100

    /// Returns nil for a source that is polled at its interval, at any time.
    func calendar(_ map: MapReader) -> PollCalendar? {
        for key in ["at", "during"] where map.has(key) && map.has("stream") {
            findings.error(
                map.key(key), "'\(key)' is about polls, but 'stream' keeps a connection open at all times; remove one")
        }
        guard map.has("at") else {
            guard map.has("during") else { return nil }
            let named = map.words("during").flatMap { name, place in
                findings.isKnown(name, "window", among: Array(windows.keys), at: place) ? windows[name] ?? [] : []
            }
            guard !named.isEmpty else { return nil }
            let calendar = PollCalendar(.during(named), ZoneTime())
            if let now, calendar.knownOpening(now) == nil {
                findings.warn(
                    map.key("during"),
                    "every window of 'during' has ended, so that the source is not polled; write later dates into the window, or name another one"
                )
            }
            return calendar
        }
        if map.has("every") {
            findings.error(
                map.key("every"),
                "'every' and 'at' exclude each other: 'at' has the times of all polls; remove one, or take 'during' for an interval in a part of the day"
            )
        }
        if map.has("during") {
            findings.error(
                map.key("during"), "'during' and 'at' exclude each other; write the days into 'at' as \"mon-fri 17:30\""
            )
        }
        let words = map.words("at")
        guard words.count <= CalendarReader.maximum else {
            map.refuse("at", "'at' has at most \(CalendarReader.maximum) times; take 'every' and 'during'")
            return nil
        }
        let times = words.compactMap { text, place in
            let time = CalendarReader.time(text)
            if time == nil {
                findings.error(
                    place,
                    "'at' takes times as 08:00, \"mon-fri 17:30\", \"mon,thu 9:00\" and \"sat 9:00 Europe/Vienna\", not '\(text)'"
                )
            }
            return time
        }
        return times.isEmpty ? nil : PollCalendar(.at(times), ZoneTime())
    }

    /// Reads days, a time and a zone; the first and the last may be missing.
    private static func time(_ text: String) -> PollTime? {
        var words = text.split(separator: " ").map(String.init)
        var days = Set<Int>()
        if words.count > 1, CivilTimeOfDay(words[0]) == nil {
            for part in words.removeFirst().split(separator: ",", omittingEmptySubsequences: false) {
                guard let some = WindowReader.days(String(part)) else { return nil }
                days.formUnion(some)
            }
        }
        let zone = words.count == 2 ? words.removeLast() : nil
        guard words.count == 1, zone.map(ZoneTime.knows) ?? true, let time = CivilTimeOfDay(words[0], zone: zone),
            time.minutes < 1440
        else { return nil }
        return PollTime(time, days: days, text: text)
    }
}
