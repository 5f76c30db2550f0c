// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import vedette

@Suite("The screen of wait")
struct WaitProgressTests {
    private func progress(_ pending: String..., problem: String? = nil) -> WaitProgress {
        WaitProgress(goal: "Ready for use", limit: .seconds(1200), pending: pending, problem: problem)
    }

    @Test("a terminal sees how long it waits, for what, and what the items are, in one line")
    func line() {
        func text(_ progress: WaitProgress, _ width: Int = 80) -> String {
            progress.line(after: .seconds(123.9), width: width).text
        }
        #expect(text(progress()) == "waiting 2 min 3 s of 20 min for Ready for use: no answer yet")
        #expect(text(progress("59: Starting")) == "waiting 2 min 3 s of 20 min for Ready for use: 59: Starting")
        #expect(text(progress("59: Starting", "60: Stopped", "61: Stopped")).hasSuffix("59: Starting, and 2 more"))
        #expect(text(progress(problem: "timeout: no answer")).hasSuffix("for Ready for use: timeout: no answer"))
        #expect(text(progress("59: Starting", problem: "timeout")).hasSuffix("59: Starting (timeout)"))
        let wide = progress("59 빌드 서버 with a name that is much longer than the line: Starting")
        #expect(wide.line(after: .zero, width: 80).width < 80)
        #expect(!text(progress("\u{1B}[2J")).contains("\u{1B}"))
    }

    @Test("when the time is over, the present states are named")
    func timedOut() {
        #expect(progress("59: Starting").timedOut == ["not Ready for use within 20 min", "  59: Starting"])
        #expect(
            progress(problem: "timeout: no answer").timedOut
                == ["not Ready for use within 20 min", "  no answer yet", "  timeout: no answer"])
    }
}
