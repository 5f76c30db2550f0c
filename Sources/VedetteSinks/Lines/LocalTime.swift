// SPDX-License-Identifier: Apache-2.0

import Glibc
public import VedetteCore

/// Formats times for people, in the time zone of this machine.
public enum LocalTime {
    /// Returns `10:42:07` on the day of `now`, else `2026-11-21 10:42:07`.
    public static func text(_ time: Timestamp, now: Timestamp) -> String {
        let (then, today) = (moment(time), moment(now))
        return then.date == today.date ? then.clock : "\(then.date) \(then.clock)"
    }

    /// A time on the local clock.
    public struct Moment: Sendable, Hashable {
        /// `2026-11-21`.
        public var date: String
        /// `10:42:07`.
        public var clock: String
        /// `Sat`.
        public var weekday: String

        /// Creates a moment.
        public init(date: String, clock: String, weekday: String) {
            (self.date, self.clock, self.weekday) = (date, clock, weekday)
        }
    }

    /// Returns a time on the local clock.
    public static func moment(_ time: Timestamp) -> Moment {
        let parts = parts(time)
        let date = String(parts.tm_year + 1900) + "-" + pad(parts.tm_mon + 1) + "-" + pad(parts.tm_mday)
        let clock = pad(parts.tm_hour) + ":" + pad(parts.tm_min) + ":" + pad(parts.tm_sec)
        return Moment(date: date, clock: clock, weekday: weekdays[Int(parts.tm_wday)])
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Returns a sentence with its RFC 3339 times on the clock of this machine: reasons and silences have them in UTC.
    public static func localized(_ sentence: String, now: Timestamp) -> String {
        // A time has 20 to 24 characters and ends with a Z.
        var (out, rest) = ("", sentence[...])
        while let dash = rest.firstIndex(of: "-") {
            let start = rest.index(dash, offsetBy: -4, limitedBy: rest.startIndex) ?? dash
            if let end = rest[dash...].prefix(21).firstIndex(of: "Z"), start < dash,
                let time = Timestamp(rfc3339: rest[start...end])
            {
                out += rest[..<start] + text(time, now: now)
                rest = rest[rest.index(after: end)...]
            } else {
                out += rest[...dash]
                rest = rest[rest.index(after: dash)...]
            }
        }
        return out + rest
    }

    /// Returns the first moment of the day on the clock of this machine.
    public static func startOfDay(of time: Timestamp) -> Timestamp {
        var day = parts(time)
        (day.tm_hour, day.tm_min, day.tm_sec, day.tm_isdst) = (0, 0, 0, -1)
        return Timestamp(milliseconds: Int64(mktime(&day)) * 1000)
    }

    private static func parts(_ time: Timestamp) -> tm {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    /// `tail` formats the times of thousands of events.
    private static func pad(_ number: CInt) -> String { pairs[Int(number)] }

    private static let pairs = (0..<100).map { $0 < 10 ? "0\($0)" : "\($0)" }
}
