// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("for")
struct HoldTests {
    private let rule = Rule.when(.becomes("failed")) { $0.hold = .seconds(300) }

    @Test("a match is said at the first good poll at or after its time")
    func confirmed() {
        var stage = Stage(rule)
        stage.item("a", "failed", was: "ok")
        stage.poll()
        stage.pass(.seconds(299))
        stage.poll()
        #expect(stage.said.isEmpty)
        #expect(stage.engine.nextPull(of: "lab") == Stage.noon.advanced(by: .seconds(300)))
        stage.pass(.seconds(1))
        #expect(stage.said.isEmpty, "time alone confirms nothing: the source may not answer")
        stage.poll()
        #expect(stage.said == ["out: a: ok → failed"])
        stage.poll()
        #expect(stage.said.count == 1)
    }

    @Test("a match that ends before its time is not said, and the reason is kept")
    func cancelled() {
        var stage = Stage(rule)
        stage.item("a", "failed", was: "ok")
        stage.pass(.seconds(60))
        stage.item("a", "ok", was: "failed")
        stage.pass(.seconds(600))
        stage.poll()
        #expect(stage.said.isEmpty)
        #expect(stage.unsaid == ["a: ok → failed: no longer so after 1 min"])
        #expect(stage.rows.isEmpty)
    }

    @Test("while it stays true the wait does not begin anew, and the message has the latest event")
    func goesOn() {
        let either = Rule.when(.becomes("failed", "lost")) { $0.hold = .seconds(300) }
        var stage = Stage(either)
        stage.item("a", "failed", was: "ok")
        stage.pass(.seconds(200))
        stage.item("a", "lost", was: "failed")
        stage.pass(.seconds(100))
        stage.poll()
        #expect(stage.said == ["out: a: failed → lost"])
    }

    @Test("changes come to rest before they are said")
    func rest() {
        let edits = Rule.when(.changes(["state"])) { $0.hold = .seconds(60) }
        var stage = Stage(edits)
        for n in 1...5 {
            stage.item("a", "\(n)", was: "\(n - 1)")
            stage.pass(.seconds(30))
            stage.poll()
        }
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(30))
        stage.poll()
        #expect(stage.said == ["out: a: 4 → 5"])
    }

    @Test("an item that goes away ends the wait, one of another source does not")
    func goes() {
        var stage = Stage(rule)
        stage.item("a", "failed", was: "ok")
        stage.item("b", "failed", was: "ok")
        stage.item("a", "ok", was: "failed", source: "other")
        stage.gone("b", "failed")
        stage.pass(.seconds(300))
        stage.poll()
        #expect(stage.said == ["out: a: ok → failed"])
    }

    @Test("what is said of a source itself waits for no poll of it")
    func source() {
        var stage = Stage(Rule.when(.sourceState([.failing])) { $0.hold = .seconds(120) })
        stage.source(.failing)
        stage.pass(.seconds(120))
        #expect(stage.said == ["out: lab is failing"])
        stage.source(.recovered)
        stage.source(.failing)
        stage.pass(.seconds(60))
        stage.source(.recovered)
        stage.pass(.seconds(600))
        #expect(stage.said.count == 1)
    }

    @Test("stays: an item that is in the value already counts from when it came into it")
    func found() {
        var rule = Rule.when(.becomes("Starting")) { $0.hold = .seconds(1800) }
        rule.matchesExisting = true
        var stage = Stage(rule)
        stage.find("59", "Starting", since: .seconds(-1200))
        stage.find("60", "Started", since: .seconds(-1200))
        stage.pass(.seconds(599))
        stage.poll()
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(1))
        stage.poll()
        #expect(stage.said == ["out: 59: still Starting"])
        stage.restart()
        stage.find("59", "Starting", since: .seconds(-3000))
        stage.poll()
        #expect(stage.said.count == 1, "what was said is not said again because it is found again")
        stage.item("59", "Started", was: "Starting")
        stage.item("59", "Starting", was: "Started")
        stage.pass(.seconds(1800))
        stage.poll()
        #expect(stage.said.count == 2)
    }

    @Test("a jump of the wall clock moves nothing")
    func jump() {
        var stage = Stage(rule)
        stage.item("a", "failed", was: "ok")
        stage.wallJumps(by: .seconds(10 * 86_400))
        stage.poll()
        #expect(stage.said.isEmpty)
        stage.wallJumps(by: .seconds(-20 * 86_400))
        stage.pass(.seconds(300))
        stage.poll()
        #expect(stage.said.count == 1)
    }
}
