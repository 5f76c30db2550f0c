// SPDX-License-Identifier: Apache-2.0
import CIcal
import Glibc
import Synchronization

/// The clocks of the zones that a calendar names: from its own definitions (RFC 5545 §3.6.5), else from the system's table by name.
final class ICalendarZones {
    private enum Clock {
        case utc
        /// The clock of this machine.
        case local
        case table(OpaquePointer)
    }

    /// libical's tables are shared by all threads and filled when a zone is first asked for.
    static let mutex = Mutex(())

    /// Names that were found nowhere; their times are read by the clock of the person.
    private(set) var unknown: Set<String> = []
    private let definitions: [String: ICalendarComponent]
    private var home = Clock.local
    private var clocks: [String: Clock] = [:]
    private var owned: [OpaquePointer] = []

    /// - Parameter home: the zone of the person; nil for that of this machine.
    init(_ definitions: [String: ICalendarComponent], home: String?) {
        self.definitions = definitions
        if let home { self.home = clock(home) }
    }

    deinit { for zone in owned { icaltimezone_free(zone, 1) } }

    /// Returns whether the system's table has a zone.
    static func isKnown(_ name: String) -> Bool { mutex.withLock { _ in system(name) != nil } }

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
        let found = definitions[name].flatMap(defined) ?? ICalendarZones.system(name)
        if found == nil { unknown.insert(name) }
        clocks[name] = found ?? home
        return found ?? home
    }

    private func offset(of clock: Clock, at utc: Int) -> Int {
        var utc = utc
        switch clock {
        case .utc: return 0
        case .local:
            var fields = tm()
            return localtime_r(&utc, &fields) == nil ? 0 : fields.tm_gmtoff
        case .table(let zone):
            var time = icaltime_from_timet_with_zone(utc, 0, icaltimezone_get_utc_timezone())
            var isDaylight: CInt = 0
            return Int(icaltimezone_get_utc_offset_of_utc_time(zone, &time, &isDaylight))
        }
    }

    /// Finds a zone by name. Some programs put their own before it: `/example.org/20260101_1/Europe/Berlin`.
    private static func system(_ name: String) -> Clock? {
        let parts = name.split(separator: "/")
        guard parts.count < 16, name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "/_+-.".utf8.contains($0) }) else {
            return nil
        }
        for length in stride(from: min(3, parts.count), through: 1, by: -1) {
            let name = parts.suffix(length).joined(separator: "/")
            if ["UTC", "GMT", "Etc/UTC", "Etc/GMT"].contains(name) { return .utc }
            if let zone = icaltimezone_get_builtin_timezone(name) { return .table(zone) }
        }
        return nil
    }

    /// Reads a definition; nil for one that is not complete or that has more than a few changes in a year.
    private func defined(_ component: ICalendarComponent) -> Clock? {
        var lines = ["BEGIN:VTIMEZONE", "TZID:X"]
        let parts = component.children.filter { ["STANDARD", "DAYLIGHT"].contains($0.name) }
        guard !parts.isEmpty, parts.count <= 1000 else { return nil }
        for part in parts {
            guard let start = part["DTSTART"].flatMap(ICalendarTime.init), !start.isDate,
                let from = part["TZOFFSETFROM"]?.value, let to = part["TZOFFSETTO"]?.value,
                [from, to].allSatisfy(ICalendarZones.isOffset)
            else { return nil }
            let rules = part.all("RRULE").map(\.value)
            guard rules.count <= 1, rules.allSatisfy({ ICalendarRule($0)?.isForZone == true }) else { return nil }
            let dates = part.all("RDATE").flatMap { $0.value.split(separator: ",") }.compactMap { ICalendarTime($0) }
            lines += ["BEGIN:\(part.name)", "DTSTART:\(start.basic)", "TZOFFSETFROM:\(from)", "TZOFFSETTO:\(to)"]
            lines += rules.map { "RRULE:\($0)" } + dates.prefix(1000).map { "RDATE:\($0.basic)" } + ["END:\(part.name)"]
        }
        lines.append("END:VTIMEZONE\r\n")
        guard let parsed = icalcomponent_new_from_string(lines.joined(separator: "\r\n")) else { return nil }
        guard let zone = icaltimezone_new(), icaltimezone_set_component(zone, parsed) == 1 else {
            icalcomponent_free(parsed)
            return nil
        }
        owned.append(zone)
        return .table(zone)
    }

    /// `+0100`, `-023000`.
    private static func isOffset(_ text: String) -> Bool {
        let digits = text.dropFirst()
        return [4, 6].contains(digits.utf8.count) && "+-".contains(text.first ?? " ")
            && digits.utf8.allSatisfy(\.isDigit)
            && (Int(digits.prefix(2)) ?? 99) < 24
    }
}
