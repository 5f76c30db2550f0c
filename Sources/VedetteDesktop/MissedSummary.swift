// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What could not be shown for more than an hour, for instance overnight without a desktop: a bubble for each would be
/// a stack of old news, so one bubble counts them.
struct MissedSummary: Sendable, Hashable {
    static let patience = Duration.seconds(3600)
    private static let namesShown = 5

    private var count = 0
    private var names: [String] = []

    mutating func add(_ title: String) {
        count += 1
        names = (names + [title]).suffix(MissedSummary.namesShown)
    }

    var bubble: DesktopNotification {
        let more = count - names.count
        return DesktopNotification(
            key: .missed, title: "\(count) older message\(count == 1 ? "" : "s")",
            body: (names + (more > 0 ? ["and \(more) before"] : [])).joined(separator: "\n"),
            category: "x-vedette.missed")
    }
}

extension Message {
    /// When its rule spoke: the first 48 bits of its id (RFC 9562 §5.7). That outlives a restart, and the event's time
    /// would not do: a rule may wait for hours, through the night for instance, before it speaks of it.
    var created: Timestamp {
        let digits = id.dropFirst("msg_".count).prefix(13).filter { $0 != "-" }
        guard digits.allSatisfy(\.isHexDigit), digits.utf8.count == 12, let milliseconds = Int64(digits, radix: 16)
        else { return event.time }
        return Timestamp(milliseconds: milliseconds)
    }

    func isOldNews(at now: Timestamp) -> Bool { created.advanced(by: MissedSummary.patience) < now }
}
