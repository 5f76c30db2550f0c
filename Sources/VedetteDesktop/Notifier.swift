// SPDX-License-Identifier: Apache-2.0

import CNotify

/// Everything that touches libnotify, on one thread of its own: showing a bubble is a call over the bus that blocks up
/// to 25 s when the daemon is stopped. One per process, because libnotify keeps its state in global variables.
actor Notifier {
    static let shared = Notifier()

    /// A daemon may keep bubbles for ever; beyond this many, the one longest out of use can no longer be replaced.
    private static let keptBubbles = 256

    private let executor: GLibExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var bus: SessionBus?
    /// The unique name of the daemon that `bubbles` belong to.
    private var daemon: String?
    private var bubbles: [DesktopNotification.Key: DisplayedNotification] = [:]
    private var uses = 0
    private var missed = MissedSummary()

    private init() {
        executor = GLibExecutor()
        executor.start()
    }

    /// - Parameter pressed: called on the notifier's thread, while the bubble is on the screen.
    /// - Returns: why it could not be shown; nil when the daemon has it.
    func show(
        _ bubble: DesktopNotification, pressed: @escaping @Sendable (DesktopNotification.Button) -> Void = { _ in }
    ) -> DesktopProblem? {
        do throws(DesktopProblem) {
            let capabilities = try capabilitiesOfDaemon()
            let shown = bubbles[bubble.key] ?? DisplayedNotification(bubble.key, of: self)
            shown.pressed = pressed
            if let error = shown.show(bubble, capabilities: capabilities) { throw .noDaemon(error.words) }
            keep(shown)
            return nil
        } catch {
            return error
        }
    }

    /// What the daemon says of itself, and what it can do.
    func look() throws(DesktopProblem) -> (information: [String], capabilities: Set<String>) {
        let capabilities = try capabilitiesOfDaemon()
        return (try connected().information(), capabilities)
    }

    /// Whether a bubble could be shown now.
    func isReady() -> Bool { (try? capabilitiesOfDaemon()) != nil }

    /// One more in the summary of what is old.
    func show(missed title: String, icon: String?) -> DesktopProblem? {
        // Counted when the daemon has it: what is tried again is one message still.
        var missed = missed
        missed.add(title)
        var bubble = missed.bubble
        bubble.icon = icon
        if let problem = show(bubble) { return problem }
        self.missed = missed
        return nil
    }

    /// The user, the daemon or its timer closed the bubble: its id is free, the next one is new.
    func closed(_ key: DesktopNotification.Key) {
        bubbles[key] = nil
        if key == .missed { missed = MissedSummary() }
    }

    func pressed(_ button: DesktopNotification.Button, on key: DesktopNotification.Key) {
        bubbles[key]?.pressed(button)
    }

    /// The bus says that a daemon has gone. The word may be late: then the one that is known now is another.
    func gone(_ name: String) {
        if name == daemon { forget(for: nil) }
    }

    /// A new daemon knows none of the old ids, and what it says of one is about another program's bubble.
    private func forget(for name: String?) {
        bubbles = [:]
        daemon = name
    }

    /// Asks who the daemon is before each bubble, as some take any id that they are told to replace, and the word of a
    /// new one may still be on its way. Asks the daemon itself, since one that is stopped is found out by that sooner
    /// than by a bubble, which it would show when it goes on: then there would be two.
    private func capabilitiesOfDaemon() throws(DesktopProblem) -> Set<String> {
        let bus = try connected()
        let capabilities = try bus.capabilities()
        let current = try bus.daemon()
        if current == nil || current != daemon { forget(for: current) }
        return capabilities
    }

    private func connected() throws(DesktopProblem) -> SessionBus {
        if let bus, !bus.isClosed { return bus }
        disconnect()
        let fresh = try SessionBus(of: self)
        notify_init("Vedette")
        bus = fresh
        return fresh
    }

    /// In this order: libnotify's notifications look for its proxy when they go, and would make a new one.
    private func disconnect() {
        forget(for: nil)
        if notify_is_initted() != 0 { notify_uninit() }
        bus?.release()
        bus = nil
    }

    private func keep(_ shown: DisplayedNotification) {
        uses += 1
        shown.lastUse = uses
        bubbles[shown.key] = shown
        if bubbles.count > Notifier.keptBubbles,
            let oldest = bubbles.values.min(by: { $0.lastUse < $1.lastUse })
        {
            closed(oldest.key)
        }
    }
}
