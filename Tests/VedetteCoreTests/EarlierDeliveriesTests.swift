// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Earlier deliveries")
struct EarlierDeliveriesTests {
    @Test("what the new deliveries of a commit may replace is searched for once for each sink and rule")
    func shared() {
        var added = (1...50).map { delivery($0, key: "\($0 % 10)") }
        added += (51...60).map { delivery($0, rule: "other", key: "x") }
        for id in 61...62 as ClosedRange<Int64> {
            added.append(delivery(id, key: "\(id)"))
            added[added.count - 1].message.event.kind = .resolved
        }
        let searches = EarlierDeliveries.of(added).sorted { $0.before < $1.before }
        #expect(searches.map(\.before) == [50, 60, 62])
        #expect(searches.map(\.subjects.count) == [10, 1, 2])
        // Of what a poll found only the messages that rules made matter.
        #expect(searches.map(\.areOfRules) == [true, true, false])
    }

    @Test("an end that waits for its sink is not sent once its item is a match again")
    func trueAgain() {
        var end = delivery(1, key: "59")
        end.message.event.kind = .resolved
        let ends = EarlierDelivery.ends(by: [delivery(2, key: "59")], of: [EarlierDelivery(end)])
        #expect(ends.map(\.attempt.reason) == ["true again before it could be sent"])
    }
}
