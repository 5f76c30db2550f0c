// SPDX-License-Identifier: Apache-2.0

/// What a rule remembers between an event and its message: one row of the journal, written in the transaction of the poll
/// that changed it.
public struct RuleMemory: Sendable, Hashable {
    /// Rows that one rule keeps for one purpose (I8). Each purpose has room of its own, so that many pending matches
    /// cannot take the room in which `limit` counts.
    static let maximum = 10_000

    /// Why something is remembered. The raw values are in the journal.
    public enum Slot: String, Sendable, Hashable, CaseIterable {
        /// `for`: a match that waits for `due` and the next good poll.
        case pending
        /// `quiet`: a match that waits for `due` on the wall clock.
        case deferred
        /// `digest`: events gathered until `due`, which is on the wall clock when it is a time of day or the end of a
        /// quiet time.
        case digest
        /// `limit`: when messages were sent.
        case limit
        /// `limit`: a withheld message about a subject. `group` is the value that the limit counts it under.
        case limited
        /// A message about a subject that a silence withheld. `group` is the sink of a silence of one sink.
        case silenced
        /// A message about a subject that `depends` withheld.
        case blocked
        /// A message about the health of a source that waits for others of the same server. `group` is the name of the row
        /// in `outage`.
        case grouped
        /// The first message about the health of a server's sources was sent. Further ones are grouped until `due`.
        case outage
        /// `at_least`: when matches of a group came.
        case tally
        /// `nothing`: waits for `due` without a match.
        case absence
        /// `how_many`: the number of items of the source is beyond the bound.
        case counted
        /// `by`: the value of a field that the last message announced, in `lines`.
        case announced
        /// `once_per`: a value for which a message was sent.
        case once
        /// `stays`, `remind` and `escalate`: a match that was released and is still true.
        case active
        /// The sinks that were told a match, in `lines`, until they are told its end. `event` is the last that they
        /// were told, `times` when it ended.
        case recipients
        /// The rule could not be evaluated against events of the source `name`. `lines` has the reason, `events` the ids of
        /// the first events, `count` the number of all.
        case failed

        /// What the rows of the slot are, in the plural.
        var noun: String {
            switch self {
            case .pending: "pending matches"
            case .deferred: "deferred matches"
            case .digest: "digests"
            case .limit: "groups of a limit"
            case .limited: "messages beyond its limit"
            case .silenced: "silenced messages"
            case .blocked: "messages that wait for a source of 'depends'"
            case .grouped: "sources that fail together"
            case .outage: "servers"
            case .tally: "groups of 'at_least'"
            case .absence: "times without a match"
            case .counted: "counts of items"
            case .announced: "values"
            case .once: "values"
            case .active: "active matches"
            case .recipients: "matches that were told"
            case .failed: "failures"
            }
        }

        /// Whether what the rule does about one source can depend on its rows about others. Each of the other rows concerns
        /// one source alone.
        public var isShared: Bool {
            switch self {
            case .deferred, .digest, .limit, .limited, .silenced, .blocked, .grouped, .outage, .tally, .absence, .once,
                .active:
                true
            case .pending, .counted, .announced, .recipients, .failed: false
            }
        }

        /// Whether its rows are messages that a gate withheld, and that are announced when the gate opens.
        var isWithheld: Bool {
            switch self {
            case .limited, .silenced, .blocked, .grouped: true
            case .pending, .deferred, .digest, .limit, .outage, .tally, .absence, .counted, .announced, .once, .active,
                .recipients, .failed:
                false
            }
        }
    }

    /// Identifies a row.
    public struct Key: Sendable, Hashable {
        /// The rule's name.
        public var rule: String
        /// Why it is remembered.
        public var slot: Slot
        /// The subject, group or value.
        public var name: String

        /// Creates a key.
        public init(rule: String, slot: Slot, name: String) { (self.rule, self.slot, self.name) = (rule, slot, name) }
    }

    /// Identifies the row.
    public var key: Key
    /// The `identity` of the rule. The row is discarded when the rule has another one.
    public var identity: UInt64
    /// The latest event that the message will be about.
    public var event: Event?
    /// When something is to be done; nil for never.
    public var due: Timestamp?
    /// Whether `due` is on the wall clock.
    public var isCivil = false
    /// When it began; for `active`, when the first message was sent.
    public var since: Timestamp
    /// Messages that were withheld and that no message has counted yet; `digest`: events gathered.
    public var count = 0
    /// `digest`: messages that were withheld before, and that the gathered ones replaced.
    public var replaced = 0
    /// `limit`: when messages were sent; `active`: when the last reminder was sent; `recipients`: when the match ended first.
    public var times: [Timestamp] = []
    /// `digest`: the titles of the first events; `limited`: the value of `once_per` that the message uses up;
    /// `recipients`: the sinks.
    public var lines: [String] = []
    /// `digest`: the web addresses of the first events' items.
    public var links: [String] = []
    /// `digest`: the ids of the first events.
    public var events: [String] = []
    /// Escalation steps done.
    public var step = 0
    /// `limited`: whether `event` came after the withheld ones and is not one of them; `recipients`: whether the match is over
    /// and its end was released.
    public var isAfter = false
    /// The rows that are announced together: those of one rule and slot with the same group. Of `active` it is the message that
    /// announced them.
    public var group = ""
    /// The only sink that a silence withholds the message from; nil for all sinks of the rule.
    public var sink: String?
    /// `active`, `absence`: whether a message announced it.
    public var isAnnounced = false

    /// Creates a row.
    public init(key: Key, identity: UInt64, event: Event? = nil, due: Timestamp? = nil, since: Timestamp) {
        (self.key, self.identity, self.event, self.due, self.since) = (key, identity, event, due, since)
    }

    /// What the event is about; nil without an event.
    var subject: Subject? { event.map(Subject.init) }

    /// Whether it ends when its item changes, so that a good poll must confirm it.
    var dependsOnItem: Bool {
        switch key.slot {
        case .pending, .deferred, .active, .recipients, .limited, .silenced, .blocked: event?.item != nil
        // A good poll of the rule's source shows that there really was nothing.
        case .absence: event.map { $0.source != Event.watcher } ?? false
        case .digest, .limit, .grouped, .outage, .tally, .counted, .announced, .once, .failed: false
        }
    }

    /// Whether rows of the same group are announced in one message.
    var isInGroup: Bool {
        key.slot.isWithheld || key.slot == .deferred || (key.slot == .active && !group.isEmpty)
    }

    func isDue(at now: RuleTime) -> Bool { due.map { $0 <= (isCivil ? now.wall : now.steady) } ?? false }

    func age(at now: RuleTime) -> String { DurationText.long(seconds: seconds(at: now)) }
    func seconds(at now: RuleTime) -> Double { max(0, now.steady.seconds(since: since)) }

    /// Returns a copy without times that its rule cannot have meant: the wall clock may have been set while the program
    /// was down. Nothing began in the future, and nothing is due later than the rule waits.
    func clamped(by rule: Rule, at now: RuleTime) -> RuleMemory {
        var clamped = self
        clamped.since = min(since, now.steady)
        clamped.times = times.map { min($0, now.steady) }
        let isCountAlone = key.slot == .limit && times.isEmpty
        let longest = isCountAlone ? RuleEngine.countSpan : rule.maximumDelay(of: key.slot)
        if key.slot == .pending, let due = event.flatMap({ rule.timeOfAge(of: $0, at: now) }) {
            clamped.due = due
        } else if !isCivil {
            clamped.due = due.map { min($0, now.steady.advanced(by: longest)) }
        }
        return clamped
    }
}

extension RuleMemory {
    /// The row's body in the journal.
    public var json: JSON {
        .members([
            "identity": .string(Identifier.hex(identity)),
            "event": event?.json,
            "due": due.map { .number($0.milliseconds) },
            "civil": isCivil ? .bool(true) : nil,
            "since": .number(since.milliseconds),
            "count": count == 0 ? nil : .number(count),
            "replaced": replaced == 0 ? nil : .number(replaced),
            "times": times.isEmpty ? nil : .array(times.map { .number($0.milliseconds) }),
            "lines": lines.isEmpty ? nil : .array(lines.map(JSON.string)),
            "links": links.allSatisfy(\.isEmpty) ? nil : .array(links.map(JSON.string)),
            "events": events.isEmpty ? nil : .array(events.map(JSON.string)),
            "step": step == 0 ? nil : .number(step),
            "after": isAfter ? .bool(true) : nil,
            "group": group.isEmpty ? nil : .string(group),
            "sink": sink.map(JSON.string),
            "announced": isAnnounced ? .bool(true) : nil,
        ])
    }

    /// Reads a row's body; returns nil when this program did not write it.
    public init?(key: Key, json: JSON) {
        guard let identity = json["identity"]?.string.flatMap({ UInt64($0, radix: 16) }),
            let since = json["since"]?.int64
        else { return nil }
        self.init(key: key, identity: identity, since: Timestamp(milliseconds: since))
        event = json["event"].flatMap(Event.init(json:))
        due = json["due"]?.int64.map(Timestamp.init(milliseconds:))
        isCivil = json["civil"] == .bool(true)
        count = json["count"]?.int64.map(Int.init) ?? 0
        replaced = json["replaced"]?.int64.map(Int.init) ?? 0
        times = json["times"]?.array?.compactMap { $0.int64.map(Timestamp.init(milliseconds:)) } ?? []
        lines = json["lines"]?.array?.compactMap(\.string) ?? []
        links = json["links"]?.array?.compactMap(\.string) ?? []
        events = json["events"]?.array?.compactMap(\.string) ?? []
        step = json["step"]?.int64.map(Int.init) ?? 0
        isAfter = json["after"] == .bool(true)
        group = json["group"]?.string ?? ""
        sink = json["sink"]?.string
        isAnnounced = json["announced"] == .bool(true)
    }
}
