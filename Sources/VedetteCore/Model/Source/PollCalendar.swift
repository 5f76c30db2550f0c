// SPDX-License-Identifier: Apache-2.0

/// When a source is polled by the calendar: at times of the day, or at its interval in windows alone.
public struct PollCalendar: Sendable {
    /// Which of the two.
    public enum Plan: Sendable, Hashable {
        /// At these times. What a poll leaves open is polled again at the interval.
        case at([PollTime])
        /// At the interval in these windows. Outside of them nothing is polled, and the clocks of health stand still.
        case during([CivilWindow])
    }

    /// Which of the two.
    public let plan: Plan
    private let civil: any CivilTime

    /// Creates a calendar.
    /// - Parameter civil: reads the local time.
    public init(_ plan: Plan, _ civil: any CivilTime) { (self.plan, self.civil) = (plan, civil) }

    /// The longest part of a window's begin over which the polls that waited for it are spread.
    public static let longestSpread = Duration.seconds(30)
    /// A poll so shortly before a time is the poll of that time: clocks that are corrected move less.
    private static let tolerance = Duration.seconds(1)
    /// How far ahead a poll is that never comes: every window has ended.
    private static let never = Duration.seconds(3650 * 86_400)
    /// How many windows are counted through. Whoever did not answer in so many is stale.
    private static let mostWindows = 100

    // MARK: Due times

    /// Returns when the poll after a poll is due.
    /// - Parameters:
    ///   - usual: when the interval or the backoff asks for it.
    ///   - isOpen: whether the last poll left something open: a failure, an absence, an empty list, a transition.
    ///   - spread: how much later than a window's begin a poll is that waited for it.
    public func due(_ usual: Timestamp, after last: Timestamp, isOpen: Bool, spread: Duration) -> Timestamp {
        switch plan {
        case .at:
            let next = next(after: last)
            return isOpen ? min(usual, next) : next
        case .during:
            let opening = opening(usual)
            return opening == usual ? usual : opening.advanced(by: min(spread, PollCalendar.longestSpread))
        }
    }

    /// Returns when a poll is due whose due time was stored: a time that passed without a poll is due still, and no time is
    /// later than the calendar explains.
    /// - Parameters:
    ///   - last: the last poll; nil before the first.
    ///   - limit: the latest time that the interval explains.
    public func due(stored: Timestamp, after last: Timestamp?, limit: Timestamp) -> Timestamp {
        switch plan {
        case .at: last.map { min(stored, next(after: $0)) } ?? stored
        case .during: min(opening(stored), opening(limit).advanced(by: PollCalendar.longestSpread))
        }
    }

    /// Returns whether the source may be polled now.
    public func allowsPoll(at now: Timestamp) -> Bool {
        guard case .during(let windows) = plan else { return true }
        return windows.contains { $0.end(of: now, civil) != nil }
    }

    /// Returns the first time, not before this one, at which the source may be polled.
    public func opening(_ time: Timestamp) -> Timestamp {
        knownOpening(time) ?? time.advanced(by: PollCalendar.never)
    }

    /// Returns the same; nil when every window has ended.
    public func knownOpening(_ time: Timestamp) -> Timestamp? {
        guard case .during(let windows) = plan, !allowsPoll(at: time) else { return time }
        return windows.compactMap { $0.start(after: time, civil) }.min()
    }

    /// Returns the first poll that the calendar asks for after a poll.
    public func next(after last: Timestamp) -> Timestamp {
        guard case .at(let times) = plan else { return opening(last) }
        let last = last.advanced(by: PollCalendar.tolerance)
        return times.map { $0.time.next(after: last, days: $0.days, civil) }.min()
            ?? last.advanced(by: PollCalendar.never)
    }

    // MARK: Clocks that stand still

    /// Returns when so much time has passed since a time, counted in windows alone.
    public func deadline(_ duration: Duration, since start: Timestamp) -> Timestamp {
        guard case .during(let windows) = plan else { return start.advanced(by: duration) }
        var (now, left) = (start, duration)
        for _ in 0..<PollCalendar.mostWindows {
            let begin = opening(now)
            guard let end = windows.compactMap({ $0.end(of: begin, civil) }).max() else { return begin }
            let length = Duration.milliseconds(end.milliseconds - begin.milliseconds)
            if left <= length { return begin.advanced(by: left) }
            (now, left) = (end, left - length)
        }
        return now
    }
}

extension PollCalendar: Hashable {
    public static func == (a: PollCalendar, b: PollCalendar) -> Bool { a.plan == b.plan }
    public func hash(into hasher: inout Hasher) { hasher.combine(plan) }
}

/// The form in which several watchers compare their configurations: the same in each process, which the order of a set is
/// not.
extension PollCalendar: CustomStringConvertible {
    public var description: String {
        switch plan {
        case .at(let times): "at " + times.map(\.text).joined(separator: ", ")
        case .during(let windows): "during " + windows.map(PollCalendar.text).joined(separator: ", ")
        }
    }

    /// `at mon-fri 08:00`, `during office`
    public var text: String {
        guard case .during(let windows) = plan else { return description }
        var names: [String] = []
        for window in windows where !names.contains(window.name) { names.append(window.name) }
        return "during " + names.joined(separator: ", ")
    }

    /// Returns when a source is polled: `every 60s`, `at mon-fri 08:00`, `every 60s during office`.
    public static func text(_ calendar: PollCalendar?, every: String) -> String {
        guard let calendar else { return "every \(every)" }
        if case .at = calendar.plan { return calendar.text }
        return "every \(every) \(calendar.text)"
    }

    private static func text(_ window: CivilWindow) -> String {
        let bounds = [window.from, window.until].map { $0.map { "\($0.day):\($0.minutes)" } ?? "" }
        return "\(window.name) \(window.start.minutes)-\(window.end.minutes) \(window.days.sorted()) "
            + "\(bounds) \(window.dates ?? []) \(window.zone ?? "")"
    }
}

/// A time at which a source is polled, on some days.
public struct PollTime: Sendable, Hashable {
    /// The time of the day, with its zone.
    public var time: CivilTimeOfDay
    /// The days of the week, 1 for Monday to 7 for Sunday; empty for all.
    public var days: Set<Int>
    /// The form in which the configuration has it.
    public var text: String

    /// Creates a time.
    public init(_ time: CivilTimeOfDay, days: Set<Int> = [], text: String) {
        (self.time, self.days, self.text) = (time, days, text)
    }
}
