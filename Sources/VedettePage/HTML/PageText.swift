// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The words and times of the page, which it shares with the commands; the program passes them in.
public struct PageText: Sendable {
    /// A part of a sentence.
    public struct Piece: Sendable, Hashable {
        /// The words.
        public var text: String
        /// How they are shown; nil for plain words.
        public var tone: Tone?

        /// Creates a part.
        public init(_ text: String, _ tone: Tone? = nil) { (self.text, self.tone) = (text, tone) }
    }

    /// What words mean. The style sheet has a class of each name.
    public enum Tone: String, Sendable {
        case good, busy, bad, strong, removed, added
    }

    /// Returns a time on the local clock, with the day when that is not the day of `now`.
    public var clock: @Sendable (_ time: Timestamp, _ now: Timestamp) -> String
    /// Returns a sentence with its times on the local clock.
    public var localized: @Sendable (_ sentence: String, _ now: Timestamp) -> String
    /// Returns what happened in an event: `Starting → Ready for use (after 4 min 12 s)`.
    public var happening: @Sendable (Event) -> [Piece]
    /// Returns what a state of a source of this kind means; nil when nobody can tell.
    public var meaning: @Sendable (_ state: String, _ kind: String) -> StateMeaning?

    /// Returns the outcome of a message: the name of its state, and the rest of the sentence.
    public var outcome: @Sendable (DeliveryStatus, _ now: Timestamp) -> (state: String, rest: String)

    /// Creates the words of a page.
    public init(
        clock: @escaping @Sendable (Timestamp, Timestamp) -> String,
        localized: @escaping @Sendable (String, Timestamp) -> String,
        happening: @escaping @Sendable (Event) -> [Piece],
        meaning: @escaping @Sendable (String, String) -> StateMeaning?,
        outcome: @escaping @Sendable (DeliveryStatus, Timestamp) -> (state: String, rest: String)
    ) {
        (self.clock, self.localized, self.happening, self.meaning) = (clock, localized, happening, meaning)
        self.outcome = outcome
    }
}

extension StateMeaning {
    var tone: PageText.Tone {
        switch self {
        case .good: .good
        case .busy: .busy
        case .bad: .bad
        }
    }
}
