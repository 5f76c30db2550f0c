// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

/// A reload, and a restart with other files, end or keep what rules told and what waits.
@Suite("Editing rules", .serialized)
struct RuleEditTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 11 * 60), end: CivilTimeOfDay(minutes: 13 * 60), zone: "UTC")

    private static func rule(
        _ states: String..., to sinks: String..., version: UInt64 = 1, gates: (inout Gates) -> Void = { _ in }
    ) -> Rule {
        var made = Gates()
        made.resolved = true
        gates(&made)
        return Rule(
            name: "r", when: .field("state", from: nil, to: .oneOf(states)),
            notify: (sinks.isEmpty ? ["out"] : sinks).map { .init(sink: $0) }, gates: made, identity: version)
    }

    @Test("what an edited condition no longer matches is ended, and the rest is kept", arguments: [false, true])
    func narrowed(byRestart: Bool) {
        var harness = RuleHarness(Self.rule("down", "limp"))
        harness.item("a", "down", was: "up")
        harness.item("b", "limp", was: "up")
        harness.edit(Self.rule("down", "lost", version: 2), byRestart: byRestart)
        #expect(harness.sent.suffix(1) == ["out: b: no longer watched"])
        harness.edit(Self.rule("down", version: 3), byRestart: byRestart)
        harness.item("a", "up", was: "down")
        harness.item("b", "up", was: "limp")
        #expect(harness.sent.dropFirst(2) == ["out: b: no longer watched", "out: a: down → up"])
        #expect(harness.rows.isEmpty)
    }

    @Test("'from' is not asked again, and a state that was there before begins no match", arguments: [false, true])
    func asked(byRestart: Bool) {
        var harness = RuleHarness(Self.rule("down"))
        harness.item("a", "down", was: "up")
        harness.item("b", "limp", was: "up")
        var other = Self.rule("down", version: 2)
        other.when = .field("state", from: .oneOf(["limp"]), to: .oneOf(["down", "limp"]))
        harness.edit(other, byRestart: byRestart)
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        harness.item("a", "up", was: "down")
        #expect(harness.sent.last == "out: a: down → up")
    }

    @Test("a condition of another kind ends what the old one told")
    func otherKind() {
        for condition in [
            Condition.disappears, .appears, .changes(["note"]), .sourceState([.failing]), .source(["web"], text: "web"),
            .not(.item("state", .oneOf(["down"]))),
        ] {
            var harness = RuleHarness(Self.rule("down"))
            harness.item("a", "down", was: "up")
            var other = Self.rule("down", version: 2)
            other.when = condition
            harness.reload(other)
            #expect(harness.sent.last == "out: a: no longer watched", "\(condition)")
        }
    }

    @Test("a changed 'to' is asked of the stored item: no event tells of a measure that stays beyond a bound")
    func measure() {
        func rule(_ bound: Double, _ version: UInt64) -> Rule {
            var rule = Self.rule("down", version: version)
            rule.when = .field("latency", from: nil, to: .above(bound))
            return rule
        }
        var harness = RuleHarness(rule(500, 1))
        harness.field("a", "latency", "600", was: "100", state: "up")
        #expect(harness.engine.sourcesOfEdited(in: RuleSet([rule(800, 2)])) == ["lab"])
        #expect(harness.engine.sourcesOfEdited(in: RuleSet([rule(500, 1)])).isEmpty)
        let item = Item(key: "a", title: "a", state: "up", fields: ["latency": .text("900")])
        harness.reload(rule(800, 2), stored: ["lab": ["a": item]])
        #expect(harness.sent.count == 1)
        harness.reload(rule(1000, 3), stored: ["lab": ["a": item]])
        #expect(harness.sent.count == 2)
        harness.field("b", "latency", "1200", was: "100", state: "up")
        harness.reload(rule(900, 4), stored: ["lab": [:]])
        #expect(harness.sent.last == "out: b: no longer watched", "it is gone")
    }

    @Test("a match that waited goes on from its beginning under another 'for'", arguments: [false, true])
    func held(byRestart: Bool) {
        for (span, after) in [(120, 60), (40, 0)] {
            var harness = RuleHarness(Self.rule("down") { $0.pendingFor = .seconds(90) })
            harness.item("a", "down", was: "up")
            harness.pass(.seconds(60))
            harness.edit(Self.rule("down", version: 2) { $0.pendingFor = .seconds(span) }, byRestart: byRestart)
            harness.pass(.seconds(max(0, after - 1)))
            harness.poll()
            #expect(harness.sent.isEmpty == (after > 0))
            harness.pass(.seconds(1))
            harness.poll()
            #expect(harness.sent == ["out: a: up → down"])
            harness.item("a", "up", was: "down")
            #expect(harness.sent.last == "out: a: down → up")
        }
    }

    @Test(
        "what a gate withholds is told when the gate is taken away, if it is still a match", arguments: [false, true])
    func withoutGate(byRestart: Bool) {
        for gates in [
            { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) },
            {
                $0.conditions = [
                    SourceCondition(source: "lab", matcher: .oneOf(["up"]), isExcluded: false)
                ]
            },
        ] as [(inout Gates) -> Void] {
            var harness = RuleHarness(Self.rule("down", "limp", gates: gates))
            for (key, state) in [("a", "down"), ("b", "down"), ("c", "limp")] { harness.item(key, state, was: "up") }
            let before = harness.sent.count
            harness.edit(Self.rule("down", version: 2), byRestart: byRestart)
            harness.poll()
            #expect(harness.sent.count > before && harness.sent.joined().contains("b: up → down"))
            #expect(!harness.sent.joined().contains("c:"))
        }
    }

    @Test("a window with other times lets go what the old one withheld")
    func otherWindow() {
        func rule(_ window: CivilWindow) -> Rule {
            Self.rule("down") { $0.quiet = Quiet(windows: [window], action: .defer) }
        }
        var harness = RuleHarness(rule(Self.night))
        harness.item("a", "down", was: "up")
        var shorter = Self.night
        shorter.end = CivilTimeOfDay(minutes: 11 * 60 + 30)
        harness.reload(rule(shorter))
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test(
        "a digest of a quiet time is sent at the end of a window with other times, or at once",
        arguments: [false, true])
    func otherWindowOfDigest(byRestart: Bool) {
        func rule(until minutes: Int) -> Rule {
            var window = Self.night
            window.end = CivilTimeOfDay(minutes: minutes)
            return Self.rule("down", to: "out", "team") { $0.quiet = Quiet(windows: [window], action: .digest) }
        }
        // A window that ends when it starts is a whole day.
        for (end, wait) in [(11 * 60 + 30, 0), (14 * 60, 7200)] {
            var harness = RuleHarness(rule(until: 13 * 60))
            for key in ["a", "b"] { harness.item(key, "down", was: "up") }
            harness.edit(rule(until: end), byRestart: byRestart)
            harness.pass(.seconds(max(0, wait - 1)))
            #expect(harness.sent.isEmpty == (wait > 0), "until minute \(end)")
            harness.pass(.seconds(1))
            #expect(harness.sent == ["out: 2 events in lab", "team: 2 events in lab"], "until minute \(end)")
        }
    }

    @Test("reminders begin, change and end with the rule's", arguments: [false, true])
    func reminders(byRestart: Bool) {
        var harness = RuleHarness(Self.rule("down"))
        harness.item("a", "down", was: "up")
        harness.edit(Self.rule("down", version: 2) { $0.remind = Reminder(every: .seconds(600)) }, byRestart: byRestart)
        harness.pass(.seconds(600))
        #expect(harness.sent.suffix(1) == ["out: a: still down"])
        harness.edit(Self.rule("down", version: 3) { $0.remind = Reminder(every: .seconds(300)) }, byRestart: byRestart)
        harness.pass(.seconds(300))
        #expect(harness.sent.count == 3)
        harness.edit(Self.rule("down", version: 4), byRestart: byRestart)
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 3)
        harness.item("a", "up", was: "down")
        #expect(harness.sent.last == "out: a: down → up")
    }

    @Test("a renamed rule keeps what it told and what waits", arguments: [false, true])
    func renamed(byRestart: Bool) {
        var harness = RuleHarness(Self.rule("down") { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        var other = Self.rule("down") { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) }
        (other.name, other.formerName) = ("new", "r")
        harness.edit(other, byRestart: byRestart)
        #expect(harness.rows.keys.allSatisfy { $0.rule == "new" })
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up", "out: b: up → down"])
        #expect(harness.messages.last?.rule == "new")
        harness.restart()
        harness.item("b", "up", was: "down")
        #expect(harness.sent.last == "out: b: down → up")
    }

    @Test("a renamed or edited rule still waits for the good poll that its reminders need", arguments: [false, true])
    func unconfirmed(isRenamed: Bool) {
        var harness = RuleHarness(Self.rule("down") { $0.remind = Reminder(every: .seconds(600)) })
        harness.item("a", "down", was: "up")
        harness.poll(isGood: false)
        harness.pass(.seconds(600))
        var other = Self.rule("down", version: 2) { $0.remind = Reminder(every: .seconds(600)) }
        if isRenamed { (other.name, other.formerName) = ("new", "r") }
        harness.reload(other)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
        harness.poll()
        #expect(harness.sent.suffix(1) == ["out: a: still down"])
    }

    @Test("a rule that is gone tells the ends of what it told, and no others", arguments: [false, true])
    func gone(byRestart: Bool) {
        var silent = Self.rule("down") { $0.resolved = false }
        silent.name = "without an end"
        var harness = RuleHarness(
            Self.rule("down", to: "out", "team") { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) }, silent)
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.sent = []
        harness.edit(byRestart: byRestart)
        #expect(harness.sent == ["out: a: no longer watched", "team: a: no longer watched"])
        #expect(harness.suppressed.contains("b: up → down: its rule was removed while it was held back"))
        #expect(harness.rows.isEmpty)
    }

    @Test("a silence withholds the end that a removed rule tells, over restarts, too")
    func silenced() {
        var harness = RuleHarness(Self.rule("down", to: "out", "team"))
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.edit(byRestart: false)
        #expect(harness.sent.suffix(1) == ["out: a: no longer watched"])
        harness.restart(unconfirmed: ["lab"])
        harness.item("a", "up", was: "down")
        harness.poll()
        #expect(harness.sent.suffix(1) == ["out: a: no longer watched"])
        harness.silence()
        #expect(harness.sent.suffix(1) == ["team: a: no longer watched"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a log is sent at once when its digest was edited or its rule is gone", arguments: [false, true])
    func logs(byRestart: Bool) {
        func rule(_ span: Int, version: UInt64, log: UInt64) -> Rule {
            var rule = Self.rule("down", to: "out", "team", version: version) {
                $0.digest = DigestPlan(release: .every(.seconds(span)))
                $0.resolved = false
            }
            rule.logIdentity = log
            return rule
        }
        for next in [[rule(900, version: 2, log: 2)], []] {
            var harness = RuleHarness(rule(600, version: 1, log: 1))
            for key in ["a", "b"] { harness.item(key, "down", was: "up") }
            harness.edit(rule(600, version: 3, log: 1), byRestart: byRestart)
            #expect(harness.sent.isEmpty, "another key was edited")
            if byRestart {
                harness.restart(with: RuleSet(next))
            } else if let rule = next.first {
                harness.reload(rule)
            } else {
                harness.reload()
            }
            #expect(harness.sent == ["out: 2 events in lab", "team: 2 events in lab"])
            #expect(harness.rows.isEmpty)
        }
    }

    @Test("a sink that was added is told later matches, and one that was removed the ends", arguments: [false, true])
    func sinks(byRestart: Bool) {
        let limit: (inout Gates) -> Void = { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) }
        var harness = RuleHarness(Self.rule("down", to: "out", "old", gates: limit))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.edit(Self.rule("down", to: "out", "new", gates: limit), byRestart: byRestart)
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "old: a: up → down"])
        harness.pass(.seconds(600))
        harness.item("a", "up", was: "down")
        harness.item("b", "up", was: "down")
        #expect(harness.sent.dropFirst(2).filter { !$0.hasPrefix("out") } == ["old: a: down → up"])
        #expect(harness.sent.contains("out: b: up → down"))
        harness.pass(.seconds(600))
        harness.item("c", "down", was: "up")
        #expect(harness.sent.suffix(2) == ["out: c: up → down", "new: c: up → down"])
    }

    @Test("a sink that was added is neither reminded of earlier matches nor told their ends", arguments: [false, true])
    func addedSink(byRestart: Bool) {
        let remind: (inout Gates) -> Void = { $0.remind = Reminder(every: .seconds(600)) }
        var harness = RuleHarness(Self.rule("down", to: "out", gates: remind))
        harness.item("a", "down", was: "up")
        harness.edit(Self.rule("down", to: "out", "new", gates: remind), byRestart: byRestart)
        harness.pass(.seconds(600))
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down", "out: a: still down", "out: a: down → up"])
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        #expect(harness.messages.dropFirst(3).map(\.sink) == ["out", "new", "out", "new"])
    }

    @Test("a source that is gone ends what was told about it and its items", arguments: [false, true])
    func source(isStored: Bool) {
        var health = Self.rule("down")
        (health.name, health.when) = ("health", .sourceState([.failing]))
        var harness = RuleHarness(Self.rule("down"), health)
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up", source: "web")
        harness.source(.failing)
        harness.poll(isGood: false)
        harness.sent = []
        harness.forgetSources(except: isStored ? ["lab", "web"] : ["web"], watched: ["web"])
        #expect(harness.sent.sorted() == ["out: a: no longer watched", "out: lab: no longer watched"])
        #expect(harness.rows.keys.filter { $0.slot == .match }.map(\.name) == ["web\u{1F}b"])
    }

    @Test("a rule that is new or was edited is told of a source that fails already, and once")
    func failing() {
        func rule(_ version: UInt64) -> Rule {
            var rule = Self.rule("down", version: version)
            rule.when = .sourceState([.failing])
            return rule
        }
        var harness = RuleHarness(Self.rule("down"))
        let failures = [harness.event(.failing), harness.event(.failing, "web")]
        harness.source(.failing)
        harness.source(.failing, "web")
        #expect(!harness.engine.asksForHealth(RuleSet([Self.rule("down", version: 2)]), after: harness.engine.rules))
        for version in [2, 2, 3] as [UInt64] {
            let isNew = harness.engine.asksForHealth(RuleSet([rule(version)]), after: harness.engine.rules)
            #expect(isNew == (harness.sent.isEmpty || version == 3))
            harness.reload(rule(version), failures: failures)
        }
        #expect(harness.sent == ["out: lab is failing", "out: web is failing"])
        harness.source(.recovered)
        #expect(harness.sent.last == "out: lab answers again")
    }

    @Test("a failure that an earlier rule with 'stop' matches begins no match when it is found")
    func stoppedFailure() {
        var stopping = Rule.when(.source(["lab"], text: "lab"), name: "stop")
        stopping.stop = true
        var harness = RuleHarness(stopping)
        let failures = [harness.event(.failing), harness.event(.failing, "web")]
        var rule = Self.rule("down")
        rule.when = .sourceState([.failing])
        harness.reload(stopping, rule, failures: failures)
        #expect(harness.sent == ["out: web is failing"])
    }

    @Test("an item of a new address or kind keeps its name in the end of what was told, also without a title")
    func baseline() {
        var harness = RuleHarness(Self.rule("down"))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        var seen = PollObservation(isGood: true)
        let item = Item(key: "a", title: nil, state: "up")
        seen.baseline = [StoredItem(item, digest: item.digest, stateSince: harness.now.wall)]
        harness.take(harness.engine.evaluatePoll(of: "lab", seen, at: harness.now) { Identifier("x") })
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "out: b: no longer so"])
        #expect(harness.messages.suffix(2).map { $0.event.item?.title } == ["a", "b"])
    }

    @Test("'stays' that was edited keeps what it told, and tells nothing twice", arguments: [false, true])
    func stays(byRestart: Bool) {
        func rule(_ states: String..., version: UInt64) -> Rule {
            var rule = Self.rule("down", version: version) { $0.pendingFor = .seconds(60) }
            (rule.when, rule.matchesExisting) = (.stays("state", .oneOf(states)), true)
            return rule
        }
        var harness = RuleHarness(rule("down", version: 1))
        harness.find("a", "down", since: .seconds(-600))
        harness.poll()
        #expect(harness.sent.count == 1)
        harness.edit(rule("down", "limp", version: 2), byRestart: byRestart)
        harness.find("a", "down", since: .seconds(-600))
        harness.find("b", "limp", since: .seconds(-600))
        harness.poll()
        #expect(harness.sent.count == 2 && harness.sent.last?.contains("b") == true)
        harness.edit(rule("limp", version: 3), byRestart: byRestart)
        harness.find("a", "down", since: .seconds(-600))
        harness.find("b", "limp", since: .seconds(-600))
        harness.poll()
        #expect(harness.sent.dropFirst(2) == ["out: a: no longer watched"])
    }

    @Test("a reload whose commit fails changes nothing, and does the same again")
    func undone() {
        var harness = RuleHarness(Self.rule("down"))
        harness.item("a", "down", was: "up")
        var other = Self.rule("limp", version: 2)
        (other.name, other.formerName) = ("new", "r")
        harness.engine.undo(harness.engine.reload(RuleSet([other]), at: harness.now) { Identifier("x") })
        #expect(harness.engine.remembered.map(\.key.rule) == ["r"])
        harness.reload(other)
        #expect(harness.sent.last == "out: a: no longer watched" && harness.rows.isEmpty)
    }

    @Test("what a gone rule tells after a silence with an end is told by one of several watchers")
    func goneAndShared() {
        var harness = RuleHarness(Self.rule("down"))
        harness.item("a", "down", was: "up")
        let end = RuleHarness.noon.advanced(by: .seconds(600))
        harness.silence(Silence(id: 1, item: "a", until: end, created: RuleHarness.noon))
        harness.reload(Rule.when(.appears, name: "other"))
        harness.engine.fire(["other"])
        harness.pass(.seconds(599))
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "out: a: no longer watched")
    }
}
