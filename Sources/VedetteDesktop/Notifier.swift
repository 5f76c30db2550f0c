// SPDX-License-Identifier: Apache-2.0

import CNotify
import VedetteCore

/// Calls libnotify, on one thread of its own: to show a notification is a call over the bus that blocks for up to 25 s when the
/// daemon is stopped. There is one per process, because libnotify keeps its state in global variables.
actor Notifier {
    static let shared = Notifier()

    /// A daemon may keep notifications for ever; beyond this many, the least recently used one can no longer be replaced.
    private static let displayedLimit = 256

    private let executor: GLibExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var bus: SessionBus?
    /// The unique name of the daemon that `displayed` belong to.
    private var daemon: String?
    /// What the daemon calls itself; nil before it was asked.
    private var daemonName: String?
    private var displayed: [DesktopNotification.Key: DisplayedNotification] = [:]
    private var uses = 0
    private var missed = MissedSummary()

    private init() {
        executor = GLibExecutor()
        executor.start()
    }

    /// - Parameter pressed: called on the notifier's thread, while the notification is on the screen.
    /// - Returns: why it could not be shown; nil when the daemon accepted it.
    func show(
        _ notification: DesktopNotification,
        pressed: @escaping @Sendable (DesktopNotification.Button) -> Void = { _ in }
    ) -> DesktopProblem? {
        do throws(DesktopProblem) {
            let capabilities = try capabilitiesOfDaemon()
            let shown = displayed[notification.key] ?? DisplayedNotification(notification.key, of: self)
            shown.pressed = pressed
            let listsDefault = Notifier.listingDefault.contains(try name())
            if let error = shown.show(notification, capabilities: capabilities, listsDefault: listsDefault) {
                throw .noDaemon(error.message)
            }
            keep(shown)
            return nil
        } catch {
            return error
        }
    }

    /// Asks the daemon for its name, vendor and versions, and for its capabilities.
    func serverInformation() throws(DesktopProblem) -> (information: [String], capabilities: Set<String>) {
        let capabilities = try capabilitiesOfDaemon()
        return (try connected().information(), capabilities)
    }

    /// Returns whether a notification could be shown now.
    func isReady() -> Bool { (try? capabilitiesOfDaemon()) != nil }

    /// Adds a message to the summary of missed messages and shows it.
    func show(missed message: Message, icon: String?) -> DesktopProblem? {
        // The title is counted only when the daemon accepted it, so that a retry does not count it twice.
        var missed = missed
        missed.add(message.title, isFailure: message.isFailure)
        var notification = missed.notification
        notification.icon = icon
        if let problem = show(notification) { return problem }
        self.missed = missed
        return nil
    }

    /// Forgets a notification that the user, the daemon or its timer closed: the next one gets a new id.
    func closed(_ key: DesktopNotification.Key) {
        displayed[key] = nil
        if key == .missed { missed = MissedSummary() }
    }

    func pressed(_ button: DesktopNotification.Button, on key: DesktopNotification.Key) {
        displayed[key]?.pressed(button)
    }

    /// Forgets the notifications of a daemon that left the bus. The signal may be late: then another daemon is known already.
    func gone(_ name: String) {
        if name == daemon { forget(for: nil) }
    }

    /// Forgets all notifications. A new daemon knows none of the old ids, and its signals about them belong to other programs.
    private func forget(for name: String?) {
        displayed = [:]
        (daemon, daemonName) = (name, nil)
    }

    /// Returns the daemon's capabilities, and notices a new daemon. It asks before each notification: some daemons replace any id
    /// that they get, and the signal about a new daemon may still be on its way. It asks the daemon itself: one that is
    /// stopped is found by that sooner than by a notification, which it would show when it continues, so that there were two.
    private func capabilitiesOfDaemon() throws(DesktopProblem) -> Set<String> {
        let bus = try connected()
        let capabilities = try bus.capabilities()
        let current = try bus.daemon()
        if current == nil || current != daemon {
            forget(for: current)
            // What it signalled about old ids is here by now, since it came before its answer, and must not meet a new
            // notification with the same id.
            executor.dispatchPending()
        }
        return capabilities
    }

    /// Daemons that list the default action in their menu: the specification leaves it to them.
    private static let listingDefault: Set<String> = ["dunst"]

    /// Returns the daemon's name, which is asked once.
    private func name() throws(DesktopProblem) -> String {
        if let known = daemonName { return known }
        let name = try connected().information()[0]
        daemonName = name
        return name
    }

    private func connected() throws(DesktopProblem) -> SessionBus {
        if let bus, !bus.isClosed { return bus }
        disconnect()
        let fresh = try SessionBus(of: self)
        notify_init("Vedette")
        bus = fresh
        return fresh
    }

    /// The order matters: libnotify's notifications look for its proxy when they are freed, and would make a new one.
    private func disconnect() {
        forget(for: nil)
        if notify_is_initted() != 0 { notify_uninit() }
        bus?.release()
        bus = nil
    }

    private func keep(_ shown: DisplayedNotification) {
        uses += 1
        shown.lastUse = uses
        displayed[shown.key] = shown
        if displayed.count > Notifier.displayedLimit,
            let oldest = displayed.values.min(by: { $0.lastUse < $1.lastUse })
        {
            closed(oldest.key)
        }
    }
}

/// A notification that the daemon shows, and libnotify's object for it. It is used on the notifier's thread alone.
final class DisplayedNotification {
    let key: DesktopNotification.Key
    let notifier: Notifier
    /// Called for a press; set by the sink that showed it last.
    var pressed: @Sendable (DesktopNotification.Button) -> Void = { _ in }
    /// Grows with every use, to find the least recently used one.
    var lastUse = 0
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
