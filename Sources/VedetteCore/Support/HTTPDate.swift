// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads an IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. The day's name is not checked; the obsolete
    /// forms are refused. Nil if it is none.
    public init?(httpDate text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let month = Timestamp.months.firstIndex(of: String(words[2])),
            let day = Timestamp.number(words[1], digits: 2), let year = Timestamp.number(words[3], digits: 4)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = Timestamp.number(clock[0], digits: 2),
            let minute = Timestamp.number(clock[1], digits: 2), let second = Timestamp.number(clock[2], digits: 2),
            let time = CivilDate(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
                .timestamp
        else { return nil }
        self = time
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
