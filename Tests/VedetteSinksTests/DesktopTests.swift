// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteDesktop

@Suite(
    "desktop, on a real daemon", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: DesktopSession.missing.isEmpty, "not installed: \(DesktopSession.missing.joined(separator: ", "))"))
struct DesktopTests {
    let session: DesktopSession
    let clock = StillClock()
    let silencer = HeardSilences()
    let sink: DesktopSink

    init() throws {
        session = try DesktopSession()
        sink = DesktopSink(clock: clock, silencer: silencer)
    }

    /// The first call after a bus was lost may only find that out.
    func deliver(_ message: Message) async -> Outcome {
        let outcome = await sink.deliver(message)
        return outcome.isRetry ? await sink.deliver(message) : outcome
    }

    @Test("without a bus the message is tried again later, and once there is one it is shown")
    func noBus() async throws {
        for _ in 0..<2 {
            let outcome = await deliver(.of())
            guard case .retry(let reason, let after) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(reason.hasPrefix("no session bus ("))
            #expect(after == .seconds(30))
        }
        try session.startBus()
        let absent = await deliver(.of())
        #expect(absent.reason?.hasPrefix("the notification daemon does not answer (") == true)
        #expect(absent.isRetry)
        try session.startDaemon()
        #expect(await deliver(.of()) == .delivered)
        #expect(try session.displayed() == "1")
    }

    @Test("an item's bubble is replaced in place, another item has its own")
    func replaced() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(.of(title: "prod-1: Starting", text: "one")) == .delivered)
        #expect(await sink.deliver(.of(id: "msg_2", title: "prod-1: Ready", text: "two")) == .delivered)
        #expect(try session.displayed() == "1")
        let other = Event.changed(key: "60")
        #expect(await sink.deliver(.of(other, id: "msg_3", title: "prod-2", priority: .high)) == .delivered)
        #expect(try session.displayed() == "2")
        let shown = try session.shown().sorted { $0.id < $1.id }
        #expect(shown.map(\.id) == [session.firstID, session.firstID + 1])
        #expect(shown.map(\.title) == ["prod-1: Ready", "prod-2"])
        #expect(shown.map(\.timeout) == [502, 503])
        #expect(shown.map(\.category) == ["x-vedette.changed", "x-vedette.changed"])
    }

    @Test("a bubble that was closed is followed by a new one")
    func closed() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(.of()) == .delivered)
        #expect(try session.shown().map(\.id) == [session.firstID])
        #expect(await sink.deliver(.of()) == .delivered)
        #expect(try session.displayed() == "1")
        #expect(try session.shown().map(\.id).max() == session.firstID + 1)
    }

    @Test("a stranger's markup is shown, not obeyed; hostile titles are delivered")
    func markup() async throws {
        try session.startBus()
        try session.startDaemon()
        let text = "<b>bold</b> & <a href=\"file:///etc/passwd\">x</a>"
        #expect(await deliver(.of(title: "<i>t</i>", text: text)) == .delivered)
        let bubble = try #require(try session.shown().first)
        #expect(bubble.title == "<i>t</i>")
        #expect(bubble.body == "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href=\"file:///etc/passwd\"&gt;x&lt;/a&gt;")
        for title in hostileTitles {
            #expect(await sink.deliver(.of(.changed(title: title), title: title, text: title)) == .delivered)
        }
    }

    @Test("Open gives the item's address to the browser, as one argument")
    func open() async throws {
        try session.startBus()
        try session.startDaemon()
        let url = "https://lab.example/systems?id=59&x='$(id)'"
        #expect(await deliver(.of(.changed(url: url))) == .delivered)
        let browser = try session.opened { try session.run("dunstctl", "action", "0") }
        #expect(browser.arguments == [url])
        #expect(browser.session == browser.process, "it would end with the watcher")
        #expect(browser.isCollected)
    }

    @Test("a restarted daemon gets new bubbles: no id of the old one is used")
    func restarted() async throws {
        try session.startBus()
        try session.startDaemon()
        for key in ["1", "2", "3"] { #expect(await deliver(.of(.changed(key: key))) == .delivered) }
        session.killDaemon()
        try session.startDaemon()
        #expect(await sink.deliver(.of(.changed(key: "3"))) == .delivered)
        #expect(try session.shown().map(\.id) == [session.firstID])
    }

    @Test("a daemon that hangs holds up nobody: a cancelled delivery ends at once and stays owed")
    func frozen() async throws {
        try session.startBus()
        try session.startDaemon()
        try session.freezeDaemon()
        let waiting = Task { [sink] in await sink.deliver(.of()) }
        waiting.cancel()
        #expect(await waiting.value == .retry(reason: "stopped before the bubble was shown", after: nil))
        session.killDaemon()
    }

    @Test("of very many bubbles the one longest out of use is let go, and all can be closed at once")
    func many() async throws {
        try session.startBus()
        try session.startDaemon()
        for i in 0..<300 { #expect(await deliver(.of(.changed(key: "\(i)"))) == .delivered) }
        #expect(await sink.deliver(.of(.changed(key: "299"), title: "kept")) == .delivered)
        #expect(await sink.deliver(.of(.changed(key: "0"), title: "let go")) == .delivered)
        let shown = try session.shown()
        #expect(shown.first { $0.title == "kept" }?.id == session.firstID + 299)
        #expect(shown.first { $0.title == "let go" }?.id == session.firstID + 300)
        #expect(await sink.deliver(.of(.changed(key: "299"))) == .delivered)
        #expect(try session.displayed() == "1")
    }

    /// A message of that hour of the clock's day.
    private func message(_ hour: Int, _ minute: Int, _ title: String, key: String = "59") throws -> Message {
        let time = try #require(Timestamp(rfc3339: "2026-11-21T\(hour):\(minute):00Z"))
        let id = Identifier(time: time, random: (1, 2)).description
        return .of(.changed(key: key, time: "2026-11-20T00:00:00Z"), id: "msg_" + id, title: title)
    }

    @Test("what is older than an hour comes as one summary, which counts a message once however often it was tried")
    func summary() async throws {
        for minute in 10...15 { #expect(await deliver(try message(10, minute, "first")).isRetry) }
        clock.advance(by: .seconds(7200))
        #expect(await deliver(try message(10, 10, "first")).isRetry)
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(try message(10, 10, "first")) == .delivered)
        #expect(await sink.deliver(try message(10, 59, "second", key: "60")) == .delivered)
        #expect(await sink.deliver(try message(11, 10, "third", key: "61")) == .delivered)
        #expect(try session.displayed() == "2")
        let shown = try session.shown().sorted { $0.id < $1.id }
        #expect(shown.map(\.title) == ["2 older messages", "third"])
        #expect(shown.first?.body == "first\nsecond")
        // That summary was closed: the next one is about what came since.
        #expect(await sink.deliver(try message(10, 20, "fourth")) == .delivered)
        #expect(try session.shown().max { $0.id < $1.id }?.title == "1 older message")
    }
}

/// What was asked not to be heard of.
final class HeardSilences: Silencer {
    private let (silences, heard) = AsyncStream<Silence>.makeStream()

    func silence(_ silence: Silence) { heard.yield(silence) }

    func next() async -> Silence? { await silences.first { _ in true } }
}
