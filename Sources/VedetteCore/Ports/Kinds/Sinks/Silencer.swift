// SPDX-License-Identifier: Apache-2.0

/// Takes silences from the receiver of a message, for instance from a button of a desktop notification.
public protocol Silencer: Sendable {
    /// Adds a silence. Returns at once; a failure is logged by the watcher, since the caller cannot show it.
    func silence(_ silence: Silence)

    /// Whether somebody can acknowledge a match of the rule: it has reminders or escalations, or tells ends.
    func canAcknowledge(rule: String) -> Bool

    /// Notes that the user works on a match.
    /// - Parameter match: the id of the event that began it.
    func acknowledge(rule: String, _ subject: Subject, match: String)
}
