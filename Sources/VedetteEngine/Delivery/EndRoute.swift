// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Where a message goes that tells matches to be over: to the sinks that accepted them. A fallback that got a match in the place of its
/// sink gets the end itself, also when that sink is back, and also in a digest that tells of others: it would believe the match
/// for ever.
struct EndRoute {
    /// Messages that are read at a time. Mostly the newest decides.
    private static let page = 4
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
        // What has more than ends is for its own sink in any case.
        var isAccepted = !message.event.isEnd || !message.isNamedWhole
        for subject in message.endedSubjects {
            var passedOn: Set<String> = []
            for sink in fallbacks {
                var acceptance = Acceptance(of: subject, before: message)
                try await EndRoute.read(subject, message.rule, sink, before: .max, journal) { read in
                    passedOn.formUnion(acceptance.read(ofFallback: read))
                    return acceptance.isCertain
                }
                if acceptance.isAccepted == true { fallback = fallback ?? sink }
            }
            if !isAccepted {
                var acceptance = Acceptance(of: subject, before: message, passedOn: passedOn)
                try await EndRoute.read(subject, message.rule, message.sink, before: delivery.id, journal) { read in
                    acceptance.read(read)
                    return acceptance.isCertain
                }
                isAccepted = acceptance.isAccepted != false
            }
            // The whole message goes to each sink that accepted one of its matches.
            if isAccepted, fallback != nil || fallbacks.isEmpty { break }
        }
        isForSink = isAccepted
    }

    /// Reads messages of a rule to a sink, the newest first, until `body` returns true.
    private static func read(
        _ subject: Subject, _ rule: String, _ sink: String, before: Int64, _ journal: any Journal,
        _ body: ([DeliveryStatus]) -> Bool
    ) async throws(JournalError) {
        var before = before
        for _ in 0..<maximum / page {
            let read = try await journal.messages(
                of: rule, to: sink, about: subject.text, before: before, limit: page)
            guard !body(read), let last = read.last, read.count >= page else { return }
            before = last.delivery.id
        }
    }
}

extension Attempt {
    /// Returns the end of a delivery about the ends of matches that its sink did not accept.
    static func unwanted(_ delivery: Delivery, at now: Timestamp) -> Attempt {
        var end = Attempt(
            delivery: delivery.id, state: .suppressed, attempts: delivery.attempts, due: delivery.due, at: now,
            reason: "'\(delivery.message.sink)' did not accept the match that is over")
        end.wasMade = false
        return end
    }
}
