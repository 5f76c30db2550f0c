// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension DesktopNotification {
    /// Its raw value is the action's key on the bus.
    enum Button: String, Sendable, Hashable {
        case open, acknowledge, snooze, mute
        case muteEverywhere = "mute-everywhere"

        var label: String {
            switch self {
            case .open: "Open"
            case .acknowledge: "Acknowledge"
            case .snooze: "Snooze \(DurationText.long(seconds: Silence.usualLength.inSeconds))"
            case .mute: "Mute here"
            case .muteEverywhere: "Mute everywhere"
            }
        }
    }

    /// What a rule tells of: the subject of `Snooze 1 h` and of both buttons that mute a rule.
    struct Subject: Sendable, Hashable {
        var rule: String
        /// The sink that shows the notification: `Mute here` silences no other.
        var sink: String
        var source: String
        /// The item's key.
        var item: String?
        /// The id of the event that began the match; nil for one that cannot be acknowledged.
        var match: String?
    }

    var buttons: [Button] {
        (link == nil ? [] : [.open]) + (subject?.match == nil ? [] : [.acknowledge])
            + (subject == nil ? [] : [.snooze, .mute, .muteEverywhere])
    }

    /// Returns the silence that a press of the button creates; nil for `Open`.
    func silence(by button: Button, at now: Timestamp) -> Silence? {
        guard let subject else { return nil }
        switch button {
        case .open, .acknowledge: return nil
        case .snooze:
            return Silence(
                rule: subject.rule, source: subject.source, item: subject.item,
                until: now.advanced(by: Silence.usualLength), created: now)
        case .mute: return Silence(rule: subject.rule, sink: subject.sink, created: now)
        case .muteEverywhere: return Silence(rule: subject.rule, created: now)
        }
    }
}
