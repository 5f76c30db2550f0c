// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The clocks of the zones that a calendar names: from its own definitions (RFC 5545 §3.6.5), else from the system's table by name.
final class ICalendarZones {
    private enum Clock {
        case utc
        /// The clock of this machine.
        case local
        case table(ICalendarClock)
    }

    let budget: ICalendarBudget
    /// Names that were found nowhere; their times are read by the clock of the person.
    private(set) var unknown: Set<String> = []
    /// Names whose definition in the calendar is not read.
    private(set) var unread: Set<String> = []
    private let definitions: [String: ICalendarComponent]
    private var home = Clock.local
    private var clocks: [String: Clock] = [:]

    /// - Parameter home: the person's zone; nil for this machine's.
    init(_ definitions: [String: ICalendarComponent], home: String?, _ budget: ICalendarBudget) {
        (self.definitions, self.budget) = (definitions, budget)
        if let home { self.home = clock(home) }
    }

    /// Returns whether the system's table has a zone.
    static func isKnown(_ name: String) -> Bool { system(name, ICalendarBudget()) != nil }

    /// Returns the time by the clocks of a zone at a time of UTC.
    func civil(at utc: Int, in zone: ICalendarTime.Zone) -> Int { utc + offset(of: clock(zone), at: utc) }

    /// Returns the time of UTC at which the clocks show a time. A time that they skip is as much later as they jump; of a time that
    /// they show twice, the first counts (RFC 5545 §3.3.5). A date is its midnight at home.
    func utc(_ time: ICalendarTime) -> Int {
        let clock = time.isDate ? home : clock(time.zone)
        let before = offset(of: clock, at: time.civil - 86_400)
        let early = time.civil - before
        let after = offset(of: clock, at: early)
        guard after != before else { return early }
        let late = time.civil - after
        return offset(of: clock, at: late) == after ? late : early
    }

    /// Writes a time as RFC 3339 by the clock of the person.
    func text(_ utc: Int) -> String {
        let offset = offset(of: home, at: utc)
        let text = ICalendarTime(civil: utc + offset, isDate: false, zone: .floating).extended
        if case .utc = home { return text + "Z" }
        let minutes = abs(offset) / 60
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(text)\(offset < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
    }

    private func clock(_ zone: ICalendarTime.Zone) -> Clock {
        switch zone {
        case .utc: .utc
        case .floating: home
        case .named(let name): clock(name)
        }
    }

    private func clock(_ name: String) -> Clock {
        if let known = clocks[name] { return known }
        let defined = definitions[name].flatMap { self.defined($0, name) }
        let found = defined ?? ICalendarZones.system(name, budget)
        if found == nil {
            if definitions[name] == nil { unknown.insert(name) } else { unread.insert(name) }
        }
        budget.blame("the search for the time zone '\(name.prefix(100))'")
        clocks[name] = found ?? home
        return found ?? home
    }

    private func offset(of clock: Clock, at utc: Int) -> Int {
        switch clock {
        case .utc: return 0
        case .local:
            var (utc, fields) = (utc, tm())
            return localtime_r(&utc, &fields) == nil ? 0 : fields.tm_gmtoff
        case .table(let clock): return clock.offset(at: utc, budget)
        }
    }

    /// Finds a zone by name. Some programs put their own before it: `/example.org/20260101_1/Europe/Berlin`.
    private static func system(_ name: String, _ budget: ICalendarBudget) -> Clock? {
        let parts = name.split(separator: "/")
        guard parts.count < 16 else { return nil }
        for length in stride(from: min(3, parts.count), through: 1, by: -1) {
            let name = parts.suffix(length).joined(separator: "/")
            if ["UTC", "GMT", "Etc/UTC", "Etc/GMT"].contains(name) { return .utc }
            if let clock = ZoneFile.clock(name, budget) { return .table(clock) }
        }
        return nil
    }

    /// Reads a definition; nil for one that is not complete, that has more than a few changes in a year, or a rule that fits no date.
    private func defined(_ component: ICalendarComponent, _ name: String) -> Clock? {
        let parts = component.children.filter { ["STANDARD", "DAYLIGHT"].contains($0.name) }
        guard !parts.isEmpty, parts.count <= 1000 else { return nil }
        var observances: [ICalendarClock.Observance] = []
        var earliest = (start: Int.max, offset: 0)
        for part in parts {
            guard let start = part["DTSTART"].flatMap(ICalendarTime.init), !start.isDate,
                let from = part["TZOFFSETFROM"].flatMap({ ICalendarZones.offset($0.value) }),
                let to = part["TZOFFSETTO"].flatMap({ ICalendarZones.offset($0.value) })
            else { return nil }
            let rules = part.all("RRULE").map { ICalendarRule($0.value) }
            guard rules.count <= 1, rules.allSatisfy({ $0.map { $0.isForZone && !$0.isImpossible } ?? false }) else {
                return nil
            }
            let listed = part.all("RDATE").flatMap { $0.value.split(separator: ",") }.compactMap { ICalendarTime($0) }
            let dates = rules.first?.map { rule in
                ICalendarDates(
                    rule, from: start, at: start.civil, until: rule.last(for: start) { $0 + from }, budget)
            }
            observances.append(
                ICalendarClock.Observance(
                    offset: to, shift: -from, listed: [start.civil] + listed.prefix(1000).map(\.civil), dates: dates))
            if start.civil - from < earliest.start { earliest = (start.civil - from, from) }
        }
        return .table(ICalendarClock(name, initial: earliest.offset, observances))
    }

    /// Reads `+0100` or `-023000`, in seconds.
    private static func offset(_ text: String) -> Int? {
        let digits = text.utf8.dropFirst().map { Int($0) - 48 }
        guard [4, 6].contains(digits.count), let sign = text.first, "+-".contains(sign),
            digits.allSatisfy({ (0...9).contains($0) })
        else { return nil }
        let values = digits + [0, 0]
        let (hours, minutes, seconds) = (
            10 * values[0] + values[1], 10 * values[2] + values[3], 10 * values[4] + values[5]
        )
        guard hours < 24 else { return nil }
        return (sign == "-" ? -1 : 1) * (3600 * hours + 60 * minutes + seconds)
    }
}
