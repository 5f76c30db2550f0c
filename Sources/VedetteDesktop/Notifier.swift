// SPDX-License-Identifier: Apache-2.0

import CNotify
import VedetteCore

/// Calls libnotify, on one thread of its own: to show a notification is a call over the bus that blocks for up to 25 s when the
/// daemon is stopped. There is one per process, because libnotify keeps its state in global variables.
actor Notifier {
    static let shared = Notifier()

    private let executor: GLibExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var bus: SessionBus?
    /// The unique name of the daemon that `displayed` belong to.
    private var daemon: String?
    /// What the daemon calls itself; nil before it was asked.
    private var daemonName: String?
    private var displayed = DisplayedNotifications()
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
            if let forgotten = displayed.keep(shown, told: notification.told) { closed(forgotten) }
            closeOthers(than: notification.key, telling: notification.told)
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
        closeOthers(than: notification.key, telling: DesktopNotification(message).told)
        return nil
    }

    /// Closes the notifications that tell of nothing that a later one does not tell of.
    private func closeOthers(than key: DesktopNotification.Key, telling subjects: Set<DesktopNotification.Subject>) {
        // A daemon that has hung since it answered is waited for once.
        _ = displayed.outdate(subjects, except: key).allSatisfy { $0.close() }
    }

    /// Forgets a notification that the user, the daemon or its timer closed: the next one gets a new id.
    func closed(_ key: DesktopNotification.Key) {
        displayed.forget(key)
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
        displayed = DisplayedNotifications()
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
    private static let listingDefault: Set<String> = ["dunst", "Xfce Notify Daemon"]

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
}
