// SPDX-License-Identifier: Apache-2.0

import CNotify

/// The notifications that the daemon shows, by key: a later message with the same key replaces the one on the screen.
struct DisplayedNotifications {
    /// A daemon may keep notifications for ever; beyond this many, the least recently used one can no longer be replaced.
    private static let limit = 256

    private struct Entry {
        var notification: DisplayedNotification
        /// What it tells of, as far as no later one does.
        var told: Set<DesktopNotification.Subject>
        var lastUse: Int
    }

    private var shown: [DesktopNotification.Key: Entry] = [:]
    private var uses = 0

    subscript(key: DesktopNotification.Key) -> DisplayedNotification? { shown[key]?.notification }

    /// Keeps a notification that was shown just now.
    /// - Returns: the key of the one that must be forgotten for it.
    mutating func keep(
        _ notification: DisplayedNotification, told: Set<DesktopNotification.Subject>
    ) -> DesktopNotification.Key? {
        uses += 1
        shown[notification.key] = Entry(notification: notification, told: told, lastUse: uses)
        guard shown.count > Self.limit else { return nil }
        return shown.min { $0.value.lastUse < $1.value.lastUse }?.key
    }

    /// Notes that a later message tells of these subjects.
    /// - Parameter key: the notification of that message.
    /// - Returns: the other notifications that tell of nothing else; they are forgotten.
    mutating func outdate(
        _ subjects: Set<DesktopNotification.Subject>, except key: DesktopNotification.Key
    ) -> [DisplayedNotification] {
        var outdated: [DisplayedNotification] = []
        for (other, entry) in shown where other != key && !entry.told.isDisjoint(with: subjects) {
            shown[other]?.told.subtract(subjects)
            guard shown[other]?.told.isEmpty == true else { continue }
            outdated.append(entry.notification)
            forget(other)
        }
        return outdated
    }

    mutating func forget(_ key: DesktopNotification.Key) { shown[key] = nil }
}

/// A notification that the daemon shows, and libnotify's object for it. It is used on the notifier's thread alone.
final class DisplayedNotification {
    let key: DesktopNotification.Key
    let notifier: Notifier
    /// Called for a press; set by the sink that showed it last.
    var pressed: @Sendable (DesktopNotification.Button) -> Void = { _ in }
    private let handle: UnsafeMutablePointer<NotifyNotification>

    init(_ key: DesktopNotification.Key, of notifier: Notifier) {
        (self.key, self.notifier) = (key, notifier)
        handle = notify_notification_new("Vedette", nil, nil)
        // The callbacks of `handle` hold no reference to this object: it owns the notification, whose only
        // reference it is, so they end with it.
        cn_on_closed(handle, { _, shown in DisplayedNotification.with(shown) { $0.closed($1) } }, context)
        notify_notification_set_hint(handle, "desktop-entry", g_variant_new_string("vedette"))
    }

    /// Leaves the notification itself on the screen.
    deinit { g_object_unref(handle) }

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Blocks until the daemon has answered, up to 25 s.
    /// - Parameter listsDefault: whether the daemon lists the action of a click among the others, which would be `Open` twice.
    /// - Returns: the error; nil when the daemon accepted it.
    func show(
        _ notification: DesktopNotification, capabilities: Set<String>, listsDefault: Bool
    ) -> GLibError? {
        let body = NotificationMarkup.body(notification.body, isMarkup: capabilities.contains("body-markup"))
        notify_notification_update(
            handle, NotificationMarkup.title(notification.title), body, notification.icon ?? Icon.standard)
        notify_notification_set_urgency(handle, NotifyUrgency(UInt32(notification.urgency.rawValue)))
        notify_notification_set_category(handle, notification.category)
        notify_notification_clear_actions(handle)
        if capabilities.contains("actions") {
            // A click on the notification itself.
            if notification.link != nil { addAction("default", .open) }
            for button in notification.buttons where button != .open || !listsDefault {
                addAction(button.rawValue, button)
            }
        }
        return callingGLib { notify_notification_show(handle, $0) }.error
    }

    /// Takes it off the screen. Blocks as `show` does.
    /// - Returns: whether the daemon answered.
    func close() -> Bool { callingGLib { notify_notification_close(handle, $0) }.error == nil }

    private func addAction(_ name: String, _ button: DesktopNotification.Button) {
        notify_notification_add_action(
            handle, name, button.label,
            { _, name, shown in
                let button = name.flatMap { DesktopNotification.Button(rawValue: String(cString: $0)) } ?? .open
                DisplayedNotification.with(shown) { $0.pressed(button, on: $1) }
            }, context, nil)
    }

    private static func with(
        _ context: UnsafeMutableRawPointer?, _ call: @Sendable (isolated Notifier, DesktopNotification.Key) -> Void
    ) {
        guard let context else { return }
        let shown = Unmanaged<DisplayedNotification>.fromOpaque(context).takeUnretainedValue()
        let key = shown.key
        shown.notifier.assumeIsolated { call($0, key) }
    }
}
