// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the dates of feeds, in whatever form they are written, as UTC: RFC 822 and 2822 with their two-digit years and zone names,
/// ISO 8601 and W3CDTF with parts missing, asctime, seconds or milliseconds since 1970, and month names of other languages.
///
/// A time without a zone is taken as UTC. A text that may mean two days (`03/04/2026`) is refused.
struct FeedDate {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var at = 0
    private var year: Int?
    private var month: Int?
    private var day: Int?
    private var clock: Clock?
    private var zone: Int?
    private var zoneIsNumber = false
    private var lastWord: UInt64 = 0
    private var hasOtherWords = false
    /// Years are counted from an emperor's first.
    private var isOfEra = false

    private struct Clock {
        var hour = 0
        var minute = 0
        var second = 0
        var millisecond = 0
    }

    static func parse(_ text: String) -> Timestamp? {
        var text = text
        return text.withUTF8 { parse($0) }
    }

    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        // No date is longer.
        guard bytes.count <= 100 else { return nil }
        var date = FeedDate(bytes: bytes)
        return date.epoch() ?? date.read()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads seconds since 1970 with an optional fraction, or milliseconds; their length distinguishes them from `20261121`.
    private func epoch() -> Timestamp? {
        let text = bytes.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
        let whole = text.prefix(while: FeedDate.isDigit)
        let rest = text.dropFirst(whole.count)
        guard [9, 10, 13].contains(whole.count), rest.isEmpty || rest.first == UInt8(ascii: ".") else { return nil }
        let number = whole.reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
        return Timestamp(milliseconds: whole.count > 10 ? number : number * 1000)
    }

    private mutating func read() -> Timestamp? {
        while at < bytes.count {
            let byte = bytes[at]
            if FeedDate.isDigit(byte) {
                guard number() else { return nil }
            } else if clock != nil, bytes[at...].starts(with: "\u{2212}".utf8) {
                // The minus sign, which ISO 8601 has beside the hyphen.
                at += 2
                offset()
            } else if byte >= 0x80 || FeedDate.isLetter(byte) {
                word()
            } else if byte == UInt8(ascii: "+") && day != nil || byte == UInt8(ascii: "-") && clock != nil {
                offset()
            } else {
                at += 1
            }
        }
        return timestamp
    }

    private var timestamp: Timestamp? {
        // `2026` and `2026-11` are dates; a year beside words, such as `spring 2026`, is not.
        guard !isOfEra, let year, let month = month ?? (day == nil && !hasOtherWords ? 1 : nil) else { return nil }
        let clock = clock ?? Clock()
        // ISO 8601 ends a day at 24:00, which is the next day's 00:00.
        let endsDay = clock.hour == 24 && clock.minute == 0 && clock.second == 0
        let date = CivilDate(
            year: year, month: month, day: day ?? 1, hour: endsDay ? 0 : clock.hour, minute: clock.minute,
            second: clock.second, millisecond: clock.millisecond)
        guard let time = date.timestamp else { return nil }
        return Timestamp(milliseconds: time.milliseconds + (endsDay ? 86_400_000 : 0) - Int64(zone ?? 0) * 60_000)
    }

    // MARK: Numbers

    private mutating func digits() -> (value: Int, count: Int) {
        var (value, count) = (0, 0)
        while at < bytes.count, FeedDate.isDigit(bytes[at]), count < 18 {
            value = value * 10 + Int(bytes[at] - 48)
            (at, count) = (at + 1, count + 1)
        }
        return (value, count)
    }

    private func next(_ character: Unicode.Scalar, _ ahead: Int = 0) -> Bool {
        at + ahead < bytes.count && bytes[at + ahead] == UInt8(ascii: character)
    }

    private func nextIsDigit(_ ahead: Int = 0) -> Bool {
        at + ahead < bytes.count && FeedDate.isDigit(bytes[at + ahead])
    }

    private mutating func number() -> Bool {
        let (value, count) = digits()
        if next(":") && clock == nil && count <= 2 { return time(hour: value) }
        switch count {
        case 4 where year == nil && (next("-") || next("/") || next(".")) && nextIsDigit(1): return isoDate(value)
        case 8 where year == nil: (year, month, day) = (value / 10_000, value / 100 % 100, value % 100)
        case 14 where year == nil:
            (year, month, day) = (value / 10_000_000_000, value / 100_000_000 % 100, value / 1_000_000 % 100)
            clock = Clock(hour: value / 10_000 % 100, minute: value / 100 % 100, second: value % 100)
        case 2 where day != nil && clock == nil && lastWord == FeedDateNames.t: clock = Clock(hour: value)
        case 4 where day != nil && clock == nil && lastWord == FeedDateNames.t: compactTime(value, count)
        case 6 where day != nil && clock == nil && lastWord == FeedDateNames.t: compactTime(value, count)
        case 1...2 where (next(".") || next("/") || next("-")) && nextIsDigit(1) && day == nil && month == nil:
            return numericDate(value)
        case 1...2 where day == nil: day = value
        case 2 where year == nil: year = value < 50 ? 2000 + value : 1900 + value
        // RFC 2822 §4.3: three digits count from 1900.
        case 3 where year == nil && day != nil: year = 1900 + value
        case 4 where year == nil: year = value
        default: return clock != nil
        }
        return true
    }

    /// Reads the rest of `2026-11-21`, `2026/11/21` or `2026-11` after the year.
    private mutating func isoDate(_ year: Int) -> Bool {
        self.year = year
        at += 1
        let (month, count) = digits()
        self.month = month
        guard count <= 2 else { return false }
        guard next("-") || next("/") || next("."), nextIsDigit(1) else { return true }
        at += 1
        let (day, digitsOfDay) = digits()
        self.day = day
        return digitsOfDay <= 2
    }

    /// Reads a numeric date. `21.11.2026` has the day first; with `/` and `-` only a number above 12 shows which is the day.
    private mutating func numericDate(_ first: Int) -> Bool {
        let isDotted = next(".")
        at += 1
        let (second, _) = digits()
        guard next(".") || next("/") || next("-") else { return false }
        at += 1
        let (last, count) = digits()
        guard count == 4 || count == 2, isDotted || first > 12 || second > 12 || first == second else { return false }
        let dayIsFirst = isDotted || first > 12
        (day, month) = dayIsFirst ? (first, second) : (second, first)
        year = count == 4 ? last : last < 50 ? 2000 + last : 1900 + last
        return true
    }

    // MARK: Time of day and zone

    private mutating func time(hour: Int) -> Bool {
        var clock = Clock(hour: hour)
        at += 1
        clock.minute = digits().value
        if next(":"), nextIsDigit(1) {
            at += 1
            clock.second = digits().value
        }
        fraction(&clock)
        self.clock = clock
        return true
    }

    private mutating func compactTime(_ value: Int, _ count: Int) {
        var clock =
            count == 4
            ? Clock(hour: value / 100, minute: value % 100)
            : Clock(hour: value / 10_000, minute: value / 100 % 100, second: value % 100)
        fraction(&clock)
        self.clock = clock
    }

    private mutating func fraction(_ clock: inout Clock) {
        guard next(".") || next(","), nextIsDigit(1) else { return }
        at += 1
        var scale = 100
        while nextIsDigit() {
            clock.millisecond += Int(bytes[at] - 48) * scale
            (scale, at) = (scale / 10, at + 1)
        }
    }

    /// Reads `+0200`, `-05:30` or `+2`; anything else is a dash between words.
    private mutating func offset() {
        let sign = bytes[at] == UInt8(ascii: "+") ? 1 : -1
        at += 1
        guard nextIsDigit(), !zoneIsNumber else { return }
        let (value, count) = digits()
        var minutes = count <= 2 ? value * 60 : value / 100 * 60 + value % 100
        if count <= 2, next(":"), nextIsDigit(1) {
            at += 1
            minutes += digits().value
        }
        // `21:00 -2026` is asctime with a dash.
        guard minutes <= 14 * 60 else {
            if year == nil, count == 4 { year = value }
            return
        }
        (zone, zoneIsNumber) = (sign * minutes, true)
    }

    // MARK: Words

    private mutating func word() {
        let start = at
        var word: UInt64 = 0
        var isShort = true
        while at < bytes.count, bytes[at] >= 0x80 || FeedDate.isLetter(bytes[at]) {
            // Years, months and days in Chinese and Japanese follow their numbers without a space.
            if at > start, at - start >= 3, bytes[start] >= 0xE3 { break }
            isShort = at - start < 8
            word = word << 8 | UInt64(bytes[at] < 0x80 ? bytes[at] | 0x20 : bytes[at])
            at += 1
        }
        let name = isShort ? word : 0
        lastWord = name
        if let half = FeedDateNames.halves[name], let hour = clock?.hour, (1...12).contains(hour) {
            clock?.hour = hour % 12 + half
        } else if clock != nil, zone == nil, let minutes = FeedDateNames.zones[name] {
            zone = minutes
        } else if ideographs(name) {
            return
        } else if year == nil, FeedDateNames.eras.contains(name) {
            isOfEra = true
        } else if year == nil || month == nil, let number = FeedDateNames.month(bytes[start..<at]) {
            // A weekday of one language is a month of another (`mar, 24 nov`): the last one before the year counts.
            month = number
            // `21-Nov-2026`: the dash is no sign.
            if next("-") || next("/") { at += 1 }
        } else if name != FeedDateNames.t {
            hasOtherWords = true
        }
    }

    /// Reads `2026年11月21日`, where each word names the number before it.
    private mutating func ideographs(_ name: UInt64) -> Bool {
        guard month == nil, name == FeedDateNames.monthSign || name == FeedDateNames.monthSignKorean else {
            return false
        }
        (month, day) = (day, nil)
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
    private static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A }
}
