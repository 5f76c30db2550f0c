// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The health of a source")
struct HealthTests {
    @Test("a source that was stale recovers at the next good poll, also when it never counted as failing")
    func staleRecovers() {
        var health = Health()
        let failing = health.pollFailed(.timeout, detail: "no answer", fails: 100, at: at(0))
        #expect(failing == nil)
        let stale = health.becameStale(PollInterval(every: .seconds(60)), at: at(3600))
        #expect(stale?.kind == .stale)
        let recovered = health.pollSucceeded(at: at(3660))
        #expect(recovered?.kind == .recovered && recovered?.error?.detail == "no answer")
        let again = health.pollSucceeded(at: at(3720))
        #expect(again == nil)
    }

    @Test("a connection that was opened ends no failure, and one that lasts ends it unless something was unreadable")
    func evidence() {
        for isUnreadable in [false, true] {
            var health = Health()
            _ = health.pollFailed(.truncated, detail: "cut", isUnreadable: isUnreadable, fails: 1, at: at(0))
            // A refused connection afterwards tells nothing of the records.
            _ = health.pollFailed(.refused, detail: "refused", fails: 1, at: at(10))
            let opened = health.pollSucceeded(.nothing, at: at(20))
            #expect(opened == nil && health.failures == 2 && health.lastPollAt == at(10))
            let lasting = health.pollSucceeded(.connection, at: at(30))
            #expect((lasting?.kind == .recovered) == !isUnreadable && health.isFailing == isUnreadable)
            let read = health.pollSucceeded(.content, at: at(40))
            #expect((read?.kind == .recovered) == isUnreadable)
            #expect(health.failures == 0 && !health.isUnreadable && health.problem == nil)
        }
    }
}
