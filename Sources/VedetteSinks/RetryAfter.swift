// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A receiver's wish to be left alone (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// Nobody is obeyed longer: a receiver cannot park a delivery for ever.
    public static let longest = Duration.seconds(3600)

    /// Reads seconds or an IMF-fixdate; nil when it is neither or lies in the past. Never more than `longest`.
    public static func duration(_ text: String, now: Timestamp) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return min(Int64(text).map { .seconds($0) } ?? longest, longest)
        }
        guard let date = Timestamp(imfFixdate: text), date > now else { return nil }
        return min(.milliseconds(date.milliseconds.addingClamped(-now.milliseconds)), longest)
    }
}

extension Timestamp {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7). The day's name is not checked; the obsolete forms are refused.
    init?(imfFixdate text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
            let month = Self.months.firstIndex(of: words[2]),
            let day = Self.number(words[1], digits: 2), let year = Self.number(words[3], digits: 4)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = Self.number(clock[0], digits: 2),
            let minute = Self.number(clock[1], digits: 2), let second = Self.number(clock[2], digits: 2),
            let time = CivilDate(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
                .timestamp
        else { return nil }
        self = time
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
