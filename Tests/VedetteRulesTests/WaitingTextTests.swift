// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("What a rule waits for, in words")
struct WaitingTextTests {
    private func texts(_ harness: RuleHarness, _ rule: Rule) -> [String] {
        harness.engine.remembered.compactMap { $0.waitingText(of: rule, at: harness.now.wall) }.sorted()
    }

    @Test("a held match has the time that has passed and the time that `for` asks for")
    func held() {
        let rule = Rule.when(.becomes("ready")) { $0.pendingFor = .seconds(300) }
        var harness = RuleHarness(rule)
        harness.item("Billing", "ready", was: "starting")
        #expect(texts(harness, rule) == ["held: Billing, ready for 0 s of 5 min"])
        harness.pass(.seconds(20))
        #expect(texts(harness, rule) == ["held: Billing, ready for 20 s of 5 min"])
        harness.pass(.seconds(170))
        #expect(texts(harness, rule) == ["held: Billing, ready for 3 of 5 min"])
        harness.sleep(.seconds(170))
        #expect(texts(harness, rule) == ["held: Billing, ready for 5 min, sent after the next good poll"])
    }

    @Test("the value of the rule's field is shown, of an item that is gone the word, of a source what is wrong")
    func subjects() {
        let owner = Rule.when(.field("owner", from: nil, to: nil)) { $0.pendingFor = .seconds(90) }
        var harness = RuleHarness(owner)
        harness.field("web", "owner", "ann", was: "bob", state: "up")
        #expect(texts(harness, owner) == ["held: web, owner ann for 0 s of 1 min 30 s"])
        let gone = Rule.when(.disappears) { $0.pendingFor = .seconds(7200) }
        harness = RuleHarness(gone)
        harness.gone("web", "up")
        harness.pass(.seconds(3600))
        #expect(texts(harness, gone) == ["held: web, gone for 1 of 2 h"])
        let failing = Rule.when(.sourceState([.failing])) { $0.pendingFor = .seconds(60) }
        harness = RuleHarness(failing)
        harness.source(.failing)
        #expect(texts(harness, failing) == ["held: lab, failing for 0 s of 1 min"])
    }

    @Test("rows that only count or remember are not shown")
    func nothingWaits() {
        let limit = Rule.when(.field("state", from: nil, to: nil)) {
            $0.limit = Limit(count: 1, per: .seconds(600), by: .item)
        }
        var harness = RuleHarness(limit)
        harness.item("web", "up", was: "down")
        #expect(!harness.engine.remembered.isEmpty && texts(harness, limit).isEmpty)
        harness.item("web", "down", was: "up")
        #expect(texts(harness, limit) == ["limited: web, down, told when the limit allows it"])
        let down = Rule.when(.becomes("down"))
        harness = RuleHarness(down)
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("web", "down", was: "up")
        #expect(texts(harness, down) == ["silenced: web, down, told at the end if it is still so"])
        harness.item("web", "up", was: "down")
        #expect(!harness.engine.remembered.isEmpty && texts(harness, down).isEmpty)
        let once = Rule.when(.becomes("up")) { $0.oncePer = "state" }
        harness = RuleHarness(once)
        harness.item("web", "up", was: "down")
        #expect(!harness.engine.remembered.isEmpty && texts(harness, once).isEmpty)
    }

    @Test("deferred matches, digests and reminders are named")
    func others() {
        let day = CivilWindow(
            name: "day", start: CivilTimeOfDay(minutes: 600), end: CivilTimeOfDay(minutes: 900), zone: "UTC")
        let quiet = Rule.when(.becomes("up")) { $0.quiet = Quiet(windows: [day], action: .defer) }
        var harness = RuleHarness(quiet)
        harness.item("web", "up", was: "down")
        #expect(texts(harness, quiet) == ["deferred: web, up"])
        let digest = Rule.when(.becomes("up")) { $0.digest = DigestPlan(release: .every(.seconds(60))) }
        harness = RuleHarness(digest)
        harness.item("web", "up", was: "down")
        harness.item("db", "up", was: "down")
        #expect(texts(harness, digest) == ["digest: 2 events"])
        let remind = Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) }
        harness = RuleHarness(remind)
        harness.item("web", "down", was: "up")
        harness.pass(.seconds(120))
        #expect(texts(harness, remind) == ["reminder: web, down, sent 2 min ago"])
    }
}
