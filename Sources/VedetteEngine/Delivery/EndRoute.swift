// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Where a message about ends goes: to the sinks that took the matches which it tells to be over. A fallback that got a match in
/// the place of its sink gets the end itself, also when that sink is back.
struct EndRoute {
    /// Messages that are read at a time.
    private static let page = 10
    /// The most that are read about one subject.
    private static let maximum = 100

    /// Whether the message's own sink gets it.
    private(set) var isForSink = true
    /// The fallback that gets it, too, or in the place of the sink; nil for none.
    private(set) var fallback: String?

    /// Finds it in the journal.
    /// - Parameter fallbacks: the sink's fallbacks.
    init(of delivery: Delivery, fallbacks: [String], _ journal: any Journal) async throws(JournalError) {
        let message = delivery.message
        var takenBySink: [Bool?] = []
        for subject in message.endedSubjects {
            var passedOn: Set<String> = []
            for sink in fallbacks {
                let told = try await EndRoute.acceptance(of: subject, message.rule, sink, [], before: .max, journal)
                passedOn.formUnion(told.events)
                if told.isTaken == true { fallback = fallback ?? sink }
            }
            takenBySink.append(
                try await EndRoute.acceptance(
                    of: subject, message.rule, message.sink, passedOn, before: delivery.id, journal
                )
                .isTaken)
            // The whole message goes to each sink that took one of its matches.
            if takenBySink.last != false, fallback != nil || fallbacks.isEmpty { return }
        }
        isForSink = !message.event.isEnd || takenBySink.contains { $0 != false }
    }

    /// - Returns: whether the sink took the match, and the events that were read.
    private static func acceptance(
        of subject: Subject, _ rule: String, _ sink: String, _ passedOn: Set<String>, before: Int64,
        _ journal: any Journal
    ) async throws(JournalError) -> (isTaken: Bool?, events: Set<String>) {
        var acceptance = Acceptance(of: subject, passedOn: passedOn)
        var events: Set<String> = []
        var before = before
        for _ in 0..<maximum / page where !acceptance.isCertain {
            let read = try await journal.messages(
                of: rule, to: sink, about: subject.text, before: before, limit: page)
            acceptance.read(read)
            events.formUnion(read.map(\.delivery.message.event.id.description))
            guard let last = read.last, read.count >= page else { break }
            before = last.delivery.id
        }
        return (acceptance.isTaken, events)
    }
}

extension Attempt {
    /// Returns the end of a delivery about matches that its sink did not take.
    static func unwanted(_ delivery: Delivery, at now: Timestamp) -> Attempt {
        var end = Attempt(
            delivery: delivery.id, state: .suppressed, attempts: delivery.attempts, due: delivery.due, at: now,
            reason: "'\(delivery.message.sink)' did not take what is over")
        end.wasMade = false
        return end
    }
}
