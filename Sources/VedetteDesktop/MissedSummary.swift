// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts messages that could not be shown for more than an hour, for instance overnight without a desktop: one notification
/// summarises them, since a notification for each would be a stack of old news.
struct MissedSummary: Sendable, Hashable {
    /// Older messages go into the summary.
    static let ageLimit = Duration.seconds(3600)
    private static let namesShown = 5

    private var count = 0
    private var names: [String] = []

    mutating func add(_ title: String) {
        count += 1
        names = (names + [title]).suffix(MissedSummary.namesShown)
    }

    var notification: DesktopNotification {
        let more = count - names.count
        return DesktopNotification(
            key: .missed, title: "\(count) older message\(count == 1 ? "" : "s")",
            body: (names + (more > 0 ? ["and \(more) before"] : [])).joined(separator: "\n"),
            category: "x-vedette.missed")
    }
}

extension Message {
    /// The time at which its rule made it: the first 48 bits of its id (RFC 9562 §5.7), which survive a restart. The event's
    /// time would not do: a rule may hold a message for hours.
    var created: Timestamp {
        let digits = id.dropFirst("msg_".count).prefix(13).filter { $0 != "-" }
        guard digits.allSatisfy(\.isHexDigit), digits.utf8.count == 12, let milliseconds = Int64(digits, radix: 16)
        else { return event.time }
        return Timestamp(milliseconds: milliseconds)
    }

    func isMissed(at now: Timestamp) -> Bool { created.advanced(by: MissedSummary.ageLimit) < now }
}
