// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

/// A chat that can change its messages. It names each new one by its title.
private final class ChangingChat: Sink {
    let fake = FakeSink()
    let updates = true

    func deliver(_ message: Message) async -> Outcome {
        let outcome = await fake.deliver(message)
        return outcome == .delivered ? .delivered(as: message.replacing ?? message.title) : outcome
    }
}

@Suite("Dispatcher: messages that take the place of earlier ones", .timeLimit(.minutes(5)))
struct DispatcherUpdateTests {
    private func parts(_ kind: Event.Kind, _ keys: String...) -> [Event.Summary.Part] {
        keys.map { .init(event: "e", kind: kind.word, source: "s", key: $0) }
    }

    private func message(_ kind: Event.Kind, _ key: String, parts: [Event.Summary.Part] = []) -> Message {
        var event = Event(
            id: Identifier("e"), kind: parts.isEmpty ? kind : .digest, time: Timestamp(milliseconds: 0), source: "s",
            sourceKind: "lines", poll: "p", item: parts.isEmpty ? Item(key: key) : nil)
        if !parts.isEmpty {
            event.summary = Event.Summary(count: parts.count)
            event.summary?.parts = parts
        }
        return Message(id: "msg_1", rule: "down", sink: "chat", event: event, title: "", text: "")
    }

    private func sent(_ name: String, _ message: Message) -> Delivery {
        var delivery = Delivery(message: message, created: Timestamp(milliseconds: 0), due: Timestamp(milliseconds: 0))
        delivery.receiverID = name
        return delivery
    }

    @Test(
        "a reminder and the end change the message of their match, a new match is a new message, also after a restart")
    func oneSubject() async throws {
        let chat = ChangingChat()
        var run = DeliveryRun(["chat": chat])
        try await run.tell("a down", key: "a", sink: "chat")
        try await run.tell("b down", key: "b", sink: "chat")
        try await run.tell("a still down", .reminder, key: "a", sink: "chat")
        await run.advance { chat.fake.seen.count == 3 }
        await run.dispatcher.stop(by: run.clock.now().boot)
        run = DeliveryRun(["chat": chat], journal: run.journal)
        try await run.tell("a up", .resolved, key: "a", sink: "chat")
        try await run.tell("a down again", key: "a", sink: "chat")
        try await run.tell("a up again", .resolved, key: "a", sink: "chat")
        await run.advance { chat.fake.seen.count == 6 }
        #expect(chat.fake.replaced == [nil, nil, "a down", "a down", nil, "a down again"])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("the end changes the message of its match also after a hundred messages about others")
    func outage() async throws {
        let chat = ChangingChat()
        let run = DeliveryRun(["chat": chat])
        let keys = ["a"] + (1...Message.maximumEarlier + 10).map(String.init)
        for key in keys { try await run.tell("\(key) down", key: key, sink: "chat") }
        await run.advance { chat.fake.seen.count == keys.count }
        try await run.tell("a up", .resolved, key: "a", sink: "chat")
        await run.advance { chat.fake.seen.count == keys.count + 1 }
        #expect(chat.fake.seen.last == "a up" && chat.fake.replaced.last == "a down")
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("in a storm under a limit the joined end changes the message about the group")
    func storm() async throws {
        let chat = ChangingChat()
        var gates = Gates()
        (gates.limit, gates.resolved) = (Limit(count: 1, per: .seconds(60), by: .rule), true)
        let rule = Rule(
            name: "down", when: .field("state", from: nil, to: .oneOf(["down"])),
            notify: [Rule.NotificationTarget(sink: "k")], gates: gates, identity: 1)
        let world = World([source("s", every: .seconds(30))], rules: RuleSet([rule]), sinks: ["k": chat])
        func serve(_ state: String) {
            world.fetcher.serve(url("s"), (1...9).map { "h\($0)=\(state)" }.joined(separator: "\n"))
        }
        try await world.watcher.restore()
        // The third poll lets what the limit held go.
        for (state, count) in [("up", 0), ("down", 1), ("down", 2), ("up", 3)] {
            serve(state)
            _ = await world.watcher.runOnce(force: true)
            try await until { chat.fake.seen.count == count }
            world.clock.advance(.seconds(61))
        }
        let down = "h2: up → down, h3: up → down, and 6 more"
        #expect(chat.fake.seen == ["h1: up → down", down, "h1: down → up, h2: down → up, and 7 more"])
        #expect(chat.fake.replaced == [nil, nil, down])
    }

    @Test("a sink that cannot change its messages gets each as a new one")
    func unable() async throws {
        let chat = FakeSink()
        chat.answer(.delivered(as: "m1"))
        let run = DeliveryRun(["chat": chat])
        try await run.tell("a down", key: "a", sink: "chat")
        try await run.tell("a up", .resolved, key: "a", sink: "chat")
        await run.advance { chat.seen.count == 2 }
        #expect(chat.replaced == [nil, nil])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("an end waits until the name of the message that it changes is stored")
    func unstored() async throws {
        let world = World()
        world.sink.update()
        world.sink.answer(.delivered(as: "m1"), .delivered(as: "m1"))
        await world.journal.fail(recording: true)
        var pending: [Delivery] = []
        for kind in [Event.Kind.changed, .resolved] {
            let now = world.clock.now().wall
            let event = Event(
                id: Identifier(kind.word), kind: kind, time: now, source: "s", sourceKind: "lines", poll: "p")
            let message = Message(
                id: "msg_" + kind.word, rule: "r", sink: "k", event: event, title: kind.word, text: "")
            pending.append(await world.journal.enqueue(Delivery(message: message, created: now, due: now)))
        }
        await world.dispatcher.enqueue(pending)
        try await until { world.sink.seen == ["changed"] }
        for _ in 0..<500 { await Task.yield() }
        #expect(world.sink.seen == ["changed"])
        await world.journal.fail()
        try await world.advance(.seconds(10)) { world.sink.seen.count == 2 }
        #expect(world.sink.replaced == [nil, "m1"])
        await world.dispatcher.stop(by: world.clock.now().boot)
    }

    @Test(
        "the end of a group changes its message last, when all that it told is over, and what it did not tell is not lost"
    )
    func groups() {
        let down = sent("down", message(.changed, "", parts: parts(.changed, "a", "b", "c")))
        let some = message(.resolved, "", parts: parts(.resolved, "a", "b"))
        let rest = message(.resolved, "", parts: parts(.resolved, "b", "c"))
        #expect(some.isFollowUp && some.replaced(among: [down]) == nil, "c is still down, and told nowhere else")
        let one = sent("a up", message(.resolved, "a"))
        #expect(rest.replaced(among: [one, down]) == "down", "the end of a was told by itself")
        let last = message(.resolved, "c")
        #expect(last.replaced(among: [sent("some", some), down]) == "down")
        #expect(rest.replaced(among: [sent("down", rest), one, down]) == nil, "the group is over")
        let again = sent("c again", message(.changed, "c"))
        #expect(last.replaced(among: [again, sent("down", rest), one, down]) == "c again")
        #expect(rest.replaced(among: [again, one, down]) == "c again", "of two messages the newest")
    }

    @Test("what a message tells decides whether it may take the place of another")
    func followUps() {
        #expect(message(.reminder, "a").isFollowUp && message(.resolved, "a").isFollowUp)
        #expect(message(.recovered, "a").isFollowUp && message(.online, "a").isFollowUp)
        #expect(!message(.changed, "a").isFollowUp && !message(.failing, "a").isFollowUp)
        #expect(message(.digest, "", parts: parts(.reminder, "a") + parts(.recovered, "b")).isFollowUp)
        let mixed = message(.digest, "", parts: parts(.changed, "a") + parts(.resolved, "b"))
        #expect(!mixed.isFollowUp, "a new match is told aloud")
        var over = parts(.changed, "a")
        over[0].isOver = true
        #expect(!message(.digest, "", parts: over).isFollowUp, "it was never told")
        let digest = Event(
            id: Identifier("d"), kind: .digest, time: Timestamp(milliseconds: 0), source: "s", sourceKind: "lines",
            poll: "p")
        #expect(!Message(id: "msg_d", rule: "down", sink: "chat", event: digest, title: "", text: "").isFollowUp)
    }

    @Test("a message with more parts than it names is not changed")
    func many() {
        let keys = (0..<1000).map { "\($0)" }
        func all(_ kind: Event.Kind) -> [Event.Summary.Part] {
            keys.map { .init(event: "e", kind: kind.word, source: "s", key: $0) }
        }
        let end = message(.resolved, "", parts: all(.resolved))
        #expect(end.replaced(among: [sent("down", message(.changed, "", parts: all(.changed)))]) == nil)
        #expect(end.replaced(among: [sent("down", message(.changed, "", parts: all(.changed).dropLast()))]) == "down")
    }
}
