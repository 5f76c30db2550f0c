// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedetteText

/// Rules at work without a journal: time is moved by hand, and what was said is kept.
struct Stage {
    var engine: RuleEngine
    var now: RuleTime
    /// `sink: title`, in the order in which it was said.
    var said: [String] = []
    /// `title: reason`
    var unsaid: [String] = []
    /// What the journal would hold.
    var rows: [RuleMemory.Key: RuleMemory] = [:]
    /// The last event that was spoken of.
    var last: Event?
    /// The sinks that were not spoken to.
    var unsaidTo: [String] = []
    /// What the last step wrote.
    var written: [RuleMemory.Key] = []
    private let numbers = Numbers()
    private var seq: Int64 = 0

    /// Noon of an ordinary Saturday.
    static let noon = time("2026-11-21T12:00:00Z")

    init(_ rules: Rule..., at start: Timestamp = noon) {
        engine = RuleEngine(RuleSet(rules), civil: ZoneTime())
        now = RuleTime(steady: start, wall: start)
    }

    static func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(milliseconds: 0) }

    // MARK: What happens

    @discardableResult
    mutating func item(
        _ key: String, _ state: String?, was: String? = nil, source: String = "lab", fields: Fields = [:]
    ) -> Event {
        let item = Item(key: key, title: key, state: state, fields: fields)
        let changes = was.map { [FieldChange(field: "state", from: .text($0), to: state.map(Value.text))] } ?? []
        return happen(was == nil ? .appeared : .changed, source: source, item, changes)
    }

    /// Another field than the state changed.
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

    @discardableResult
    private mutating func happen(_ kind: Event.Kind, source: String, _ item: Item?, _ changes: [FieldChange]) -> Event {
        let event = event(kind, source: source, item, changes)
        take(happens(event))
        return event
    }

    /// An event that is not committed.
    mutating func happens(_ event: Event) -> RuleEngine.Step {
        engine.happened(event, at: now, identifier: numbers.next)
    }

    mutating func event(_ kind: Event.Kind, _ source: String = "lab") -> Event { event(kind, source: source, nil, []) }

    mutating func event(_ kind: Event.Kind, key: String, _ state: String, was: String) -> Event {
        let change = FieldChange(field: "state", from: .text(was), to: .text(state))
        return event(kind, source: "lab", Item(key: key, title: key, state: state), [change])
    }

    private mutating func event(_ kind: Event.Kind, source: String, _ item: Item?, _ changes: [FieldChange]) -> Event {
        seq += 1
        return Event(
            id: numbers.next(), seq: seq, kind: kind, time: now.wall, source: source, sourceKind: "json", poll: "p",
            item: item, changes: changes)
    }

    /// An item that is there already.
    mutating func find(_ key: String, _ state: String, since: Duration) {
        let item = Item(key: key, title: key, state: state)
        let stored = StoredItem(item, digest: item.digest, stateSince: now.wall.advanced(by: since))
        let source = Source(
            name: "lab", kindName: "json", kind: NoKind(), server: Server(name: ""), url: "https://lab.example.org",
            pace: PollInterval(every: .seconds(60)))
        take(engine.found([stored], of: source, at: now, identifier: numbers.next))
    }

    /// A poll, after its events: a good one, unless it is said.
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
        take(engine.polled(source, events, seen, at: now, identifier: numbers.next))
    }

    /// A good poll that is not committed.
    mutating func polled() -> RuleEngine.Step { engine.polled("lab", at: now, identifier: numbers.next) }

    /// What the journal's pruning and the files no longer know.
    mutating func keep(sources: Set<String>) { take(engine.keep(sources: sources, at: now, identifier: numbers.next)) }

    /// Time passes on both clocks; what is due on the way is due at its own time.
    mutating func pass(_ duration: Duration) {
        let end = now.steady.advanced(by: duration)
        while let next = engine.nextTick(at: now), next <= end {
            move(to: max(next, now.steady))
            take(engine.ticked(at: now, identifier: numbers.next))
        }
        move(to: end)
    }

    private mutating func move(to steady: Timestamp) {
        let step = steady.milliseconds - now.steady.milliseconds
        now.wall = Timestamp(milliseconds: now.wall.milliseconds + step)
        now.steady = steady
    }

    /// The wall clock is set anew; the boot-time clock hears nothing of it.
    mutating func wallJumps(by duration: Duration) { now.wall = now.wall.advanced(by: duration) }

    /// The program is down for so long.
    mutating func sleep(_ duration: Duration) {
        now = RuleTime(steady: now.steady.advanced(by: duration), wall: now.wall.advanced(by: duration))
    }

    /// The program dies and starts again with what the journal holds.
    mutating func restart(with rules: RuleSet? = nil, unsure: Set<String> = []) {
        let (old, silences) = (engine.rules, engine.silences)
        engine = RuleEngine(rules ?? old, civil: ZoneTime())
        now.steady = now.wall
        let kept = Array(rows.values)
        take(
            engine.restore(
                kept, silences: silences, failing: [], unsure: unsure, at: now, identifier: numbers.next))
    }

    mutating func reload(_ rules: Rule...) { take(engine.reload(RuleSet(rules), at: now, identifier: numbers.next)) }

    mutating func take(_ step: RuleEngine.Step) {
        written = Array(step.changes.keys)
        for delivery in step.deliveries {
            if delivery.state == .suppressed {
                unsaidTo.append(delivery.message.sink)
                unsaid.append("\(delivery.message.title): \(delivery.reason ?? "")")
            } else {
                let held = delivery.message.suppressed
                last = delivery.message.event
                said.append("\(delivery.message.sink): \(delivery.message.title)" + (held > 0 ? " (+\(held))" : ""))
            }
        }
        for (key, row) in step.changes {
            // Through the journal's own form, so that nothing lives in memory alone.
            rows[key] = row.flatMap { RuleMemory(key: key, json: $0.json) }
        }
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

private final class Numbers: Sendable {
    private let last = Mutex<UInt64>(0)

    func next() -> Identifier {
        let number = last.withLock { last in
            last += 1
            return last
        }
        return Identifier(time: Timestamp(milliseconds: 0), random: (number, number))
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
            identity: 1)
    }
}

extension Condition {
    static func becomes(_ states: String...) -> Condition { .field("state", from: nil, to: .oneOf(states)) }
}
