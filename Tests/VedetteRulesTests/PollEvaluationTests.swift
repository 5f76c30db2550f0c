// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteText

@Suite("A poll is evaluated in pieces")
struct PollEvaluationTests {
    private static let now = RuleTime(steady: RuleHarness.noon, wall: RuleHarness.noon)
    private let down = Rule.when(.becomes("down"), name: "down")

    /// A clock that each slow match advances.
    private final class Time: Sendable {
        private let milliseconds = Mutex(0)
        func elapsed() -> Duration { .milliseconds(milliseconds.withLock { $0 }) }
        func advance(by count: Int) { milliseconds.withLock { $0 += count } }
    }

    private struct SlowPattern: Pattern {
        let time: Time
        func matches(_ text: String) throws(PatternError) -> Bool {
            time.advance(by: 100)
            return text == "down"
        }
    }

    private struct FailingPattern: Pattern {
        func matches(_ text: String) throws(PatternError) -> Bool { throw PatternError("match limit") }
    }

    private static func slow(_ time: Time) -> Rule {
        Rule.when(.field("state", from: nil, to: .regex(SlowPattern(time: time), text: "x")), name: "slow")
    }

    private static func event(_ n: Int, source: String = "lab") -> Event {
        Event(
            id: Identifier("\(source)-\(n)"), kind: .changed, time: RuleHarness.noon, source: source,
            sourceKind: "json", poll: "p", item: Item(key: "\(n)", title: "\(n)", state: "down"),
            changes: [FieldChange(field: "state", from: "up", to: "down")])
    }

    private static func events(_ count: Int, source: String = "lab") -> [Event] {
        (0..<count).map { event($0, source: source) }
    }

    private static func next() -> Identifier { Identifier("x") }

    @Test("the pieces have the same outcome as one, and a piece ends after its time")
    func pieces() {
        let time = Time()
        let rules = RuleSet([down, Rule.when(.becomes("down"), name: "twin")])
        var engine = RuleEngine(rules, civil: ZoneTime())
        var evaluation = PollEvaluation(of: "lab", events: Self.events(95), at: Self.now)
        var pieces = 0
        while !evaluation.isFinished {
            pieces += 1
            engine.resume(
                &evaluation,
                elapsed: {
                    time.advance(by: 1)
                    return time.elapsed()
                }, identifier: Self.next)
        }
        #expect(pieces > 10)
        var other = RuleEngine(rules, civil: ZoneTime())
        let whole = other.evaluatePoll(
            of: "lab", events: Self.events(95), at: Self.now, identifier: Self.next)
        #expect(evaluation.step.deliveries == whole.deliveries && evaluation.step.changes == whole.changes)
        #expect(evaluation.matched == Array(0..<95), "an event that two rules match is recorded once")
    }

    @Test("a poll that fails after another one ran between its pieces takes back its own changes only")
    func interleaved() {
        let time = Time()
        var rule = Self.slow(time)
        rule.gates.limit = Limit(count: 10, per: .seconds(600), by: .rule)
        var engine = RuleEngine(RuleSet([rule]), civil: ZoneTime())
        var evaluation = PollEvaluation(of: "lab", events: Self.events(3), at: Self.now)
        engine.resume(&evaluation, elapsed: time.elapsed, identifier: Self.next)
        let other = engine.evaluatePoll(
            of: "web", events: Self.events(1, source: "web"), at: Self.now, identifier: Self.next)
        while !evaluation.isFinished {
            engine.resume(&evaluation, elapsed: time.elapsed, identifier: Self.next)
        }
        #expect(engine.remembered.first?.times.map(\.count) == [4])
        #expect(evaluation.step.deliveries.count == 3 && other.deliveries.count == 1)
        #expect(evaluation.step.changes.values.first??.times.map(\.count) == [4], "committed last, it has both polls")
        var both = engine
        both.undo(evaluation.step)
        both.undo(other)
        #expect(both.remembered.isEmpty)
        both = engine
        both.undo(other)
        both.undo(evaluation.step)
        #expect(both.remembered.isEmpty)
    }

    @Test("a rule over its budget fails for this poll with one message per sink; other rules go on")
    func budget() {
        let time = Time()
        var engine = RuleEngine(RuleSet([Self.slow(time), down]), civil: ZoneTime())
        var evaluation = PollEvaluation(of: "lab", events: Self.events(25), at: Self.now)
        while !evaluation.isFinished {
            engine.resume(&evaluation, elapsed: time.elapsed, identifier: Self.next)
        }
        let deliveries = Dictionary(grouping: evaluation.step.deliveries, by: \.message.rule)
        #expect(deliveries["down"]?.count == 25)
        #expect(deliveries["slow"]?.count == 11, "ten matches within the second, and the failure")
        let failure = evaluation.step.deliveries.first { $0.message.event.kind == .ruleFailed }
        #expect(failure?.message.title == "15 events of lab not evaluated")
        #expect(failure?.message.event.summary?.title == failure?.message.title)
        let lines =
            ["rule 'slow': it took longer than 1 s; 15 events not evaluated"] + (10..<25).map { "\($0): up → down" }
        #expect(failure?.message.text == lines.joined(separator: "\n"))
        #expect(failure?.state == .pending && failure?.message.event.summary?.count == 15)
        #expect(evaluation.step.failures.map(\.rule) == ["slow"])
        let row = engine.remembered.first { $0.key.slot == .failed }
        #expect(row?.key.name == "lab" && row?.count == 15 && row?.events.first == "lab-10")
        // The next poll of the source has a budget of its own.
        let next = engine.evaluatePoll(of: "lab", events: Self.events(1), at: Self.now, identifier: Self.next)
        #expect(next.deliveries.count == 2 && engine.remembered.isEmpty)
    }

    @Test("a rule has more time for a large poll")
    func budgetOfManyEvents() {
        let time = Time()
        var engine = RuleEngine(RuleSet([Self.slow(time)]), civil: ZoneTime())
        var budget = PollEvaluation.Budget()
        budget.event = .milliseconds(80)
        var evaluation = PollEvaluation(of: "lab", events: Self.events(25), at: Self.now, budget: budget)
        while !evaluation.isFinished {
            engine.resume(&evaluation, elapsed: time.elapsed, identifier: Self.next)
        }
        #expect(evaluation.step.deliveries.count == 21, "twenty matches within two seconds, and the failure")
    }

    @Test("a pattern that hits its limit is reported once, with the number of events")
    func patternLimit() {
        let rule = Rule.when(.field("state", from: nil, to: .regex(FailingPattern(), text: "x")))
        var harness = RuleHarness(rule)
        harness.poll(events: Self.events(21))
        #expect(harness.sent == ["out: 21 events of lab not evaluated"])
        #expect(harness.last?.summary?.events == (0..<20).map { "lab-\($0)" }, "the first twenty are named")
        harness.restart()
        #expect(harness.rows.keys.map(\.slot) == [.failed])
        harness.poll()
        #expect(harness.rows.count == 1, "a poll without events proves nothing")
        harness.poll(events: Self.events(3))
        #expect(harness.sent.count == 1 && harness.rows.values.first?.count == 24, "the sink knows it")
        harness.forgetSources(except: ["web"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a silence withholds the message that a rule could not be evaluated")
    func silencedFailure() {
        var harness = RuleHarness(
            Rule.when(.field("state", from: nil, to: .regex(FailingPattern(), text: "x")), to: "one", "two"))
        harness.silence(Silence(id: 1, sink: "two", created: RuleHarness.noon))
        for _ in 1...2 { harness.poll(events: Self.events(1)) }
        #expect(harness.sent == ["one: 1 event of lab not evaluated"])
        #expect(harness.suppressedSinks == ["two"], "recorded once")
        harness.silence()
        for _ in 1...2 { harness.poll(events: Self.events(1)) }
        #expect(harness.sent.dropFirst() == ["two: 1 event of lab not evaluated"])
    }

    @Test("of many events the matched ones and the first others are stored, the rest as one with counts and samples")
    func burst() {
        var events = Self.events(100)
        for i in 60..<100 { events[i].kind = .appeared }
        let folded = EventBurst.fold(events, matched: [95, 97], maximum: 50, identifier: Self.next)
        #expect(folded.dropLast().map(\.id.description) == ((0..<50).map { "lab-\($0)" } + ["lab-95", "lab-97"]))
        #expect(folded.last?.kind == .burst && folded.last?.source == "lab" && folded.last?.poll == "p")
        #expect(folded.last?.summary?.count == 48)
        #expect(folded.last?.summary?.lines.first == "38 appeared, 10 changed")
        #expect(folded.last?.summary?.events.count == 20 && folded.last?.summary?.events.first == "lab-50")
        #expect(folded.last.flatMap { Event(json: $0.json) } == folded.last)
        #expect(EventBurst.fold(events, matched: [], maximum: 100, identifier: Self.next) == events)
        #expect(EventBurst.fold(events, matched: Array(0..<100), maximum: 50, identifier: Self.next) == events)
        let many = Self.events(10_002)
        #expect(EventBurst.fold(many.dropLast(2), matched: [], identifier: Self.next).count == 10_000)
        #expect(EventBurst.fold(many, matched: [], identifier: Self.next).last?.summary?.count == 2)
    }

    @Test("existing items are evaluated in pieces and within the rule's budget, like events")
    func existing() {
        let time = Time()
        var rule = Self.slow(time)
        (rule.matchesExisting, rule.gates.pendingFor) = (true, .seconds(60))
        let items = (0..<25).map { n in
            let item = Item(key: "\(n)", title: "\(n)", state: n == 3 ? "up" : "down")
            return StoredItem(item, digest: item.digest, stateSince: RuleHarness.noon)
        }
        var engine = RuleEngine(RuleSet([rule]), civil: ZoneTime())
        var evaluation = PollEvaluation(existing: items, of: RuleHarness.lab, at: Self.now)
        var pieces = 0
        while !evaluation.isFinished {
            pieces += 1
            engine.resume(&evaluation, elapsed: time.elapsed, identifier: Self.next)
        }
        #expect(pieces >= 10)
        #expect(
            engine.remembered.count { $0.waitingReason == "held" } == 9, "ten items within the second, one of them up")
        let failure = evaluation.step.deliveries.first
        #expect(evaluation.step.deliveries.count == 1 && failure?.message.event.kind == .ruleFailed)
        #expect(failure?.message.event.summary?.count == 15)
        #expect(failure?.message.event.summary?.events == [], "no event of theirs is stored")
    }

    @Test("an event that matches no rule is stored one by one when a later message can be about it")
    func laterMessage() {
        var engine = RuleEngine(
            RuleSet([Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }]), civil: ZoneTime())
        _ = engine.evaluatePoll(of: "lab", events: Self.events(1), at: Self.now, identifier: Self.next)
        var events = Self.events(2)
        for i in events.indices { events[i].changes = [FieldChange(field: "owner", from: "ann", to: "bob")] }
        var evaluation = PollEvaluation(of: "lab", events: events, at: Self.now)
        engine.resume(&evaluation, elapsed: { .zero }, identifier: Self.next)
        #expect(evaluation.matched == [0])
    }

    @Test("a step is empty without deliveries, changes and ended silences")
    func emptyStep() {
        let ending = Silence(id: 1, source: "lab", item: "0", untilState: "down", created: RuleHarness.noon)
        let outcomes = [
            RuleSet([]), RuleSet([down]), RuleSet([Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }]),
        ].map { rules in
            var engine = RuleEngine(rules, civil: ZoneTime())
            return engine.evaluate(Self.event(0), at: Self.now, identifier: Self.next).isEmpty
        }
        #expect(outcomes == [true, false, false])
        var engine = RuleEngine(RuleSet([]), civil: ZoneTime())
        engine.setSilences([ending])
        let step = engine.evaluate(Self.event(0), at: Self.now, identifier: Self.next)
        #expect(!step.isEmpty && step.deliveries.isEmpty && step.changes.isEmpty)
    }
}
