// SPDX-License-Identifier: Apache-2.0

/// What a rule remembers: one row of the journal, written in the transaction of the poll that changed it.
public struct RuleMemory: Sendable, Hashable {
    /// Rows that one rule keeps for one purpose (I8). Each purpose has room of its own, so that many matches that wait cannot
    /// take the room in which `limit` counts.
    static let maximum = 10_000

    /// What a row is about. The raw values are in the journal.
    public enum Slot: String, Sendable, Hashable, CaseIterable {
        /// A subject: what is true of it, and what each sink was told.
        case match
        /// `limit`: when each sink got messages of a group.
        case limit
        /// `digest`, and `quiet` with a digest: the events of a group that are listed until `due`.
        case log
        /// The first message about the health of a server's sources was sent. Further ones wait until `due`.
        case server
        /// `at_least`: when matches of a group came.
        case tally
        /// `nothing`: waits for `due` without a match.
        case absence
        /// `by`: the value of a field that the last message announced, and the one before, in `lines`; of one sink in `sinks`,
        /// else of all.
        case reference
        /// `once_per`: a value, and in `events` the match for which it was used, and the one in whose place that waited.
        case once
        /// The rule could not be evaluated against events of the source `name`. `lines` has the reason, `events` the ids of
        /// the first events, `count` the number of all.
        case failed

        /// Whether what the rule does about one source can depend on its rows about others. A step that tells matches together
        /// writes their rows, too.
        public var isShared: Bool { ![.reference, .failed].contains(self) }
    }

    /// Identifies a row.
    public struct Key: Sendable, Hashable {
        /// The rule's name.
        public var rule: String
        /// What the row is about.
        public var slot: Slot
        /// The subject, group or value.
        public var name: String

        /// Creates a key.
        public init(rule: String, slot: Slot, name: String) { (self.rule, self.slot, self.name) = (rule, slot, name) }
    }

    /// Messages of a group that were made at the same time, and the sinks that got each of them.
    public struct Sent: Sendable, Hashable {
        /// When they were made, on the steady clock.
        public var time: Timestamp
        /// The sinks; empty for matches of `at_least`.
        public var sinks: Set<String> = []
        /// `limit`: whether they told the end of matches, which does not count.
        public var isEnd = false
        /// How many they are: ten thousand messages of one poll are one entry.
        public var count = 1
    }

    /// Identifies the row.
    public var key: Key
    /// The `identity` of the rule when it last looked at the row; of a log the `logIdentity`. Another one means that the
    /// rule was edited.
    public var identity: UInt64
    /// `match`: what the sinks in `waits` are to be told; `log`: the latest event; `absence`: the event of the message.
    public var event: Event?
    /// `limit`, `log`, `server`, `tally`, `absence`: when something is to be done; nil for never.
    public var due: Timestamp?
    /// Whether `due` is on the wall clock.
    public var isCivil = false
    /// When it began.
    public var since: Timestamp
    /// `log`: events listed; `failed`: events that were not evaluated.
    public var count = 0
    /// `log`: messages that were withheld before, and that no message has counted.
    public var replaced = 0
    /// `limit`: the messages of the window; `tally`: the matches of the span.
    public var times: [Sent] = []
    /// `limit`: messages for each sink that were withheld until they were over, and that no message has counted.
    public var uncounted: [String: Int] = [:]
    /// `log`: the titles of the first events; `reference`: the values.
    public var lines: [String] = []
    /// `log`: the web addresses of the first events' items.
    public var links: [String] = []
    /// `log`: the ids of the first events; `server`, `once`: the id of the event that was told; `reference`: the id of the event
    /// that a log listed with the last value.
    public var events: [String] = []
    /// `log`: the first events, for the data of its message.
    public var parts: [Event.Summary.Part] = []
    /// `log`: the sinks of its message; `once`: the sinks that were told the match, or have it in a log; `reference`: the sink
    /// that was told the value; `failed`: the sinks that need no further message.
    public var sinks: [String] = []
    /// `log`, and the message that it became: the values of `once_per` that the first events used.
    var values: [String] = []
    /// `match`: how many of the rule's sinks were to be told `event` when it began.
    var audience = 0
    /// `match`: the message that told the match beside others; empty for none.
    public var group = ""
    /// `match`: whether a condition with a value of its own is true, told or not: `stays`, `older`, `how_many`.
    var isStanding = false
    /// `match`: a match that `for` holds.
    @Indirect var held: Held?
    /// `match`: the sinks that are to be told `event`, and what each waits for.
    var waits: [Wait] = []
    /// `match`: the sinks that a log or digest is to tell it.
    var listings: [Listing] = []
    /// `match`: what sinks were told.
    @Indirect var told: Told?

    /// Creates a row.
    public init(key: Key, identity: UInt64, event: Event? = nil, due: Timestamp? = nil, since: Timestamp) {
        (self.key, self.identity, self.event, self.due, self.since) = (key, identity, event, due, since)
    }
}

extension RuleMemory {
    /// A match that must stay true until `due` and the next good poll.
    struct Held: Sendable, Hashable {
        var event: Event
        var due: Timestamp
        var since: Timestamp
        /// `older`: when the item is old enough, on the wall clock, which may be set.
        var wallDue: Timestamp?
    }

    /// What one sink is to be told, and why it waits.
    struct Wait: Sendable, Hashable {
        /// What a sink does not know yet.
        enum Content: String, Sendable {
            /// The match began.
            case firing
            /// The match that the sink was told about ended.
            case end
            /// The latest state of an item beyond its limit, which is no match.
            case latest
            /// Nothing any more; the next message counts what was withheld.
            case count
        }

        var sink: String
        var content: Content
        /// The gate that withholds it; empty before a gate was asked.
        var gate = ""
        /// Rows that wait at a gate in the same group are told in one message.
        var group = ""
        /// When the gate is asked again; nil when something else shows it.
        var until: Timestamp?
        /// Whether `until` is on the wall clock.
        var isCivil = false
        var reason = ""
        /// Earlier messages that were withheld and that no message has counted yet.
        var count = 0
        /// Whether the gate is asked again after a good poll of the source.
        var awaitsPoll = false
        /// Whether a log listed the event: it is told whether or not it is still true.
        var isListed = false
        /// `once_per`: the match in whose place it waits; empty for none.
        var claim = ""

        init(_ content: Content, _ sink: String) { (self.content, self.sink) = (content, sink) }

        func isDue(at now: RuleTime) -> Bool { until.map { $0 <= (isCivil ? now.wall : now.steady) } ?? false }
    }

    /// What sinks were told of a match.
    struct Told: Sendable, Hashable {
        /// The last event that they were told.
        var event: Event
        /// The value that they were told, or the health: the item of `event` has the latest values.
        var value: String?
        /// What sinks were told that were not told `value`: an earlier match of another value, which they believe still.
        var earlierValues: [String: String] = [:]
        /// `digest` and `limit` by a field: its value when the match was told first, by the field's name.
        var groups: [String: String] = [:]
        /// A later match that was dropped, for reminders and escalations; nil for none.
        var latest: Event?
        /// When the first message was made.
        var since: Timestamp
        /// The sinks that were told the match and not its end.
        var sinks: [String] = []
        /// Whether the rule tells the sinks the end, should it be gone by then.
        var tellsEnd = false
        /// How many sinks were told the match, also those that were told its end by now.
        var recipients = 0
        /// When the match ended first after it was told; nil while it is true.
        var ended: Timestamp?
        /// Whether the sinks are to be told the end, and no match began since.
        var isEndReleased = false
        /// When the next reminder or escalation is due; nil for never.
        var due: Timestamp?
        /// Whether `due` is on the wall clock.
        var isCivil = false
        /// The gate that withholds the reminder or escalation that was due; empty for none.
        var gate = ""
        /// `remind`: by sink, when it was told the match or reminded last. Its next reminder counts from there.
        var lastMessages: [String: Timestamp] = [:]
        /// Who works on a match that was told; counts while that match is the present one.
        var acknowledgement: Acknowledgement?
        /// Escalation steps done.
        var step = 0

        init(event: Event, since: Timestamp) { (self.event, self.since) = (event, since) }

        /// Whether a reminder or escalation follows.
        var isFollowed: Bool { due != nil || !gate.isEmpty }

        func isDue(at now: RuleTime) -> Bool { due.map { $0 <= (isCivil ? now.wall : now.steady) } ?? false }

        /// Notes the value that a sink is told. The others believe the last one until they are told this one, too.
        mutating func noteValue(_ value: String?, of sink: String) {
            if let last = self.value, last != value {
                for other in sinks where earlierValues[other] == nil { earlierValues[other] = last }
            }
            earlierValues[sink] = nil
            self.value = value
        }

        /// Sets when the next reminder or escalation is due.
        mutating func follow(at due: Timestamp?, isCivil: Bool = false, gate: String = "") {
            (self.due, self.isCivil, self.gate) = (due, isCivil, gate)
        }
    }

    /// What the row is about; nil when it is about no item and no source.
    public var subject: Subject? { (event ?? held?.event ?? told?.event).map(Subject.init) }

    /// Whether it ends when its item changes, so that a good poll must confirm it.
    var dependsOnItem: Bool {
        switch key.slot {
        case .match: (event ?? held?.event ?? told?.event)?.item != nil
        // A good poll of a source of the rule shows that there really was nothing.
        case .absence: event.map { $0.source != Event.watcher } ?? false
        default: false
        }
    }

    /// Whether the row of a match says nothing any more.
    var isSettled: Bool {
        key.slot == .match && !isStanding && held == nil && waits.isEmpty && listings.isEmpty && told == nil
            && group.isEmpty
    }

    /// Whether a match was told or stands: those have room of their own beside the ones that wait.
    var isTold: Bool { told != nil || isStanding }

    /// The times at which something is to be done, on their clocks. What only a good poll can do is not among them.
    var deadlines: [Deadline] {
        guard key.slot == .match else {
            return due.map { [Deadline(time: $0, isCivil: isCivil)] }.flatMap { dependsOnItem ? nil : $0 } ?? []
        }
        var deadlines = waits.filter { !isConfirmed($0) }.compactMap { wait in
            wait.until.map { Deadline(time: $0, isCivil: wait.isCivil) }
        }
        if let held, held.event.item == nil { deadlines.append(Deadline(time: held.due, isCivil: false)) }
        if let due = held?.wallDue { deadlines.append(Deadline(time: due, isCivil: true)) }
        if let told, let due = told.due { deadlines.append(Deadline(time: due, isCivil: told.isCivil)) }
        return deadlines
    }

    /// When a good poll is to confirm it, on the steady clock; nil for never.
    var confirmation: Timestamp? {
        guard key.slot != .absence else { return due }
        let ends = waits.filter { $0.content == .end && isConfirmed($0) }.compactMap(\.until)
        return (ends + [held.flatMap { $0.event.item == nil ? nil : $0.due }].compactMap { $0 }).min()
    }

    /// Whether what waits is an end that a good poll must show. One whose match goes on only counts, and lets none of its group go.
    func isConfirmed(_ wait: Wait) -> Bool {
        [.end, .count].contains(wait.content) && dependsOnItem && Gates.named(wait.gate)?.confirmsEnds == true
    }

    func isDue(at now: RuleTime) -> Bool { due.map { $0 <= (isCivil ? now.wall : now.steady) } ?? false }

    func age(at now: RuleTime) -> String { DurationText.long(seconds: seconds(at: now)) }
    func seconds(at now: RuleTime) -> Double { max(0, now.steady.seconds(since: since)) }

    // MARK: Changes

    /// Lets a sink wait at a gate.
    mutating func wait(_ sink: String, at gate: String, _ waiting: Verdict.Waiting) {
        guard let i = waits.firstIndex(where: { $0.sink == sink }) else { return }
        waits[i].awaitsPoll = waiting.awaitsPoll
        if !waiting.awaitsPoll {
            (waits[i].gate, waits[i].group, waits[i].reason) = (gate, waiting.group, waiting.reason)
        }
        (waits[i].until, waits[i].isCivil) = (waiting.until, waiting.until != nil && waiting.isCivil)
    }

    /// Forgets that a sink was told the match: it was told the end, or is not to be told it.
    mutating func forgetTold(_ sink: String) {
        told?.sinks.removeAll { $0 == sink }
        told?.earlierValues[sink] = nil
        told?.lastMessages[sink] = nil
        if told?.sinks.isEmpty == true, told?.isFollowed == false { told = nil }
    }

    /// Lets reminders and escalations name the latest match, also when it was dropped.
    mutating func noteReplacement() {
        guard let event, let told, told.ended == nil, told.event.id != event.id, event.kind != .resolved,
            event.kind != .digest, !waits.contains(where: { $0.content == .firing })
        else { return }
        self.told?.latest = event
    }

    /// Forgets the event when no sink is to be told it.
    mutating func dropEventIfUnused() {
        let isUsed = isStanding || !group.isEmpty || !listings.isEmpty || waits.contains { $0.content != .count }
        if key.slot == .match, !isUsed { event = nil }
    }

    /// Lets what a held match withheld be asked about again. Returns whether there is any.
    @discardableResult
    mutating func leaveFor(at now: RuleTime) -> Bool {
        let isWaiting = told?.gate == ForGate.name || waits.contains { $0.gate == ForGate.name }
        if told?.gate == ForGate.name { told?.follow(at: now.steady) }
        for i in waits.indices where waits[i].gate == ForGate.name { waits[i].gate = "" }
        return isWaiting
    }

    /// Lets no sink wait that the rule no longer names, but for the ends of what it was told.
    /// - Parameter suppress: records a sink and what it is not told.
    mutating func leaveRemovedSinks(_ rule: Rule, _ suppress: (String, Event) -> Void) {
        let isListed = { (wait: Wait) in wait.content == .end || rule.names(wait.sink) }
        guard key.slot == .match, !waits.allSatisfy(isListed) else { return }
        for wait in waits where !isListed(wait) && wait.content != .count {
            audience -= 1
            if let event { suppress(wait.sink, event) }
        }
        waits.removeAll { !isListed($0) }
        dropEventIfUnused()
    }
}

extension [RuleMemory.Sent] {
    /// The number of messages or matches.
    var total: Int { reduce(0) { $0 + $1.count } }

    /// Counts a message to a sink; one to several sinks is one message. They are in the order in which they were made.
    mutating func countMessage(to sink: String, isEnd: Bool, at now: Timestamp) {
        let first = lastIndex { $0.time != now }.map { $0 + 1 } ?? 0
        guard let i = self[first...].firstIndex(where: { $0.isEnd == isEnd && !$0.sinks.contains(sink) }) else {
            return place(RuleMemory.Sent(time: now, sinks: [sink], isEnd: isEnd), at: endIndex)
        }
        var message = self[i]
        message.sinks.insert(sink)
        message.count = 1
        self[i].count -= 1
        if self[i].count == 0 { remove(at: i) }
        place(message, at: i)
    }

    /// Counts a match.
    mutating func countMatch(at now: Timestamp) { place(RuleMemory.Sent(time: now), at: endIndex) }

    /// Inserts a message, or adds it to those before it that are the same.
    private mutating func place(_ message: RuleMemory.Sent, at i: Int) {
        var same = message
        if i > 0 { same.count = self[i - 1].count }
        if i > 0, self[i - 1] == same { self[i - 1].count += message.count } else { insert(message, at: i) }
    }
}

/// A time on the steady clock, or on the wall clock.
struct Deadline: Sendable, Hashable {
    var time: Timestamp
    var isCivil: Bool
}
