// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads `windows`: times of day, by name.
struct WindowReader {
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

    func window(_ entry: YAMLEntry) -> [CivilWindow] {
        guard let map = MapReader(entry.value, "window '\(entry.name)'", keys: ConfigurationKeys.window, findings)
        else { return [] }
        let zone = map["tz"].flatMap(self.zone)
        let days = map["days"].flatMap(self.days) ?? []
        guard let node = map["daily"] else {
            if !map.has("days") {
                findings.error(map.node.place, "window '\(entry.name)' needs 'daily' as \"22:00-07:00\", or 'days'")
            }
            return [
                CivilWindow(
                    name: entry.name, start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440), days: days,
                    zone: zone)
            ]
        }
        return (scalars.texts(node, "'daily'") ?? []).compactMap { text in
            guard let (start, end) = WindowReader.span(text) else {
                findings.error(node.place, "'daily' is a span of the day as \"22:00-07:00\", not '\(text)'")
                return nil
            }
            return CivilWindow(name: entry.name, start: start, end: end, days: days, zone: zone)
        }
    }

    private static func span(_ text: String) -> (CivilTimeOfDay, CivilTimeOfDay)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = CivilTimeOfDay(String(parts[0]).trimmed()), start.minutes < 1440,
            let end = CivilTimeOfDay(String(parts[1]).trimmed()), start != end
        else { return nil }
        return (start, end)
    }

    func zone(_ node: YAMLNode) -> String? {
        guard let text = scalars.text(node, "'tz'") else { return nil }
        guard ZoneTime.knows(text) else {
            findings.error(
                node.place, "'\(text)' is no time zone of this machine; write a name as 'Europe/Vienna' or 'UTC'")
            return nil
        }
        return text
    }

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Reads `mon`, `[sat, sun]` and `mon-fri`; 1 is Monday.
    func days(_ node: YAMLNode) -> Set<Int>? {
        guard let nodes = scalars.oneOrMany(node, "'days'") else { return nil }
        var days = Set<Int>()
        for node in nodes {
            guard let text = scalars.text(node, "'days'") else { return nil }
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            let numbers = ends.compactMap { WindowReader.names.firstIndex(of: $0) }
            guard (1...2).contains(ends.count), numbers.count == ends.count, let first = numbers.first,
                let last = numbers.last
            else {
                findings.error(
                    node.place,
                    "'days' takes \(WindowReader.names.joined(separator: ", ")) and spans as mon-fri, not '\(text)'")
                return nil
            }
            // `fri-mon` continues over the weekend.
            for step in 0...((last - first + 7) % 7) { days.insert((first + step) % 7 + 1) }
        }
        return days
    }
}
