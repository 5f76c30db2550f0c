// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts messages that could not be shown for more than an hour, for instance overnight without a desktop: one notification
/// summarises them, since a notification for each would be a stack of old news.
struct MissedSummary: Sendable, Hashable {
    /// Older messages go into the summary.
    static let ageLimit = Duration.seconds(3600)
    private static let namesShown = 5

    private var (count, failureCount) = (0, 0)
    /// The titles of the last failures.
    private var failures: [String] = []
    /// The titles of the last other messages.
    private var others: [String] = []

    mutating func add(_ title: String, isFailure: Bool) {
        count += 1
        if isFailure {
            failureCount += 1
            failures = (failures + [title]).suffix(MissedSummary.namesShown)
        } else {
            others = (others + [title]).suffix(MissedSummary.namesShown)
        }
    }

    /// Failures come first: the rest may no longer matter.
    var notification: DesktopNotification {
        let names = failures + others.suffix(MissedSummary.namesShown - failures.count)
        let (more, failed) = (count - names.count, failureCount == 0 ? "" : ", \(counted(failureCount, "failure"))")
        return DesktopNotification(
            key: .missed, title: counted(count, "older message") + failed,
            body: (names + (more > 0 ? ["and \(more) before"] : [])).joined(separator: "\n"),
            category: "x-vedette.missed")
    }
}

extension Message {
    /// The time at which its rule made it: the first 48 bits of its id (RFC 9562 §5.7), which survive a restart. The event's
    /// time would not do: a rule may hold a message for hours.
    var created: Timestamp {
        let digits = id.dropFirst(Message.idPrefix.count).prefix(13).filter { $0 != "-" }
        guard digits.allSatisfy(\.isHexDigit), digits.utf8.count == 12, let milliseconds = Int64(digits, radix: 16)
        else { return event.time }
        return Timestamp(milliseconds: milliseconds)
    }

    /// Whether it tells that something does not work, by its event or by the priority that its rule gives it.
    var isFailure: Bool {
        switch event.summary?.cause ?? event.kind {
        case .failing, .stale, .suspect, .offline, .unequal, .paused, .disabled, .ruleFailed: true
        default: priority == .high
        }
    }

    func isMissed(at now: Timestamp) -> Bool { created.advanced(by: MissedSummary.ageLimit) < now }
}
