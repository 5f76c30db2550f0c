// SPDX-License-Identifier: Apache-2.0

/// Whether a sink accepted the match of a subject whose end it was not told, as the earlier messages of a rule to it show.
public struct Acceptance: Sendable {
    /// Nil while no message shows it: the match was told so long ago that its message is no longer kept, or in a list too long to
    /// name it.
    public private(set) var isAccepted: Bool?
    /// Whether older messages cannot change that.
    public private(set) var isCertain = false
    private let subject: Subject
    private let end: Message
    private let passedOn: Set<String>

    /// Creates one for the sink of the message about an end that has read no message.
    /// - Parameter passedOn: the ids of the events that fallbacks got in the sink's place.
    public init(of subject: Subject, before end: Message, passedOn: Set<String> = []) {
        (self.subject, self.end, self.passedOn) = (subject, end, passedOn)
    }

    /// Reads messages to the sink, of which the newest comes first.
    public mutating func read(_ earlier: [DeliveryStatus]) {
        for one in earlier where !isCertain {
            let message = one.delivery.message
            guard let goesOn = message.told[subject] else { continue }
            switch one.state {
            case .sent, .pending, .retry, .paused: (isAccepted, isCertain) = (goesOn ? true : isAccepted, true)
            case .suppressed where !passedOn.contains(message.event.id.description): continue
            case .dead, .suppressed: if goesOn { isAccepted = false }
            }
        }
    }

    /// Reads messages to a fallback, of which the newest comes first. What its rule sends it anyway is no concern of another sink.
    /// - Returns: the ids of the events that it got in the place of another sink.
    public mutating func read(ofFallback earlier: [DeliveryStatus]) -> Set<String> {
        let mine = earlier.filter { one in
            // A message for another sink can come late, after the one about the next match.
            one.delivery.chain != nil && one.delivery.message.event.id.description < end.event.id.description
        }
        read(mine)
        return Set(mine.map(\.delivery.message.event.id.description))
    }
}

extension Message {
    /// The subjects whose match this tells to be over, of a message about several the first ones. A later part about a subject is what
    /// the message says of it.
    public var endedSubjects: [Subject] {
        let parts = event.summary?.parts ?? []
        guard !parts.isEmpty else { return event.isEnd ? [Subject(event)] : [] }
        let over = told.filter { !$0.value }
        guard !over.isEmpty else { return [] }
        let ended = parts.latest.lazy.map { Subject(source: $0.source, key: $0.key) }.filter { over[$0] != nil }
        return Array(ended.prefix(MessageLimits.named))
    }

    /// Whether its text names all that it is about.
    public var isNamedWhole: Bool { event.summary?.parts.count ?? 0 <= MessageLimits.named }
}
