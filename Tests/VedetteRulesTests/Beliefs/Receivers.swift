// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The sinks of a run, and what became of each message.
struct Receivers {
    enum State { case accepting, refusing, stuck }

    /// The sinks of the rule. The fallback of `out` is `spare`; `boss` is the sink of an escalation.
    static let notified = ["out", "team"]
    /// How long a message waits for a sink that has a fallback.
    static let patience = 60

    let hasFallback: Bool
    private var states: [String: State] = [:]
    private var pending: [String: [Told]] = [:]
    /// What receivers have, in the order in which they took it.
    private(set) var accepted: [Told] = []
    /// What never reached its sink: refused, dropped, or given to the fallback.
    private(set) var refused: [Told] = []
    /// Reminders that were made while an earlier message about their items was pending.
    private(set) var early: [Told] = []

    /// By sink, the items of which it took a match and no end, and the items of which it took no match.
    private var known: [String: Set<String>] = [:]
    private var lost: [String: Set<String>] = [:]

    init(hasFallback: Bool) { self.hasFallback = hasFallback }

    mutating func take(_ told: Told) {
        let state = states[told.sink] ?? .accepting
        if state != .stuck, !route(told) { return }
        switch state {
        case .accepting: accept(told)
        case .refusing: refuse(told)
        case .stuck:
            let keys = Set(told.parts.map(\.key))
            let isEarly = pending[told.sink]?.contains { !keys.isDisjoint(with: $0.parts.map(\.key)) } ?? false
            if told.kind == .reminder, isEarly { early.append(told) }
            pending[told.sink, default: []].append(told)
        }
    }

    /// Gives what tells that a match is over to the fallback that took the match.
    /// - Returns: whether its own sink gets it.
    private mutating func route(_ told: Told) -> Bool {
        let ends = Set(told.parts.filter(\.isEnd).map(\.key))
        let isForSink =
            ends.isEmpty || ends.count < Set(told.parts.map(\.key)).count
            || !ends.isSubset(of: lost[told.sink] ?? [])
        // What the sink refuses goes there anyway.
        let isRefused = isForSink && states[told.sink] == .refusing
        // A later line about an item is what the message says of it.
        let isOver = Dictionary(told.parts.map { ($0.key, $0.isEnd || $0.isOver) }, uniquingKeysWith: { $1 })
        let isEnd = known["spare"]?.contains { isOver[$0] == true } ?? false
        if told.sink == "out", hasFallback, !isRefused, isEnd {
            accept(told.forwarded(to: "spare"))
        }
        return isForSink
    }

    private mutating func accept(_ told: Told) {
        accepted.append(told)
        for part in told.parts {
            if part.isEnd || part.isOver {
                known[told.sink]?.remove(part.key)
            } else {
                known[told.sink, default: []].insert(part.key)
            }
            lost[told.sink]?.remove(part.key)
        }
    }

    private mutating func refuse(_ told: Told, isDropped: Bool = false) {
        refused.append(told)
        let begun = Set(told.parts.filter { !$0.isEnd }.map(\.key))
        lost[told.sink, default: []].formUnion(begun.subtracting(known[told.sink] ?? []))
        if told.sink == "out", hasFallback, !isDropped { accept(told.forwarded(to: "spare")) }
    }

    /// Gives what waited too long to the fallback.
    mutating func pass(to time: Int) {
        guard hasFallback, let waiting = pending["out"] else { return }
        for told in waiting where told.time + Receivers.patience <= time { refuse(told) }
        pending["out"] = waiting.filter { $0.time + Receivers.patience > time }
    }

    mutating func toggle(_ sink: String, _ state: State) { set(sink, states[sink] == state ? .accepting : state) }

    mutating func acceptAll() { for sink in Receivers.notified { set(sink, .accepting) } }

    private mutating func set(_ sink: String, _ state: State) {
        let waiting = pending.removeValue(forKey: sink) ?? []
        states[sink] = state
        for told in waiting { take(told) }
    }

    /// What is dropped by hand goes to no fallback.
    mutating func drop(_ sink: String) {
        for told in pending.removeValue(forKey: sink) ?? [] { refuse(told, isDropped: true) }
    }
}
