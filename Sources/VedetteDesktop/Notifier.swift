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
    /// The unique name of the daemon that `bubbles` and `capabilities` belong to.
    private var daemon: String?
    private var capabilities: Set<String>?
    private var bubbles: [Bubble.Key: Shown] = [:]
    private var uses = 0
    private let icon = Icon.name()

    private init() {
        executor = GLibExecutor()
        executor.start()
    }

    /// - Returns: why it could not be shown; nil when the daemon has it.
    func show(_ bubble: Bubble) -> DesktopProblem? {
        do throws(DesktopProblem) {
            let capabilities = try capabilitiesOfDaemon()
            let shown = bubbles[bubble.key] ?? Shown(bubble.key, of: self)
            if let error = shown.show(bubble, capabilities: capabilities, icon: icon) {
                self.capabilities = nil
                throw .noDaemon(error.words)
            }
            keep(shown)
            return nil
        } catch {
            return error
        }
    }

    /// The user, the daemon or its timer closed the bubble: its id is free, the next one is new.
    func closed(_ key: Bubble.Key) { bubbles[key] = nil }

    func opened(_ key: Bubble.Key) {
        if let link = bubbles[key]?.link { Browser.open(link) }
    }

    /// Asks who the daemon is before each bubble: a new one knows none of the old ids, and some take any id that they
    /// are told to replace, which may by now be another program's bubble.
    private func capabilitiesOfDaemon() throws(DesktopProblem) -> Set<String> {
        let bus = try connected()
        let current = try bus.daemon()
        if current == nil || current != daemon {
            bubbles = [:]
            capabilities = nil
        }
        if let capabilities { return capabilities }
        let fresh = try bus.capabilities()
        (capabilities, daemon) = (fresh, try bus.daemon())
        return fresh
    }

    private func connected() throws(DesktopProblem) -> SessionBus {
        if let bus, !bus.isClosed { return bus }
        disconnect()
        let fresh = try SessionBus()
        notify_init("Vedette")
        bus = fresh
        return fresh
    }

    /// In this order: libnotify's notifications look for its proxy when they go, and would make a new one.
    private func disconnect() {
        bubbles = [:]
        (capabilities, daemon) = (nil, nil)
        if notify_is_initted() != 0 { notify_uninit() }
        bus?.release()
        bus = nil
    }

    private func keep(_ shown: Shown) {
        uses += 1
        shown.lastUse = uses
        bubbles[shown.key] = shown
        if bubbles.count > Notifier.keptBubbles,
            let oldest = bubbles.values.min(by: { $0.lastUse < $1.lastUse })
        {
            bubbles[oldest.key] = nil
        }
    }
}
