// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore
import VedetteDesktop
import VedetteTestSupport

@Suite(
    "desktop, on a real daemon", .serialized, .timeLimit(.minutes(10)),
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

    @Test("without a bus the message is retried, and shown once there is one")
    func noBus() async throws {
        for _ in 0..<2 {
            let outcome = await deliver(.of())
            guard case .retry(let reason, let after) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(reason.hasPrefix("no session bus ("))
            #expect(after == nil)
        }
        try session.startBus()
        let absent = await deliver(.of())
        #expect(absent.reason?.hasPrefix("the notification daemon does not answer (") == true)
        #expect(absent.isRetry)
        try session.startDaemon()
        #expect(await deliver(.of()) == .delivered)
        #expect(try session.displayed() == "1")
    }

    @Test("a recovery probe ends when there is a desktop: no bus, no daemon, and then both")
    func returned() async throws {
        let clock = TurnClock()
        let sink = DesktopSink(clock: clock)
        #expect(await sink.deliver(.of()).isRetry)
        let answer = Answer()
        let waiting = Task { answer.take(await sink.waitForReceiver()) }
        /// Lets it look for the next time, and waits until it has.
        func look(_ number: Int) async {
            while clock.sleeps < number, answer.given == nil { await Task.yield() }
            clock.turn()
            while clock.sleeps == number, answer.given == nil { await Task.yield() }
        }
        await look(1)
        #expect(answer.given == nil, "there is no bus")
        try session.startBus()
        await look(2)
        #expect(answer.given == nil, "there is no daemon")
        try session.startDaemon()
        await look(3)
        // The first look after a bus was lost may only find that out.
        if answer.given == nil { await look(4) }
        #expect(answer.given == true)
        waiting.cancel()
        #expect(await sink.deliver(.of()) == .delivered)
    }

    @Test("a recovery probe can be cancelled")
    func returnCancelled() async {
        let patient = DesktopSink(clock: TurnClock())
        let waiting = Task { await patient.waitForReceiver() }
        waiting.cancel()
        #expect(await !waiting.value)
    }

    @Test("reading the server capabilities names the daemon or what is missing, and shows nothing")
    func look() async throws {
        let none = await DesktopFacts.now()
        guard case .noBus(let reason) = none.state else {
            Issue.record("\(none)")
            return
        }
        #expect(reason.hasPrefix("no session bus (") && reason.contains("DBUS_SESSION_BUS_ADDRESS"))
        try session.startBus()
        // The first call after a bus was lost may only find that out.
        _ = await DesktopFacts.now()
        guard case .noDaemon(let reason) = await DesktopFacts.now().state else {
            Issue.record("there is a daemon")
            return
        }
        #expect(reason.hasPrefix("the notification daemon does not answer ("))
        try session.startDaemon()
        let look = await DesktopFacts.now()
        guard case .ready(let daemon, let capabilities) = look.state else {
            Issue.record("\(look)")
            return
        }
        #expect(daemon.name == "dunst" && !daemon.version.isEmpty && daemon.specification.hasPrefix("1."))
        #expect(capabilities.contains("actions") && look.bus?.hasPrefix("unix:path=/") == true)
        #expect(try session.displayed() == "0")
    }

    @Test("an item's notification is replaced in place, and another item has its own")
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

    /// A message of the rule about several items, as `key: firing` or `key: over`.
    private func several(_ id: String, _ title: String, in group: String? = nil, _ parts: [(String, Event.Kind)])
        -> Message
    {
        var event = Event.changed(key: "")
        (event.item, event.kind) = (nil, .digest)
        event.summary = Event.Summary(count: parts.count)
        event.summary?.group = group
        event.summary?.parts = parts.map { .init(event: id, kind: $1.word, source: event.source, key: $0) }
        return .of(event, id: id, title: title)
    }

    private func end(of key: String, _ id: String) -> Message {
        var event = Event.changed(key: key)
        event.kind = .resolved
        return .of(event, id: id, title: "\(key): up")
    }

    @Test("30 down and 30 up in a group are at most two notifications, and none says what is no longer true")
    func storm() async throws {
        try session.startBus()
        try session.startDaemon()
        let keys = (1...30).map { "h\($0)" }
        #expect(await deliver(.of(.changed(key: "h1"), title: "h1: down")) == .delivered)
        let down = keys.dropFirst().map { ($0, Event.Kind.changed) }
        #expect(await sink.deliver(several("msg_2", "29 down in eu-west", in: "eu-west", down)) == .delivered)
        #expect(try session.displayed() == "2")
        // The first end goes alone.
        #expect(await sink.deliver(end(of: "h7", "msg_3")) == .delivered)
        let up = keys.filter { $0 != "h7" }.map { ($0, Event.Kind.resolved) }
        #expect(await sink.deliver(several("msg_4", "29 up in eu-west", in: "eu-west", up)) == .delivered)
        #expect(try session.displayed() == "2")
        #expect(Set(try session.shown().prefix(2).map(\.title)) == ["h7: up", "29 up in eu-west"])
    }

    @Test("a notification about several is replaced by the next one of its rule and group, not by another group's")
    func groups() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(
            await deliver(several("msg_1", "2 down in west", in: "west", [("a", .changed), ("b", .changed)]))
                == .delivered)
        #expect(
            await sink.deliver(several("msg_2", "2 down in east", in: "east", [("c", .changed), ("d", .changed)]))
                == .delivered)
        #expect(try session.displayed() == "2")
        #expect(
            await sink.deliver(several("msg_3", "2 up in west", in: "west", [("a", .resolved), ("b", .resolved)]))
                == .delivered)
        #expect(try session.displayed() == "2")
        let shown = try session.shown().sorted { $0.id < $1.id }
        #expect(shown.map(\.id) == [session.firstID, session.firstID + 1])
        #expect(shown.map(\.title) == ["2 up in west", "2 down in east"])
    }

    @Test("a notification about several is closed when all that it names was told elsewhere")
    func toldElsewhere() async throws {
        try session.startBus()
        try session.startDaemon()
        let both = [("a", Event.Kind.changed), ("b", .changed)]
        #expect(await deliver(several("msg_1", "2 down", in: "west", both)) == .delivered)
        #expect(await sink.deliver(end(of: "a", "msg_2")) == .delivered)
        #expect(try session.displayed() == "2", "b is still down")
        #expect(await sink.deliver(end(of: "b", "msg_3")) == .delivered)
        #expect(try session.displayed() == "2")
        #expect(Set(try session.shown().prefix(2).map(\.title)) == ["a: up", "b: up"])
        // The closed one is forgotten: the next of its group is a new one.
        #expect(await sink.deliver(several("msg_4", "2 down again", in: "west", both)) == .delivered)
        #expect(try session.displayed() == "1")
        var other = several("msg_5", "2 of another rule", in: "west", both)
        other.rule = "other"
        #expect(await sink.deliver(other) == .delivered)
        #expect(try session.displayed() == "2")
    }

    @Test("what is told too late for a notification closes the one that it contradicts")
    func missedEnd() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(several("msg_1", "2 down", [("a", .changed), ("b", .changed)])) == .delivered)
        var late = several("msg_2", "2 up", in: "west", [("a", .resolved), ("b", .resolved)])
        late.id = try message(10, 10, "2 up").id
        clock.advance(by: .seconds(7200))
        #expect(await sink.deliver(late) == .delivered)
        #expect(try session.displayed() == "1")
        #expect(try session.shown().first?.title == "1 older message")
    }

    @Test("a notification that was closed is followed by a new one")
    func closed() async throws {
        try session.startBus()
        try session.startDaemon()
        #expect(await deliver(.of()) == .delivered)
        #expect(try session.shown().map(\.id) == [session.firstID])
        #expect(await sink.deliver(.of()) == .delivered)
        #expect(try session.displayed() == "1")
        #expect(try session.shown().map(\.id).max() == session.firstID + 1)
    }

    @Test("untrusted markup is shown as text, and hostile titles are delivered")
    func markup() async throws {
        try session.startBus()
        try session.startDaemon()
        let text = "<b>bold</b> & <a href=\"file:///etc/passwd\">x</a>"
        #expect(await deliver(.of(title: "<i>t</i>", text: text)) == .delivered)
        let notification = try #require(try session.shown().first)
        #expect(notification.title == "<i>t</i>")
        #expect(notification.body == "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;a href=\"file:///etc/passwd\"&gt;x&lt;/a&gt;")
        for title in hostileTitles {
            #expect(await sink.deliver(.of(.changed(title: title), title: title, text: title)) == .delivered)
        }
    }

    @Test("Open passes the item's link to the browser as one argument")
    func open() async throws {
        try session.startBus()
        try session.startDaemon()
        let url = "https://lab.example/systems?id=59&x='$(id)'"
        #expect(await deliver(.of(.changed(url: url))) == .delivered)
        let browser = try session.opened { try session.run("dunstctl", "action", "0") }
        #expect(browser.arguments == ["https://lab.example/systems?id=59&x=%27%24(id)%27"])
        #expect(browser.session == browser.process, "it would end with the watcher")
        #expect(browser.isCollected)
    }

    @Test("a restarted daemon gets new notifications: no id of the old one is used")
    func restarted() async throws {
        try session.startBus()
        try session.startDaemon()
        for key in ["1", "2", "3"] { #expect(await deliver(.of(.changed(key: key))) == .delivered) }
        session.killDaemon()
        try session.startDaemon()
        #expect(await sink.deliver(.of(.changed(key: "3"))) == .delivered)
        #expect(try session.shown().map(\.id) == [session.firstID])
    }

    @Test("a daemon that hangs delays no other sink: a cancelled delivery ends at once and stays pending", .tags(.I7))
    func frozen() async throws {
        try session.startBus()
        try session.startDaemon()
        try session.freezeDaemon()
        let waiting = Task { [sink] in await sink.deliver(.of()) }
        waiting.cancel()
        #expect(await waiting.value == .retry(reason: "stopped before the notification was shown", after: nil))
        session.killDaemon()
    }

    @Test("of very many notifications the least recently used one is forgotten, and all can be closed at once")
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

    @Test("messages older than an hour are one summary, which counts each once however often it was tried")
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

/// A value that a test waits for.
private final class Answer: Sendable {
    private let answer = Mutex<Bool?>(nil)

    var given: Bool? { answer.withLock { $0 } }

    func take(_ given: Bool) { answer.withLock { $0 = given } }
}

/// A clock whose `sleep` ends by the test, or when its task is cancelled.
final class TurnClock: VedetteCore.Clock {
    private let (turns, next) = AsyncStream<Void>.makeStream()
    private let count = Mutex(0)

    var sleeps: Int { count.withLock { $0 } }

    func turn() { next.yield() }

    func now() -> Moment { StillClock().now() }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        count.withLock { $0 += 1 }
        for await _ in turns { return }
        throw CancellationError()
    }
}

/// Records what buttons ask for. Matches of the rule `followed` can be acknowledged.
final class HeardSilences: Silencer {
    private let (silences, heard) = AsyncStream<Silence>.makeStream()
    private let (acknowledged, noted) = AsyncStream<[String?]>.makeStream()

    func silence(_ silence: Silence) { heard.yield(silence) }

    func canAcknowledge(rule: String) -> Bool { rule == "followed" }

    func acknowledge(rule: String, _ subject: Subject, match: String) {
        noted.yield([rule, subject.source, subject.key, match])
    }

    func nextAcknowledged() async -> [String?]? { await acknowledged.first { _ in true } }

    func next() async -> Silence? { await silences.first { _ in true } }
}
