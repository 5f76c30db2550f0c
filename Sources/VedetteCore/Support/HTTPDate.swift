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

extension ResponseHeaders {
    /// Retry-After (RFC 9110 §10.2.3), in seconds or as a date; nil when it is absent, negative, past or garbage.
    public func retryAfter(at now: Timestamp) -> Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) { return seconds > 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        // Digits beyond Int64 are still "very long".
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return .seconds(1 << 31) }
        guard let date = Timestamp(httpDate: text), date > now else { return nil }
        return .milliseconds(date.milliseconds - now.milliseconds)
    }

    /// How long the response stays fresh: Cache-Control `max-age` less `Age` (RFC 9111 §4.2).
    public var freshFor: Duration? {
        guard let directives = self["Cache-Control"]?.lowercased() else { return nil }
        for directive in directives.split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, String(parts[0]).trimmed() == "max-age",
                let age = Int64(String(parts[1]).trimmed()), age > 0
            else { continue }
            let spent = self["Age"].flatMap { Int64($0) } ?? 0
            return .seconds(max(0, min(age, 1 << 31) - min(max(spent, 0), 1 << 31)))
        }
        return nil
    }

    public var validators: Validators {
        Validators(etag: self["ETag"], lastModified: self["Last-Modified"])
    }
}
