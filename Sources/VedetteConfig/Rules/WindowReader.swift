// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads `windows`: times of day and dates, by name.
struct WindowReader {
    let values: ValueReader
    var recurrence: RecurrenceReader = { _, _, _ in nil }

    private var findings: Findings { values.findings }

    func window(_ entry: YAMLEntry) -> [CivilWindow] {
        guard let map = MapReader(entry.value, "window '\(entry.name)'", keys: ConfigurationKeys.window, values) else {
            return []
        }
        let whole = CivilWindow(
            name: entry.name, start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440),
            days: days(map), zone: zone(map))
        let window = bounded(whole, map)
        guard map.has("daily") else {
            if !["days", "until", "repeat"].contains(where: map.has) {
                findings.error(
                    map.node.place,
                    "window '\(entry.name)' needs 'daily' as \"22:00-07:00\", 'days', 'repeat', or 'from' and 'until'")
            }
            return [window]
        }
        return map.texts("daily").compactMap { text in
            guard let (start, end) = WindowReader.span(text) else {
                map.refuse("daily", "'daily' is a span of the day as \"22:00-07:00\", not '\(text)'")
                return nil
            }
            var window = window
            (window.start, window.end) = (start, end)
            return window
        }
    }

    /// Reads `from`, `until` and `repeat`.
    private func bounded(_ window: CivilWindow, _ map: MapReader) -> CivilWindow {
        func moment(_ key: String) -> CivilMoment? {
            guard let text = map.text(key) else { return nil }
            let moment = CivilMoment(text)
            if moment == nil {
                map.refuse(
                    key, "'\(key)' is a day as 2026-12-24, or with a time as 2026-12-24 18:00, not '\(text)'")
            }
            return moment
        }
        var window = window
        (window.from, window.until) = (moment("from"), moment("until"))
        if let from = window.from, let until = window.until, until <= from {
            findings.error(map.node.place, "'until' is not later than 'from'")
        }
        guard let rule = map.text("repeat") else { return window }
        guard let from = window.from else {
            if !map.has("from") { map.refuse("repeat", "'repeat' needs 'from': the day from which it counts") }
            return window
        }
        window.dates = recurrence(rule, from.day, from.day + WindowReader.horizon)
        if window.dates == nil {
            map.refuse(
                "repeat",
                "'\(rule)' is no rule of RFC 5545 that has days, as FREQ=MONTHLY;BYDAY=1SU; the times of the day are 'daily'"
            )
        }
        return window
    }

    /// The days of a rule are read for twenty years.
    private static let horizon = 7305

    private static func span(_ text: String) -> (CivilTimeOfDay, CivilTimeOfDay)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = CivilTimeOfDay(String(parts[0]).trimmed()), start.minutes < 1440,
            let end = CivilTimeOfDay(String(parts[1]).trimmed()), start != end
        else { return nil }
        return (start, end)
    }

    /// Reads `tz`.
    func zone(_ map: MapReader) -> String? {
        guard let text = map.text("tz") else { return nil }
        if ZoneTime.knows(text) { return text }
        map.refuse("tz", "'\(text)' is no time zone of this machine; write a name as 'Europe/Vienna' or 'UTC'")
        return nil
    }

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Reads `days`: `mon`, `[sat, sun]` and `mon-fri`; 1 is Monday.
    func days(_ map: MapReader) -> Set<Int> {
        var days = Set<Int>()
        for (text, place) in map.words("days") {
            guard let some = WindowReader.days(text) else {
                findings.error(
                    place,
                    "'days' takes \(WindowReader.names.joined(separator: ", ")) and spans as mon-fri, not '\(text)'")
                continue
            }
            days.formUnion(some)
        }
        return days
    }

    /// Returns the days of `sat` and `mon-fri`; nil for anything else.
    static func days(_ text: String) -> Set<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let numbers = ends.compactMap { names.firstIndex(of: $0) }
        guard (1...2).contains(ends.count), numbers.count == ends.count, let first = numbers.first,
            let last = numbers.last
        else { return nil }
        // `fri-mon` continues over the weekend.
        return Set((0...((last - first + 7) % 7)).map { (first + $0) % 7 + 1 })
    }
}
