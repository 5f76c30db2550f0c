// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads an HTTP date in each of the three forms of RFC 9110 §5.6.7, and in Netscape's, which many cookies have:
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT
    ///     Sunday, 06-Nov-94 08:49:37 GMT
    ///     Sun Nov  6 08:49:37 1994
    ///     Sun, 06-Nov-1994 08:49:37 GMT
    ///
    /// Returns nil for other text. The name of the day is not checked.
    ///
    /// - Parameter now: tells which century a year of two digits is in: one that seems more than 50 years ahead is past.
    public init?(httpDate text: String, now: Timestamp) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let date: (day: Substring, month: Substring, year: Substring, clock: Substring)
        switch words.count {
        // asctime pads the day with a blank, which splits into an empty word.
        case 6 where words[2].isEmpty && words[3].utf8.count == 1: date = ("0" + words[3], words[1], words[5], words[4])
        case 5: date = (words[2], words[1], words[4], words[3])
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT": date = (words[1], words[2], words[3], words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            date = (parts[0], parts[1], parts[2], words[2])
        default: return nil
        }
        let clock = date.clock.split(separator: ":", omittingEmptySubsequences: false)
        guard let month = Timestamp.months.firstIndex(of: String(date.month)), clock.count == 3,
            let day = Timestamp.number(date.day, digits: 2), let hour = Timestamp.number(clock[0], digits: 2),
            let minute = Timestamp.number(clock[1], digits: 2), let second = Timestamp.number(clock[2], digits: 2)
        else { return nil }
        func time(in year: Int) -> Timestamp? {
            CivilDate(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second).timestamp
        }
        var result = Timestamp.number(date.year, digits: 4).flatMap(time)
        if words.count == 4, let year = Timestamp.number(date.year, digits: 2) {
            let horizon = now.advanced(by: .seconds(Timestamp.fiftyYears))
            result = [2000 + year, 1900 + year].lazy.compactMap(time).first { $0 <= horizon }
        }
        guard let result else { return nil }
        self = result
    }

    /// In seconds, of 365.2425 days each.
    private static let fiftyYears: Int64 = 1_577_847_600

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
