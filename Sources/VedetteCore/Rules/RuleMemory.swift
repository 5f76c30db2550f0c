// SPDX-License-Identifier: Apache-2.0

/// What an event is about: an item of a source, or the source itself.
public struct Subject: Sendable, Hashable {
    public var source: String
    /// Nil for the source itself.
    public var key: String?

    public init(_ event: Event) { (source, key) = (event.source, event.item?.key) }
    public init(source: String, key: String?) { (self.source, self.key) = (source, key) }

    /// Apart from every other subject's.
    var text: String { key.map { source + "\u{1F}" + $0 } ?? source }
}

/// What a rule remembers between an event and what it says of it: one row of the journal, written in the transaction of
/// the poll that changed it.
public struct RuleMemory: Sendable, Hashable {
    /// Why it is remembered.
    public enum Slot: String, Sendable, Hashable, CaseIterable {
        /// `for`: until `due`, and a good poll after it.
        case held
        /// `quiet`: until `due` on the wall clock.
        case deferred
        /// `digest`: gathers until `due`, on the wall clock when it is a time of day or the end of a quiet time.
        case digest
        /// `limit`: when messages went out, and what was held back.
        case limit
        /// `once_per`: that it was said.
        case once
        /// `remind` and `escalate`: it was said and is still so.
        case standing
    }

    public struct Key: Sendable, Hashable {
        public var rule: String
        public var slot: Slot
        /// The subject, group or value.
        public var name: String

        public init(rule: String, slot: Slot, name: String) { (self.rule, self.slot, self.name) = (rule, slot, name) }
    }

    public var key: Key
    /// Of the rule: a rule that says something else forgets.
    public var identity: UInt64
    /// The latest event it speaks of.
    public var event: Event?
    public var due: Timestamp?
    /// `due` is on the wall clock.
    public var isCivil = false
    /// Since when; for `standing` when it was first said.
    public var since: Timestamp
    /// How many messages were held back and are not spoken of yet.
    public var count = 0
    /// `limit`: when messages went out.
    public var times: [Timestamp] = []
    /// `digest`: titles of what it gathered, the first ones.
    public var lines: [String] = []
    /// `digest`: ids of the events, the first ones.
    public var events: [String] = []
    /// `standing`: escalations done.
    public var step = 0
    /// `limit`: the event came after what was held back and is none of it.
    public var isAfter = false

    public init(key: Key, identity: UInt64, event: Event? = nil, due: Timestamp? = nil, since: Timestamp) {
        (self.key, self.identity, self.event, self.due, self.since) = (key, identity, event, due, since)
    }

    var subject: Subject? { event.map(Subject.init) }

    /// It is said only while an item is still so.
    var waitsForItem: Bool {
        switch key.slot {
        case .held, .deferred, .standing: event?.item != nil
        case .digest, .limit, .once: false
        }
    }

    func isDue(at now: RuleTime) -> Bool { due.map { $0 <= (isCivil ? now.wall : now.steady) } ?? false }

    func age(at now: RuleTime) -> String { MessageFormatter.duration(seconds: seconds(at: now)) }
    func seconds(at now: RuleTime) -> Double { max(0, now.steady.seconds(since: since)) }

    /// The wall clock may have been set while the program was down: nothing began in the future, and nothing is due
    /// later than the rule waits.
    func clamped(by rule: Rule, at now: RuleTime) -> RuleMemory {
        var clamped = self
        clamped.since = min(since, now.steady)
        clamped.times = times.map { min($0, now.steady) }
        if !isCivil { clamped.due = due.map { min($0, now.steady.advanced(by: rule.longestWait(of: key.slot))) } }
        return clamped
    }
}

extension RuleMemory {
    public var json: JSON {
        .members([
            "identity": .string(Identifier.hex(identity)),
            "event": event?.json,
            "due": due.map { .number($0.milliseconds) },
            "civil": isCivil ? .bool(true) : nil,
            "since": .number(since.milliseconds),
            "count": count == 0 ? nil : .number(count),
            "times": times.isEmpty ? nil : .array(times.map { .number($0.milliseconds) }),
            "lines": lines.isEmpty ? nil : .array(lines.map(JSON.string)),
            "events": events.isEmpty ? nil : .array(events.map(JSON.string)),
            "step": step == 0 ? nil : .number(step),
            "after": isAfter ? .bool(true) : nil,
        ])
    }

    /// Nil when it is not what this program wrote.
    public init?(key: Key, json: JSON) {
        guard let identity = json["identity"]?.string.flatMap({ UInt64($0, radix: 16) }),
            let since = json["since"]?.int64
        else { return nil }
        self.init(key: key, identity: identity, since: Timestamp(milliseconds: since))
        event = json["event"].flatMap(Event.init(json:))
        due = json["due"]?.int64.map(Timestamp.init(milliseconds:))
        isCivil = json["civil"] == .bool(true)
        count = json["count"]?.int64.map(Int.init) ?? 0
        times = json["times"]?.array?.compactMap { $0.int64.map(Timestamp.init(milliseconds:)) } ?? []
        lines = json["lines"]?.array?.compactMap(\.string) ?? []
        events = json["events"]?.array?.compactMap(\.string) ?? []
        step = json["step"]?.int64.map(Int.init) ?? 0
        isAfter = json["after"] == .bool(true)
    }
}
