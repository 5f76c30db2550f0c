// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Deliveries about one subject")
struct DeliveryOrderTests {
    @Test(
        "to a sink that persons read a later message about an item takes the place of those that are no longer true",
        arguments: Backend.allCases)
    func replaced(_ backend: Backend) async throws {
        let store = try await backend.open()
        let reader = try await store.reader()
        var limits = limits([:])
        limits.textSinks = ["team"]
        /// Commits a message to both sinks, and returns what became of each delivery.
        func commit(_ id: Int, _ kind: Event.Kind = .changed, key: String = "59") async throws -> [String] {
            var cause = event(id, key: key)
            cause.kind = kind
            let deliveries = ["team", "hook"].map { delivery(2 * id + ($0 == "team" ? 0 : 1), of: cause, sink: $0) }
            let events = kind == .changed ? [cause] : []
            _ = try await store.journal.commit([poll(events: events, deliveries: deliveries)], within: limits)
            return try await reader.deliveries(limit: 99).map {
                $0.state.isPending ? "-" : $0.delivery.reason ?? "sent"
            }
        }
        let (behind, over) = ("an earlier message about it is still pending", "over before it could be sent")
        #expect(try await commit(1) == ["-", "-"])
        #expect(try await commit(2, .reminder) == ["-", "-", behind, behind])
        #expect(try await commit(3, .reminder, key: "60").suffix(2) == ["-", "-"])
        #expect(try await commit(4, key: "60").dropFirst(4) == ["a later message took its place", "-", "-", "-"])
        #expect(
            try await commit(5, .resolved) == [over, "-", behind, behind] + [
                "a later message took its place", "-", "-", "-", "-", "-",
            ])
        let ended = try await commit(6)
        #expect(ended[8...] == ["true again before it could be sent", "-", "-", "-"])
        // Its attempt was in flight: the receiver has it.
        let sent = Attempt(delivery: 1, state: .sent, attempts: 1, due: stamp(0), at: stamp(2), reason: nil)
        try await store.journal.record([sent], within: limits)
        #expect(try await reader.deliveries(limit: 1).map(\.state) == [.sent])
        try await store.journal.close()
    }

    /// A message about several items, each of which is over or not.
    private func several(
        _ id: Int, _ keys: [String], source: String = "lab", kind: Event.Kind, part: Event.Kind
    ) -> Event {
        var event = event(id, source: source, kind: kind)
        event.item = nil
        event.summary = Event.Summary(count: keys.count)
        event.summary?.parts = keys.map { key in
            Event.Summary.Part(event: "0199-0", kind: part.word, source: "lab", key: key)
        }
        return event
    }

    private func end(_ id: Int, source: String = "lab", key: String = "59") -> Event {
        var end = event(id, source: source, key: key)
        end.kind = .resolved
        return end
    }

    @Test(
        "a message about items of several sources is behind each of them, and each of them behind it",
        arguments: Backend.allCases)
    func behind(_ backend: Backend) async throws {
        let store = try await backend.open()
        let causes = [
            event(1, source: "a", key: "x"), several(2, ["x", "y"], source: "c", kind: .digest, part: .changed),
            end(3, source: "a", key: "x"), end(4, source: "b", key: "y"),
            several(5, ["x", "y"], source: "d", kind: .digest, part: .changed),
            end(6, source: "c", key: "z"),
        ]
        let deliveries = causes.enumerated().map { i, cause in
            var made = delivery(i + 1, of: cause, rule: i == 3 ? "other" : "ready")
            if i == 2 { made.message.priority = .low }
            return made
        }
        _ = try await store.journal.commit([poll(events: [causes[0]], deliveries: deliveries)])
        func behind(_ source: String, _ priority: Priority = .high) async throws -> [Int64?] {
            let lane = DeliveryLane(source: source, sink: "team", priority: priority)
            let read = try await store.journal.pending(in: lane, after: 0, limit: 9)
            for place in read.compactMap(\.behind) {
                #expect(place == deliveries[Int(place.id) - 1].place.with(place.id))
            }
            return read.map(\.behind?.id)
        }
        #expect(try await behind("a") == [nil])
        #expect(try await behind("a", .low) == [2])
        #expect(try await behind("b") == [nil])
        #expect(try await behind("c") == [1, 5])
        #expect(try await behind("d") == [3])
        try await store.journal.close()
    }

    @Test(
        "the end of several, in one message, takes the place of the messages about each of them, and of a reminder of all",
        arguments: Backend.allCases)
    func joinedEnd(_ backend: Backend) async throws {
        let store = try await backend.open()
        var limits = limits([:])
        limits.textSinks = ["team"]
        let reminders = [["a", "b"], ["c", "d"]].enumerated().map { i, keys in
            delivery(i + 1, of: several(i + 1, keys, kind: .reminder, part: .reminder))
        }
        let causes = ["a", "b", "d"].enumerated().map { event($0 + 3, key: $1) }
        let firings = causes.enumerated().map { delivery($0 + 3, of: $1) }
        let listed = delivery(6, of: several(6, ["a", "b"], kind: .digest, part: .changed))
        _ = try await store.journal.commit([poll(deliveries: reminders)])
        _ = try await store.journal.commit([poll(events: causes, deliveries: firings + [listed])])
        let end = several(7, ["a", "b", "c"], kind: .digest, part: .resolved)
        let result = try await store.journal.commit(
            [poll(deliveries: [delivery(7, of: end), delivery(8, of: end, sink: "hook")])], within: limits)
        let reader = try await store.reader()
        let (over, later) = ("over before it could be sent", "a later message took its place")
        #expect(
            try await reader.deliveries(limit: 9).map { $0.state.isPending ? "-" : $0.delivery.reason ?? "" }
                == [later, "-", over, over, "-", "-", "-", "-"])
        #expect(Set(result.eviction.replaced.map(\.id)) == [1, 3, 4])
        try await store.journal.close()
    }

    @Test("a reminder of several waits for the message about one of them", arguments: Backend.allCases)
    func joinedReminder(_ backend: Backend) async throws {
        let store = try await backend.open()
        let firing = event(1, key: "b")
        _ = try await store.journal.commit([poll(events: [firing], deliveries: [delivery(1, of: firing)])])
        let reminders = [["a", "b"], ["a", "c"]].enumerated().map { i, keys in
            delivery(i + 2, of: several(i + 2, keys, kind: .reminder, part: .reminder))
        }
        let made = try await store.journal.commit([poll(deliveries: reminders)])
        #expect(made.flatMap(\.deliveries).map(\.state) == [.suppressed, .pending])
        try await store.journal.close()
    }

    @Test(
        "what a fallback gets keeps its order behind the attempt under way about its subject",
        arguments: Backend.allCases)
    func diverted(_ backend: Backend) async throws {
        let store = try await backend.open()
        let causes = [
            event(1, key: "a"), end(2, key: "a"), event(3, key: "b"),
            several(4, ["a", "b"], kind: .digest, part: .changed), end(5, key: "b"),
            event(6, key: "c"),
        ]
        let deliveries =
            causes.enumerated().map { delivery($0 + 1, of: $1) } + [delivery(7, of: causes[0], rule: "other")]
        let stored = causes.filter { $0.kind == .changed }
        _ = try await store.journal.commit([poll(events: stored, deliveries: deliveries)])
        func passedOn(keeping kept: Set<Int64>) async throws -> [Int64] {
            var limits = limits([:]) { delivery in
                delivery.fallback(among: ["mail"], where: { _ in true }, id: "msg_x\(delivery.id)", at: stamp(1))
            }
            limits.diverted = ["team": kept]
            return try await store.journal.evict(limits).eviction.evicted.map(\.id)
        }
        // Of another sink.
        #expect(try await passedOn(keeping: [1, 99]) == [3, 7])
        #expect(try await passedOn(keeping: [1]) == [])
        #expect(try await passedOn(keeping: []) == [1, 2, 4, 5, 6])
        try await store.journal.close()
    }

    @Test(
        "however many messages have no fallback left, those behind them are passed on", arguments: Backend.allCases)
    func exhausted(_ backend: Backend) async throws {
        let store = try await backend.open()
        let (cause, last) = (event(1, key: "a"), EvictionLimits.step + 1)
        var deliveries = (1...last).map { delivery($0, of: cause) }
        for i in deliveries.indices.dropLast() { deliveries[i].chain = [] }
        _ = try await store.journal.commit([poll(events: [cause], deliveries: deliveries)])
        func passedOn(keeping kept: Set<Int64>) async throws -> [Int64] {
            var limits = EvictionLimits(bounds: [:]) { delivery, _ in
                var end = Attempt(
                    delivery: delivery.id, state: .dead, attempts: 0, due: stamp(0), at: stamp(1), reason: nil)
                end.successor = delivery.fallback(among: ["mail"], where: { _ in true }, id: "msg_x", at: stamp(1))
                return end.successor == nil ? nil : end
            }
            limits.diverted = ["team": kept]
            return try await store.journal.evict(limits).eviction.evicted.map(\.id)
        }
        // One under way is about its subject.
        #expect(try await passedOn(keeping: [1]) == [])
        #expect(try await passedOn(keeping: []) == [Int64(last)])
        try await store.journal.close()
    }

    @Test(
        "at a fallback that persons read the newer event counts, not the one that came last",
        arguments: Backend.allCases)
    func lateFallback(_ backend: Backend) async throws {
        let store = try await backend.open()
        var limits = limits([:])
        limits.textSinks = ["mail"]
        let (down, up) = (event(1), end(2))
        let (first, end) = (delivery(1, of: down), delivery(2, of: up, sink: "mail"))
        _ = try await store.journal.commit([poll(events: [down], deliveries: [first, end])], within: limits)
        let sent = try #require(try await store.journal.pending(in: first.lane, after: 0, limit: 1).first)
        var dead = Attempt(delivery: 1, state: .dead, attempts: 1, due: stamp(0), at: stamp(2), reason: "404")
        dead.successor = sent.fallback(among: ["mail"], where: { _ in true }, id: "msg_y", at: stamp(2))
        let result = try await store.journal.record([dead], within: limits)
        #expect(result.successors.map(\.reason) == ["over before it could be sent"])
        #expect(try await store.journal.pending(in: end.lane, after: 0, limit: 9).map(\.id) == [2])
        try await store.journal.close()
    }

    @Test("no event of an earlier message about one item is read to replace it")
    func light() async throws {
        let scratch = Scratch()
        let journal = try scratch.open()
        var limits = limits([:])
        limits.textSinks = ["team"]
        _ = try await journal.commit(polls(1...3))
        try journal.tamper("update event set body = 'x'")
        let ends = (4...6).map { delivery($0, of: end($0)) }
        let result = try await journal.commit([poll(deliveries: ends)], within: limits)
        #expect(result.eviction.replaced.count == 5)
        try journal.close()
    }
}

extension DeliveryPlace {
    fileprivate func with(_ id: Int64) -> DeliveryPlace { DeliveryPlace(lane: lane, id: id) }
}
