// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Retention")
struct RetentionTests {
    @Test("a journal that is too large loses ever younger events, but none of the last hour")
    func nextAge() {
        var ages: [Double] = []
        var age = Duration.seconds(8 * 3600 + 1800)
        while let next = Retention.nextAge(after: age) {
            age = next
            ages.append(age.inSeconds)
        }
        #expect(ages == [15_300, 7650, 3825, 3600])
        #expect(Retention.nextAge(after: .seconds(60)) == nil)
    }
}
