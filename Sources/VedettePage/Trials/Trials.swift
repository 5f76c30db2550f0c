// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Tries what is not configured yet, for the page. It writes neither the configuration nor the journal. The page asks for one
/// trial at a time, and cancels the task of one that takes too long or whose client is gone.
public protocol Trials: Sendable {
    /// Requests an address and proposes how to watch it.
    /// - Parameter privateAt: the hosts and ports that may have a private address (`WebURL.hostAndPort`).
    func address(_ address: String, privateAt places: Set<String>) async throws(TrialProblem) -> AddressTrial

    /// Plays the events of a period against a rule.
    /// - Parameter yaml: the rule as a file of the configuration has it.
    func rule(_ yaml: String, from start: Timestamp, to end: Timestamp) async throws(TrialProblem) -> RuleTrial
}

/// Why a trial has no result.
public enum TrialProblem: Error, Hashable, Sendable {
    /// What is tried does not work; why, and what to do, in one sentence without its full stop.
    case failed(String)
    /// Another trial is under way.
    case busy
    /// It took longer than `TrialSlot.limit`.
    case late
    /// The client is gone.
    case cancelled

    /// One sentence without its full stop.
    var sentence: String {
        switch self {
        case .failed(let sentence): sentence
        case .busy: "another trial is under way; try again when it is over"
        case .late: "it took longer than \(DurationText.long(seconds: TrialSlot.limit.inSeconds))"
        case .cancelled: "the trial was cancelled"
        }
    }
}

/// What an address has, and how to watch it.
public struct AddressTrial: Hashable, Sendable {
    /// Items that are shown.
    public static let mostItems = 20
    /// Characters of a text of an item that are shown.
    public static let longestText = 200
    /// Fields of an item that are shown.
    public static let mostFields = 12

    /// The name of the kind that reads it.
    public var kind: String
    /// What was recognised: `2913 bytes of application/atom+xml: a feed`.
    public var summary: String
    /// What a person should know of it, a sentence each.
    public var notes: [String]
    /// The number of items.
    public var count: Int
    /// The first items, their texts cut.
    public var items: [Item]
    /// A source, a sink and a rule, as a file of the configuration has them.
    public var yaml: String

    /// Creates a result, and cuts what is more than a page shows.
    public init(kind: String, summary: String, notes: [String], items: [Item], yaml: String) {
        (self.kind, self.summary, self.notes, self.yaml) = (kind, summary, notes, yaml)
        count = items.count
        self.items = items.prefix(Self.mostItems).map(Self.cut)
    }

    private static func cut(_ item: Item) -> Item {
        var fields = Fields()
        for field in (Array(item.fields) + Array(item.measures) + Array(item.notes)).prefix(mostFields) {
            fields[cut(field.name)] = .text(cut(field.value.description))
        }
        return Item(
            key: cut(item.key), title: item.title.map(cut), state: item.state.map(cut), url: item.url.map(cut),
            time: item.time, fields: fields)
    }

    private static func cut(_ text: String) -> String {
        // By scalars: a character may be of any length.
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: longestText, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }
}

/// What a rule would have sent.
public struct RuleTrial: Hashable, Sendable {
    /// Messages that are shown.
    public static let mostMessages = 100
    /// Matches that wait that are shown.
    public static let mostWaiting = 20

    /// A message that would have been sent, or not.
    public struct Message: Hashable, Sendable {
        /// When it would have been made.
        public var time: Timestamp
        /// The rule that makes it.
        public var rule: String
        /// The sink that would have got it.
        public var sink: String
        /// Its title.
        public var title: String
        /// Why it is suppressed; nil when it would have been sent.
        public var reason: String?

        /// Creates a message.
        public init(time: Timestamp, rule: String, sink: String, title: String, reason: String?) {
            (self.time, self.rule, self.sink, self.title, self.reason) = (time, rule, sink, title, reason)
        }
    }

    /// What one sink would have got of one rule.
    public struct Count: Hashable, Sendable {
        /// The rule.
        public var rule: String
        /// The sink.
        public var sink: String
        /// Messages that would have been sent.
        public var sent = 0
        /// Messages that would not.
        public var suppressed = 0

        /// Creates the count of a sink that got nothing.
        public init(rule: String, sink: String) { (self.rule, self.sink) = (rule, sink) }
    }

    /// The number of events that were played.
    public var events = 0
    /// Where the events end that were played, when there were more than one trial plays; nil when all were played.
    public var end: Timestamp?
    /// By rule and sink.
    public var counts: [Count] = []
    /// The first messages.
    public var messages: [Message] = []
    /// What waits at the end, a sentence each.
    public var waiting: [String] = []
    /// What a person should know of the rule, a sentence each.
    public var notes: [String] = []

    /// Creates the result of no event.
    public init() {}

    /// The number of messages, of which `messages` has the first.
    public var count: Int { counts.reduce(0) { $0 + $1.sent + $1.suppressed } }

    /// Counts a message, and keeps it while there is room.
    public mutating func add(_ message: Message) {
        if messages.count < Self.mostMessages { messages.append(message) }
        let place = counts.firstIndex { $0.rule == message.rule && $0.sink == message.sink } ?? counts.endIndex
        if place == counts.endIndex { counts.append(Count(rule: message.rule, sink: message.sink)) }
        if message.reason == nil { counts[place].sent += 1 } else { counts[place].suppressed += 1 }
    }
}
