// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The date of a cookie, as RFC 6265 §5.1.1 reads it: its parts in any order, whatever stands between and behind them.
struct CookieDate {
    private static let months: [String] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private var clock: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    /// Nil for a text that is no date.
    static func timestamp(_ text: String) -> Timestamp? {
        var date = CookieDate()
        for token in Array(text.utf8).split(whereSeparator: isDelimiter) { date.take(token) }
        guard let clock = date.clock, let day = date.day, let month = date.month, let year = date.year, year >= 1601,
            clock.second < 60
        else { return nil }
        let civil = CivilDate(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
        return civil.timestamp
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Takes a token for the first part that it fits and that is still missing.
    private mutating func take(_ token: ArraySlice<UInt8>) {
        if clock == nil, let time = CookieDate.clock(token) {
            clock = time
        } else if day == nil, let number = CookieDate.number(token, digits: 1...2) {
            day = number
        } else if month == nil, let number = CookieDate.month(token) {
            month = number
        } else if year == nil, let number = CookieDate.number(token, digits: 2...4) {
            year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
        }
    }

    private static func clock(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[..<2].allSatisfy({ $0.allSatisfy(isDigit) }),
            let hour = number(parts[0], digits: 1...2), let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return months.firstIndex(of: name).map { $0 + 1 }
    }

    /// Returns the number that a token begins with; nil where it has more or fewer digits.
    private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix(while: isDigit)
        return digits.contains(found.count) ? found.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
