// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteText

@testable import VedetteCore

/// Runs a rule engine without a journal. Time is moved by hand, and deliveries are recorded.
struct RuleHarness {
    var engine: RuleEngine
    var now: RuleTime
    /// The pending deliveries as `sink: title (+withheld)`, in their order.
    var sent: [String] = []
    /// The suppressed deliveries as `title: reason`.
    var suppressed: [String] = []
    /// The rows as they were written.
    private var stored: [RuleMemory.Key: RuleMemory] = [:]
    /// The rows that the journal would hold: through JSON, so that a property which is not stored is missed after a restart.
    var rows: [RuleMemory.Key: RuleMemory] {
        stored.reduce(into: [:]) { rows, row in rows[row.key] = RuleMemory(key: row.key, json: row.value.json) }
    }
    /// The messages of the pending deliveries.
    var messages: [Message] = []
    /// The event of the last pending delivery.
    var last: Event?
    /// The sinks of the suppressed deliveries.
    var suppressedSinks: [String] = []
    /// The text of the last pending delivery.
    var lastText = ""
    /// The warnings of all steps.
    var warnings: [String] = []
    /// The rows that the last step wrote.
    var written: [RuleMemory.Key] = []
    private let room: Int
    private let numbers = Numbers()
    private var seq: Int64 = 0

    /// Noon of an ordinary Saturday.
    static let noon = time("2026-11-21T12:00:00Z")

    /// - Parameter room: the rows that one rule keeps for one purpose at most.
    init(_ rules: Rule..., at start: Timestamp = noon, room: Int = RuleMemory.maximum) {
        self.room = room
        engine = RuleEngine(RuleSet(rules), civil: ZoneTime(), maximumRows: room)
        now = RuleTime(steady: start, wall: start)
    }

    static func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(milliseconds: 0) }

    // MARK: Events and polls

    @discardableResult
    mutating func item(
        _ key: String, _ state: String?, was: String? = nil, source: String = "lab", fields: Fields = [:]
    ) -> Event {
        let item = Item(key: key, title: key, state: state, fields: fields)
        let changes = was.map { [FieldChange(field: "state", from: .text($0), to: state.map(Value.text))] } ?? []
        return happen(was == nil ? .appeared : .changed, source: source, item, changes)
    }

    /// Changes another field than the state.
    mutating func field(_ key: String, _ field: String, _ value: String, was: String, state: String) {
        let item = Item(key: key, title: key, state: state, fields: [field: .text(value)])
        happen(.changed, source: "lab", item, [FieldChange(field: field, from: .text(was), to: .text(value))])
    }

    @discardableResult
    mutating func gone(_ key: String, _ state: String? = nil) -> Event {
        happen(.disappeared, source: "lab", Item(key: key, title: key, state: state), [])
    }

    @discardableResult
    mutating func source(_ kind: Event.Kind, _ source: String = "lab") -> Event {
        happen(kind, source: source, nil, [])
    }

    /// Changes the health of a source of a server.
    @discardableResult
    mutating func source(_ kind: Event.Kind, _ source: String, _ detail: String, server: String = "lab") -> Event {
        var event = event(kind, source)
        event.error = Event.Problem(failure: "server-error", detail: detail, server: server)
        take(evaluate(event))
        return event
    }

    /// Changes the response of a source of kind `http`.
    mutating func response(_ source: String, _ state: String, was: String) {
        var event = event(
            .changed, source: source, Item(key: source, title: source, state: state),
            [FieldChange(field: "state", from: .text(was), to: .text(state))])
        event.sourceKind = "http"
        take(evaluate(event))
    }

    /// Sets the silences of the journal.
    mutating func silence(_ silences: Silence...) { silence(silences) }

    mutating func silence(_ silences: [Silence]) {
        engine.setSilences(silences)
        take(engine.releaseSilenced(at: now, identifier: numbers.next))
    }

    @discardableResult
    private mutating func happen(_ kind: Event.Kind, source: String, _ item: Item?, _ changes: [FieldChange]) -> Event {
        let event = event(kind, source: source, item, changes)
        take(evaluate(event))
        return event
    }

    /// Evaluates an event without committing the step.
    mutating func evaluate(_ event: Event) -> RuleEngine.Step {
        engine.evaluate(event, at: now, identifier: numbers.next)
    }

    mutating func event(_ kind: Event.Kind, _ source: String = "lab") -> Event { event(kind, source: source, nil, []) }

    mutating func event(_ kind: Event.Kind, key: String, _ state: String, was: String) -> Event {
        let change = FieldChange(field: "state", from: .text(was), to: .text(state))
        return event(kind, source: "lab", Item(key: key, title: key, state: state), [change])
    }

    mutating func event(_ kind: Event.Kind, key: String, _ state: String) -> Event {
        event(kind, source: "lab", Item(key: key, title: key, state: state), [])
    }

    private mutating func event(_ kind: Event.Kind, source: String, _ item: Item?, _ changes: [FieldChange]) -> Event {
        seq += 1
        return Event(
            id: numbers.next(), seq: seq, kind: kind, time: now.wall, source: source, sourceKind: "json", poll: "p",
            item: item, changes: changes)
    }

    static let lab = Source(
        name: "lab", kindName: "json", kind: NoKind(), server: Server(name: ""), url: "https://lab.example.org",
        interval: PollInterval(every: .seconds(60)))

    /// Evaluates an item that was there before the rule.
    mutating func find(_ key: String, _ state: String, since: Duration, fields: Fields = [:]) {
        let item = Item(key: key, title: key, state: state, fields: fields)
        let stored = StoredItem(item, digest: item.digest, stateSince: now.wall.advanced(by: since))
        var evaluation = PollEvaluation(existing: [stored], of: RuleHarness.lab, at: now)
        engine.resume(&evaluation, elapsed: { .zero }, identifier: numbers.next)
        take(evaluation.step)
    }

    /// Evaluates a poll.
    mutating func poll(
        _ source: String = "lab", events: [Event] = [], isGood: Bool = true, missing: Set<String> = [],
        forgotten: Set<String> = [], baseline: [(key: String, state: String)]? = nil
    ) {
        var seen = PollObservation(isGood: isGood)
        (seen.missing, seen.forgotten) = (missing, forgotten)
        seen.baseline = baseline?.map { key, state in
            let item = Item(key: key, title: key, state: state)
            return StoredItem(item, digest: item.digest, stateSince: now.wall)
        }
        seen.stored = seen.baseline ?? []
        take(engine.evaluatePoll(of: source, events: events, seen, at: now, identifier: numbers.next))
    }

    /// Whether the next good poll of `lab` must be evaluated even when nothing changed.
    var needsPoll: Bool {
        guard let interest = engine.interest(in: "lab") else { return false }
        return interest.isUncertain || interest.nextConfirmation.map { $0 <= now.steady } ?? false
    }

    /// Evaluates a good poll whose commit fails, and again as the watcher repeats it.
    mutating func pollAfterFailedCommit(events: [Event]) {
        let seen = PollObservation(isGood: true)
        engine.undo(engine.evaluatePoll(of: "lab", events: events, seen, at: now, identifier: numbers.next))
        take(engine.evaluatePoll(of: "lab", events: events, seen, at: now, identifier: numbers.next))
    }

    /// Evaluates a good poll without committing the step.
    mutating func evaluatePoll() -> RuleEngine.Step {
        engine.evaluatePoll(of: "lab", at: now, identifier: numbers.next)
    }

    /// Discards what is remembered of other sources.
    mutating func forgetSources(except known: Set<String>, watched: Set<String>? = nil) {
        take(engine.forgetSources(except: known, watched: watched, at: now, identifier: numbers.next))
    }

    /// Moves both clocks, and fires each timer on the way at its own time.
    mutating func pass(_ duration: Duration) {
        let end = now.steady.advanced(by: duration)
        while let next = engine.nextTimer(at: now), next <= end {
            move(to: max(next, now.steady))
            take(engine.fireTimers(at: now, identifier: numbers.next))
        }
        move(to: end)
    }

    private mutating func move(to steady: Timestamp) {
        let step = steady.milliseconds - now.steady.milliseconds
        now.wall = Timestamp(milliseconds: now.wall.milliseconds + step)
        now.steady = steady
    }

    /// Sets the wall clock; the steady clock does not move.
    mutating func wallJumps(by duration: Duration) { now.wall = now.wall.advanced(by: duration) }

    /// Moves both clocks without firing timers, as while the program is down.
    mutating func sleep(_ duration: Duration) {
        now = RuleTime(steady: now.steady.advanced(by: duration), wall: now.wall.advanced(by: duration))
    }

    /// Starts a new engine with the rows of the journal.
    mutating func restart(
        with rules: RuleSet? = nil, unconfirmed: Set<String> = [], health: SourceHealth = SourceHealth()
    ) {
        let (old, silences) = (engine.rules, engine.silences)
        engine = RuleEngine(rules ?? old, civil: ZoneTime(), maximumRows: room)
        now.steady = now.wall
        let kept = Array(rows.values)
        take(
            engine.restore(
                kept, silences: silences, health: health, unconfirmed: unconfirmed, at: now, identifier: numbers.next))
    }

    mutating func reload(_ rules: Rule..., stored: RuleEngine.StoredItems = [:], failures: [Event] = []) {
        take(
            engine.reload(RuleSet(rules), stored: stored, failures: failures, at: now, identifier: numbers.next))
    }

    /// Takes other rules, at once or by a restart.
    mutating func edit(_ rules: Rule..., byRestart: Bool) {
        guard byRestart else {
            return take(engine.reload(RuleSet(rules), at: now, identifier: numbers.next))
        }
        restart(with: RuleSet(rules))
    }

    mutating func take(_ step: RuleEngine.Step) {
        written = Array(step.changes.keys)
        warnings += step.warnings
        for delivery in step.deliveries {
            if delivery.state == .suppressed {
                suppressedSinks.append(delivery.message.sink)
                suppressed.append("\(delivery.message.title): \(delivery.reason ?? "")")
            } else {
                let withheld = delivery.message.suppressed
                last = delivery.message.event
                lastText = delivery.message.text
                messages.append(delivery.message)
                let count = withheld > 0 ? " (+\(withheld))" : ""
                sent.append("\(delivery.message.sink): \(delivery.message.title)\(count)")
            }
        }
        for (key, row) in step.changes { stored[key] = row }
    }
}

private struct NoKind: SourceKind {
    var mode: ReadingMode { .list }
    var identity: UInt64 { 0 }
    var fingerprints: [String: UInt64] { [:] }
    var fieldNames: [String]? { nil }
    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
}

/// Gives each event, message and row an identifier of its own.
final class Numbers: Sendable {
    private let last = Mutex<UInt64>(0)

    func next() -> Identifier {
        let number = last.withLock { last in
            last += 1
            return last
        }
        return Identifier(time: Timestamp(milliseconds: 0), random: (number, number))
    }
}

extension RuleEngine {
    /// Takes other rules, as the watcher does.
    mutating func reload(
        _ rules: RuleSet, stored: StoredItems = [:], failures: [Event] = [], at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        let old = self.rules
        replaceRules(rules)
        return adopt(stored, failures: failures, after: old, at: now, identifier: identifier)
    }
}

extension Rule {
    static func when(
        _ condition: Condition, name: String = "r", to sinks: String..., gates: (inout Gates) -> Void = { _ in }
    ) -> Rule {
        var made = Gates()
        gates(&made)
        return Rule(
            name: name, when: condition, notify: (sinks.isEmpty ? ["out"] : sinks).map { NotificationTarget(sink: $0) },
            gates: made,
            identity: 0xFEDC_BA98_7654_3210)
    }
}

extension Condition {
    static func becomes(_ states: String...) -> Condition { .field("state", from: nil, to: .oneOf(states)) }
}
