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
        let stale = health.becameStale(every: .seconds(60), at: at(3600))
        #expect(stale?.kind == .stale)
        let recovered = health.pollSucceeded(at: at(3660))
        #expect(recovered?.kind == .recovered && recovered?.error?.detail == "no answer")
        let again = health.pollSucceeded(at: at(3720))
        #expect(again == nil)
    }
}
