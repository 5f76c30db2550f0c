// SPDX-License-Identifier: Apache-2.0

/// A condition between a match and its message to one sink. A gate holds no message and knows no other gate: it is asked
/// again whenever what it depends on has changed. To add one, write it and name it in `Gates.all`.
protocol Gate: Sendable {
    /// The name in rows, and what `status` shows of a match that waits for it.
    static var name: String { get }
    /// What waits, in words, for `status`: `told when the limit allows it`. Empty for none.
    static var waitingText: String { get }
    /// What the rows are that wait for it, in the plural.
    static var noun: String { get }
    /// Whether a message that begins to wait leaves a suppressed delivery with the reason.
    static var leavesRecord: Bool { get }
    /// Whether what is over before the gate opens is counted by what is told of other subjects then.
    static var countsOver: Bool { get }
    /// Whether the end of an item's match leaves the gate only after a good poll, which shows that the match is still over.
    static var confirmsEnds: Bool { get }
    /// Whether a match that the rule has no room to remember is told at once.
    static var tellsWithoutRoom: Bool { get }

    /// Returns the longest time on the steady clock for which a message can wait here.
    static func longestWait(_ rule: Rule) -> Duration
    /// Returns whether the gate can withhold the message at all. A rule without the gate costs nothing.
    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool
    /// Decides about one message to one sink.
    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict
    /// Notes a match that passed all gates, before further ones are asked about.
    static func admit(_ candidate: Candidate, _ engine: inout RuleEngine, at now: RuleTime)
    /// Counts a message that was made.
    static func charge(_ message: MadeMessage, _ engine: inout RuleEngine, at now: RuleTime)
}

extension Gate {
    static var waitingText: String { "" }
    static var noun: String { "matches" }
    static var leavesRecord: Bool { true }
    static var countsOver: Bool { true }
    static var confirmsEnds: Bool { false }
    static var tellsWithoutRoom: Bool { false }
    static func longestWait(_ rule: Rule) -> Duration { .zero }
    static func admit(_ candidate: Candidate, _ engine: inout RuleEngine, at now: RuleTime) {}
    static func charge(_ message: MadeMessage, _ engine: inout RuleEngine, at now: RuleTime) {}
}

extension Gates {
    /// The gates in the order in which a message passes them.
    static let all: [any Gate.Type] = [
        ForGate.self, RecoveredForGate.self, AcknowledgedGate.self, ConditionsGate.self, DependsGate.self,
        SilencesGate.self, QuietGate.self,
        ConfirmedGate.self, OncePerGate.self, DigestGate.self, LimitGate.self, ServerGate.self, SinkSilencesGate.self,
    ]

    static func named(_ name: String) -> (any Gate.Type)? { all.first { $0.name == name } }
}

/// What one sink is to be told of a match.
struct Candidate {
    /// What the message tells.
    enum Content { case firing, end, followUp }

    let rule: Rule
    let event: Event
    var sink: String
    var content: Content
    /// The gate that withheld it so far; empty for a new one.
    var gate = ""
    /// Whether another sink was told the match already.
    var isLate = false
    /// Whether it was listed in a log, so that it is told whether or not it is still true.
    var isListed = false

    /// The match in whose place it waits, and for which a value of `once_per` may be used; empty for none.
    var claim = ""

    /// Whether the event that made it is being evaluated.
    var isNew: Bool { gate.isEmpty }
}

extension Candidate {
    /// What a sink waits for.
    init(_ rule: Rule, _ event: Event, _ wait: RuleMemory.Wait, isLate: Bool) {
        // An escalation that a silence of its sink withheld is one still: `once_per`, `limit` and `digest` are about matches.
        let isEscalation = !wait.isListed && rule.isEscalated(to: wait.sink)
        self.init(
            rule: rule, event: event, sink: wait.sink,
            content: wait.content == .end ? .end : isEscalation ? .followUp : .firing)
        (gate, self.isLate, isListed, claim) = (wait.gate, isLate, wait.isListed, wait.claim)
    }
}

/// What a gate decides.
enum Verdict {
    case pass
    /// It waits.
    case wait(Waiting)
    /// It is not told; the reason is for `explain`.
    case drop(String)
    /// It is listed in a log.
    case list(ListTarget)

    struct Waiting {
        /// Why; empty where it only waits for the rest of the step.
        var reason = ""
        /// When the gate is to be asked again; nil when something else shows it.
        var until: Timestamp?
        /// Whether `until` is on the wall clock.
        var isCivil = false
        /// What waits in the same group is told together.
        var group = ""
        /// Whether it goes on waiting where it is, for a good poll of its source.
        var awaitsPoll = false
        /// Whether what waits in the group is to be told now, together with this.
        var opensGroup = false
        /// Whether the gate is asked again at the end of the step, about all that waits in the group.
        var joinsStep = false
    }

    /// A log, and when it is sent.
    struct ListTarget: Hashable {
        var name: String
        var due: Timestamp
        /// Whether `due` is on the wall clock.
        var isCivil: Bool
    }
}

/// A message to one sink that was made.
struct MadeMessage {
    let rule: Rule
    /// What it is about.
    let events: [Event]
    let sink: String
    let content: Candidate.Content
}

extension RuleEngine {
    /// Asks the gates in their order. A gate that makes a message wait is heard before one that drops it, unless the message
    /// is new: what already waits is dropped only when it would be told.
    func verdict(of candidate: Candidate, at now: RuleTime) -> (verdict: Verdict, gate: any Gate.Type) {
        var dropped: (Verdict, any Gate.Type)?
        var listed: (Verdict, any Gate.Type)?
        for gate in Gates.all where gate.concerns(candidate, world) {
            switch gate.verdict(candidate, self, at: now) {
            case .pass: continue
            case .drop(let reason):
                if candidate.isNew || listed != nil { return (.drop(reason), gate) }
                dropped = dropped ?? (.drop(reason), gate)
            case .wait(let waiting): if listed == nil { return (.wait(waiting), gate) }
            // A match that is not to be told at all is not listed.
            case .list(let target): listed = listed ?? (.list(target), gate)
            }
        }
        return dropped ?? listed ?? (.pass, ConfirmedGate.self)
    }
}
