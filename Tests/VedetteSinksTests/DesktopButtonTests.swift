// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteDesktop

/// On a daemon that can do what the test says; in the same suite, since a process has one desktop.
extension DesktopTests {
    private static let snooze = ["snooze", "Snooze 1 h", "mute", "Mute here", "mute-everywhere", "Mute everywhere"]
    private static let url = "https://lab.example/59"

    /// What `Snooze 1 h` on the notification of `Message.of()` asks for.
    private var snoozed: Silence {
        let now = clock.now().wall
        return Silence(
            rule: "ready", source: "lab-systems", item: "59", until: now.advanced(by: .seconds(3600)), created: now)
    }

    @Test("Snooze and Mute, chosen from dunst's menu, reach the watcher")
    func dunstButtons() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(.of(.changed(url: DesktopTests.url))) == .delivered)
        try session.choose("Snooze 1 h")
        #expect(await silencer.next() == snoozed)
        #expect(await sink.deliver(.of(.changed(url: DesktopTests.url))) == .delivered)
        try session.choose("Mute everywhere")
        #expect(await silencer.next() == Silence(rule: "ready", created: clock.now().wall))
        #expect(await sink.deliver(.of(.changed(url: DesktopTests.url))) == .delivered)
        #expect(try session.opened { try session.choose("Open") }.arguments == [DesktopTests.url])
        #expect(try session.menu().count { $0.hasPrefix("#Open") } == 1, "dunst lists the action of a click, too")
    }

    @Test("Acknowledge reaches the watcher, on a match of a rule with reminders alone", .enabled(if: hasStandIn))
    func acknowledge() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions", "body")
        var message = Message.of(.changed(key: "59"))
        message.rule = "followed"
        #expect(await sink.deliver(message) == .delivered)
        let call = try daemon.notified()
        #expect(call.actions == ["acknowledge", "Acknowledge"] + DesktopTests.snooze)
        try daemon.press("acknowledge", on: call.id)
        #expect(await silencer.nextAcknowledged() == ["followed", "lab-systems", "59", message.event.id.description])
    }

    @Test(
        "a daemon with all capabilities gets all parts of a notification, and its buttons work",
        .enabled(if: hasStandIn))
    func standIn() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions", "body", "body-markup", "body-hyperlinks", "persistence")
        let text = "<b>x</b> <img src='file:///x'>"
        #expect(await deliver(.of(.changed(url: DesktopTests.url), text: text, priority: .high)) == .delivered)
        let call = try daemon.notified()
        #expect(call.replaces == 0)
        #expect(call.text("app") == "Vedette" && call.text("title") == "prod-1: Ready for use")
        #expect(call.text("body") == "&lt;b&gt;x&lt;/b&gt; &lt;img src='file:///x'&gt;")
        #expect(call.text("icon") == Icon.standard)
        #expect(call.hint("urgency")?.int64 == 2)
        #expect(call.hint("category")?.string == "x-vedette.changed")
        #expect(call.hint("desktop-entry")?.string == "vedette")
        #expect(call.actions == ["default", "Open", "open", "Open"] + DesktopTests.snooze)
        try daemon.press("snooze", on: call.id)
        #expect(await silencer.next() == snoozed)
        for action in ["default", "open"] {
            let browser = try session.opened { try daemon.press(action, on: call.id) }
            #expect(browser.arguments == [DesktopTests.url])
        }
        // A press leaves it to the daemon whether the notification goes: it is still ours, and is replaced.
        #expect(await sink.deliver(.of()) == .delivered)
        let next = try daemon.notified()
        #expect(next.replaces == call.id && next.actions == DesktopTests.snooze)
        try daemon.press("mute", on: call.id)
        #expect(await silencer.next() == Silence(rule: "ready", sink: "test", created: clock.now().wall))
    }

    @Test(
        "a daemon that lists the action of a click gets no second button for it", .enabled(if: hasStandIn),
        arguments: ["dunst", "Xfce Notify Daemon"])
    func listed(_ name: String) async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions", named: name)
        #expect(await deliver(.of(.changed(url: DesktopTests.url))) == .delivered)
        #expect(try daemon.notified().actions == ["default", "Open"] + DesktopTests.snooze)
    }

    @Test("a daemon without actions and markup gets neither", .enabled(if: hasStandIn))
    func plain() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("body")
        #expect(await deliver(.of(.changed(url: DesktopTests.url), text: "<b>a</b> & b")) == .delivered)
        let call = try daemon.notified()
        #expect(call.actions.isEmpty)
        #expect(call.text("body") == "a & b")
    }

    @Test("there is no button without an action, and the configured icon is used", .enabled(if: hasStandIn))
    func fewButtons() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions")
        let deaf = DesktopSink(clock: clock, icon: "/usr/share/icons/x.png")
        #expect(await deliver(.of(.changed(key: "1", url: "file:///etc/passwd"))) == .delivered)
        #expect(await deaf.deliver(.of(.changed(key: "2", url: DesktopTests.url))) == .delivered)
        #expect(await sink.deliver(.of(.about(.test, item: Item(key: "3")))) == .delivered)
        #expect(try daemon.notified().actions == DesktopTests.snooze)
        let call = try daemon.notified()
        #expect(call.actions == ["default", "Open", "open", "Open"])
        #expect(call.text("icon") == "/usr/share/icons/x.png")
        #expect(try daemon.notified().actions.isEmpty)
    }

    @Test(
        "a stopped daemon is detected before the notification is sent, so it shows one notification when it continues",
        .enabled(if: hasStandIn))
    func stopped() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions")
        #expect(await deliver(.of(.changed(key: "1"))) == .delivered)
        _ = try daemon.notified()
        daemon.freeze()
        let outcome = await sink.deliver(.of())
        #expect(outcome.isRetry && outcome.reason?.hasPrefix("the notification daemon does not answer (") == true)
        daemon.thaw()
        #expect(await sink.deliver(.of()) == .delivered)
        #expect(try daemon.notified().replaces == 0)
        #expect(try daemon.calls() == 2)
    }

    @Test(
        "when a daemon never answers, the delivery can be cancelled, and the message stays pending",
        .enabled(if: hasStandIn))
    func hushed() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions")
        try daemon.hush()
        let waiting = Task { [sink] in await sink.deliver(.of()) }
        _ = try daemon.notified()
        waiting.cancel()
        #expect(await waiting.value == .retry(reason: "stopped before the notification was shown", after: nil))
        // Its end frees the thread that waits for it.
        daemon.end()
        let next = try session.startStandIn("actions")
        #expect(await deliver(.of()) == .delivered)
        #expect(try next.notified().replaces == 0)
    }

    @Test(
        "a call to a daemon that stops in the middle of a notification ends after 25 s, and the message stays pending",
        .enabled(if: hasStandIn))
    func stoppedInTheMiddle() async throws {
        try session.startBus()
        let daemon = try session.startStandIn("actions")
        try daemon.hush()
        let outcome = await sink.deliver(.of())
        #expect(outcome.isRetry && outcome.reason?.hasPrefix("the notification daemon does not answer (") == true)
        daemon.end()
        let next = try session.startStandIn("actions")
        #expect(await deliver(.of()) == .delivered)
        #expect(try next.notified().replaces == 0)
    }

    @Test("a new daemon's signals about an old id belong to another program's notification", .enabled(if: hasStandIn))
    func stale() async throws {
        try session.startBus()
        let old = try session.startStandIn("actions")
        #expect(await deliver(.of()) == .delivered)
        let id = try old.notified().id
        old.end()
        let new = try session.startStandIn("actions")
        try new.press("mute", on: id)
        _ = try new.calls()
        #expect(await sink.deliver(.of()) == .delivered)
        let call = try new.notified()
        #expect(call.id == id && call.replaces == 0)
        try new.press("snooze", on: id)
        #expect(await silencer.next() == snoozed)
    }
}

private let hasStandIn = DesktopStandIn.python != nil
