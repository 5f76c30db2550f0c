// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides which lines the log gets about attempts. That a sink fails and that it takes messages again are logged once, when
/// they happen; what stops it or ends a message, always.
struct DeliveryLog {
    struct Line: Equatable {
        var level: LogLevel
        var text: String
    }

    /// Sinks whose last attempt is to be repeated, and the time of the first failure in a row.
    private var failing: [String: Timestamp] = [:]

    /// Returns the line about an attempt of the message.
    mutating func line(of attempt: Attempt, _ message: Message) -> Line {
        let sink = message.sink
        guard let reason = attempt.reason else {
            guard let since = failing.removeValue(forKey: sink) else {
                return Line(level: .debug, text: "\(sink): \(attempt.state.rawValue): \(message.title)")
            }
            let length = MessageFormatter.duration(seconds: max(0, attempt.at.seconds(since: since)))
            return Line(level: .notice, text: "\(sink): takes messages again after \(length)")
        }
        guard attempt.state == .retry else {
            failing[sink] = nil
            return Line(level: .warning, text: "\(sink): \(attempt.state.rawValue): \(reason)")
        }
        let isKnown = failing[sink] != nil
        if !isKnown { failing[sink] = attempt.at }
        return Line(level: isKnown ? .debug : .warning, text: "\(sink): failed, and will be retried: \(reason)")
    }
}
