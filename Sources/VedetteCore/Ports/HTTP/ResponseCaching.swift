// SPDX-License-Identifier: Apache-2.0

extension ResponseHeaders {
    /// Returns Retry-After (RFC 9110 §10.2.3), given in seconds or as a date; nil when it is absent, negative, past or invalid.
    public func retryAfter(at now: Timestamp) -> Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) { return seconds > 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        // A number beyond Int64 still means a very long time.
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return .seconds(1 << 31) }
        guard let date = Timestamp(httpDate: text, now: now), date > now else { return nil }
        return .milliseconds(date.milliseconds - now.milliseconds)
    }

    /// How long the response stays fresh: `max-age` of Cache-Control minus `Age` (RFC 9111 §4.2).
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
}
