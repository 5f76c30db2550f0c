// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The dates of feeds: RFC 3339 in Atom and Dublin Core, RFC 822 with its two-digit years and zone names in RSS.
enum FeedDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    /// Minutes east of UTC (RFC 822 §5.1).
    private static let zones = [
        "gmt": 0, "ut": 0, "utc": 0, "z": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420,
        "mdt": -360, "pst": -480, "pdt": -420, "cet": 60, "cest": 120, "bst": 60,
    ]

    static func parse(_ text: String) -> Timestamp? {
        let text = text.trimmed()
        return Timestamp(rfc3339: text) ?? isoWithoutTime(text) ?? rfc822(text)
    }

    /// `2026-11-21`, or a time without its seconds or zone, which is taken as UTC.
    private static func isoWithoutTime(_ text: String) -> Timestamp? {
        guard text.count >= 10, text.count <= 24, text.dropFirst(4).first == "-" else { return nil }
        return ["T00:00:00Z", ":00Z", "Z"].lazy.compactMap { Timestamp(rfc3339: text + $0) }.first
            ?? (text.hasSuffix("Z") ? Timestamp(rfc3339: text.dropLast() + ":00Z") : nil)
    }

    private static func rfc822(_ text: String) -> Timestamp? {
        var words = text.split { $0.isWhitespace || $0 == "," }.map { $0.lowercased() }
        if let first = words.first, first.allSatisfy(\.isLetter) { words.removeFirst() }
        guard words.count >= 3, let day = Int(words[0]), let year = Int(words[2]),
            let month = months.firstIndex(where: { words[1].hasPrefix($0) })
        else { return nil }
        let clock = words.count > 3 ? words[3].split(separator: ":").compactMap { Int($0) } : [0, 0]
        guard clock.count >= 2, let offset = words.count > 4 ? zone(words[4]) : 0 else { return nil }
        // RFC 2822 §4.3: 00 to 49 are of this century, 50 to 999 of the last.
        let fullYear = year < 50 ? 2000 + year : year < 1000 ? 1900 + year : year
        let date = CivilDate(
            year: fullYear, month: month + 1, day: day, hour: clock[0], minute: clock[1],
            second: clock.count > 2 ? clock[2] : 0)
        return date.timestamp.map { Timestamp(milliseconds: $0.milliseconds - Int64(offset) * 60_000) }
    }

    private static func zone(_ text: String) -> Int? {
        if let minutes = zones[text] { return minutes }
        let digits = text.filter { $0 != ":" }
        guard digits.count == 5, let number = Int(digits.dropFirst()), let sign = digits.first, "+-".contains(sign)
        else { return text.allSatisfy(\.isLetter) ? 0 : nil }
        let minutes = number / 100 * 60 + number % 100
        return sign == "-" ? -minutes : minutes
    }
}
