// SPDX-License-Identifier: Apache-2.0

/// Whether a sink took the match of a subject whose end it was not told, as the earlier messages of a rule to it show.
public struct Acceptance: Sendable {
    /// Nil while no message shows it: it was told so long ago that its message is no longer kept, or in a list too long to name it.
    public private(set) var isTaken: Bool?
    /// Whether older messages cannot change that.
    public private(set) var isCertain = false
    private let subject: Subject
    private let passedOn: Set<String>

    /// Creates one that has read no message.
    /// - Parameter passedOn: the ids of the events that fallbacks got in the sink's place.
    public init(of subject: Subject, passedOn: Set<String> = []) { (self.subject, self.passedOn) = (subject, passedOn) }

    /// Reads messages, of which the newest comes first.
    public mutating func read(_ earlier: [DeliveryStatus]) {
        for one in earlier where !isCertain {
            let message = one.delivery.message
            guard let goesOn = message.told[subject] else { continue }
            switch one.state {
            case .sent, .pending, .retry, .paused: (isTaken, isCertain) = (goesOn ? true : isTaken, true)
            case .suppressed where !passedOn.contains(message.event.id.description): continue
            case .dead, .suppressed: if goesOn { isTaken = false }
            }
        }
    }
}

extension Message {
    /// The subjects whose match this tells to be over, of a message about several those that its text names.
    public var endedSubjects: [Subject] {
        let parts = event.summary?.parts ?? []
        guard !parts.isEmpty else { return event.isEnd ? [Subject(event)] : [] }
        return parts.prefix(MessageLimits.named).filter(\.announcesEnd).map { Subject(source: $0.source, key: $0.key) }
    }
}
