// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads an IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Nil if it is none.
    public init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = Int(parts[1]),
            let month = Timestamp.months.firstIndex(of: String(parts[2])), let year = Int(parts[3])
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3,
            let time = CivilDate(
                year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2]
            ).timestamp
        else { return nil }
        self = time
    }
}

extension ResponseHeaders {
    /// Retry-After (RFC 9110 §10.2.3), in seconds or as a date; nil when it is absent, negative, past or garbage.
    public func retryAfter(at now: Timestamp) -> Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) { return seconds > 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        // Digits beyond Int64 are still "very long".
        if !text.isEmpty, text.allSatisfy(\.isWholeNumber) { return .seconds(1 << 31) }
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
