// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteEngine

@Suite("The durations of the last polls")
struct PollDurationsTests {
    @Test("the last ones are kept, the oldest first")
    func ring() {
        var durations = PollDurations()
        #expect(durations.seconds.isEmpty)
        for number in 1...5 { durations.add(Double(number)) }
        #expect(durations.seconds == [1, 2, 3, 4, 5])
        for number in 6...47 { durations.add(Double(number)) }
        #expect(durations.seconds == (28...47).map(Double.init))
    }
}
