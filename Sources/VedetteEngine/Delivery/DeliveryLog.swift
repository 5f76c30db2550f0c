// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Chooses the line of the log for an attempt. Logs once when a sink begins to fail and once when it recovers. Logs every pause,
/// every dead message and every one that was refused and goes to a fallback.
struct DeliveryLog {
    struct Line: Equatable {
        var level: LogLevel
        var text: String
    }

    /// When each sink that fails began to.
    private var failing: [String: Timestamp] = [:]
    /// Sinks that took a message since this program started.
    private var proven: Set<String> = []

    /// Returns the line about an attempt of the message.
    /// - Parameter isDiverted: whether fallbacks get the messages of its sink, which is logged once for all of them.
    mutating func line(of attempt: Attempt, _ message: Message, isDiverted: Bool = false) -> Line {
        let sink = message.sink
        guard let reason = attempt.reason else {
            proven.insert(sink)
            guard let since = failing.removeValue(forKey: sink) else {
                return Line(level: .debug, text: "\(sink): \(attempt.state.rawValue): \(message.title)")
            }
            let length = DurationText.long(seconds: max(0, attempt.at.seconds(since: since)))
            return Line(level: .notice, text: "\(sink): takes messages again after \(length)")
        }
        guard attempt.state == .retry else {
            failing[sink] = nil
            let isKnown = isDiverted && attempt.state == .suppressed
            return Line(level: isKnown ? .debug : .warning, text: "\(sink): \(attempt.state.rawValue): \(reason)")
        }
        return Line(level: level(of: attempt, sink), text: "\(sink): failed, and will be retried: \(reason)")
    }

    private mutating func level(of attempt: Attempt, _ sink: String) -> LogLevel {
        if failing[sink] != nil { return .debug }
        // A receiver that refuses one message for days takes others meanwhile.
        if attempt.attempts > 1, proven.contains(sink) { return .info }
        failing[sink] = attempt.at
        return .warning
    }
}
