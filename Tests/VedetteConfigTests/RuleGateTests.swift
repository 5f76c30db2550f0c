// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("Gates of a rule")
struct RuleGateTests {
    private static let head = """
        sources:
          web: {kind: cloudburst, url: "https://h/"}
          gate: {kind: json, url: "https://g/"}
        sinks: {desk: {kind: desktop}, team: {kind: desktop}}
        windows:
          night: {daily: "22:00-07:00", tz: UTC}
          weekend: {days: [sat-sun]}
        rules:

        """

    private func rule(_ text: String) throws -> Rule {
        let loaded = load(Self.head + text)
        #expect(loaded.problems.map(\.description) == [])
        return try #require(loaded.configuration?.rules.first)
    }

    private func problems(_ text: String) -> [String] {
        load(Self.head + text).problems.map { $0.description.replacing("a.yaml:", with: "", maxReplacements: 1) }
    }

    @Test("'was' is the former name of one rule, and no rule has it now")
    func formerName() throws {
        func rule(_ name: String, _ was: String) -> String {
            "- {name: \(name), was: \(was), when: {source: web, appears: true}, notify: desk}\n"
        }
        #expect(try self.rule(rule("new", "old")).formerName == "old")
        #expect(
            problems(rule("a", "old") + rule("b", "old") + rule("c", "a") + rule("d", "d")) == [
                "10:18: what the rule 'old' remembers belongs to the rule 'a'; name another one, or remove 'was'",
                "11:18: what the rule 'a' remembers belongs to the rule 'a'; name another one, or remove 'was'",
                "12:18: what the rule 'd' remembers belongs to the rule 'd'; name another one, or remove 'was'",
            ])
    }

    @Test("an edit of what its rows depend on makes a rule another one, and no other edit")
    func identity() throws {
        let plain = try rule("- {name: r, when: {source: web, appears: true}, notify: desk}")
        let named = try rule("- {name: s, was: r, when: {source: web, appears: true}, notify: team, priority: high}")
        #expect(plain.identity == named.identity && plain.logIdentity == named.logIdentity)
        for edit in ["for: 30s", "resolved: true", "if: {source: gate, field: state, is: up}", "remind: {every: 1h}"] {
            let edited = try rule("- {name: r, when: {source: web, appears: true}, notify: desk, \(edit)}")
            #expect(edited.identity != plain.identity && edited.logIdentity == plain.logIdentity, "\(edit)")
        }
        let gathered = try rule("- {name: r, when: {source: web, appears: true}, notify: desk, digest: {every: 1h}}")
        #expect(gathered.logIdentity != plain.logIdentity)
    }

    @Test("every gate is read with all its keys")
    func all() throws {
        let rule = try rule(
            """
            - name: r
              when: {source: web, field: state, to: failed}
              tags: [ops, urgent]
              for: 30s
              depends: gate
              quiet: {during: [night, weekend], then: drop}
              once_per: owner
              limit: {count: 2, per: 10m, by: owner}
              remind: {every: 1h, until: [ok, gone]}
              resolved: true
              recovered_for: 5m
              escalate:
                - {after: 2h, notify: team}
                - {after: 30m, notify: [desk: {text: "still {{item.state}}"}]}
              notify: desk
            """)
        #expect(
            rule.tags == ["ops", "urgent"] && rule.gates.pendingFor == .seconds(30) && rule.gates.depends == ["gate"])
        #expect(rule.gates.quiet?.action == .drop && rule.gates.quiet?.windows.map(\.name) == ["night", "weekend"])
        #expect(rule.gates.quiet?.windows.last?.days == [6, 7])
        #expect(rule.gates.oncePer == "owner")
        #expect(rule.gates.limit == Limit(count: 2, per: .seconds(600), by: .field("owner")))
        #expect(rule.gates.remind?.every == .seconds(3600) && rule.gates.remind?.until == ["ok", "gone"])
        #expect(rule.gates.resolved && rule.gates.recoveredFor == .seconds(300))
        #expect(rule.gates.escalate.map(\.after) == [.seconds(1800), .seconds(7200)])
        #expect(rule.gates.escalate.first?.notify.first?.text != nil)
    }

    @Test("'resolved' is a flag or a map")
    func resolved() throws {
        let ending = try rule(
            """
            - name: r
              when: {field: state, to: down}
              resolved: {title: "{{item.name}} is back", text: same, priority: low, notify: team}
              notify: [desk: {text: Wake up}, team: {title: Down}]
            """
        ).ending
        guard case .own? = ending.title, case .same? = ending.text else { Issue.record("no texts"); return }
        #expect(ending.priority == .low && ending.sinks == ["team"])
        #expect(
            problems("- {name: r, when: {appears: true}, resolved: {notify: desk, titel: x}, notify: team}") == [
                "9:55: the rule does not tell 'desk' of matches, and so not of their ends; name it in its 'notify'",
                "9:61: unknown key 'titel' in 'resolved'; did you mean 'title'?",
            ])
    }

    @Test("a title that the end would not have is remarked")
    func resolvedTitle() {
        func remarks(_ resolved: String, _ title: String) -> Int {
            problems(
                "- {name: r, when: {field: a, to: x}, resolved: \(resolved), notify: [desk, team: {title: '\(title)'}]}"
            ).count
        }
        #expect(remarks("true", "{{item.name}} is DOWN") == 1 && remarks("false", "{{item.name}} is DOWN") == 0)
        for title in ["{{item.a}}", "{{#resolved}}OK{{/resolved}}"] { #expect(remarks("true", title) == 0) }
        for resolved in ["{title: same}", "{title: OK}", "{notify: desk}"] {
            #expect(remarks(resolved, "{{item.name}} is DOWN") == 0)
        }
    }

    @Test("if, unless, at_least, nothing, during and not are read with their keys")
    func wishes() throws {
        let asked = try rule(
            """
            - name: r
              when: {source: web, item: {owner: {not: {glob: "test*"}}}, field: state, to: {not: [up, ready]}}
              if: {source: gate, item: {key: door}, is: open}
              unless: [{source: gate, field: mode, is: {not: away}}]
              during: [night]
              quiet: {then: drop}
              at_least: {count: 3, per: 10m, by: owner}
              notify: desk
              tests:
                - {change: {owner: ann, state: [up, down]}, times: 3, at: "23:00", given: [{source: gate, key: door, state: open}], expect: desk}
                - {change: {owner: ann, state: [up, down]}, times: 2, at: "23:00", expect: suppressed}
                - {change: {owner: ann, state: [up, down, lost, down]}, at: "23:00", expect: desk}
                - {change: {owner: test1, state: [up, down]}, times: 3, at: "23:00", expect: nothing}
            """)
        #expect(asked.gates.conditions.map(\.isExcluded) == [false, true])
        #expect(asked.gates.quiet?.outside.map(\.name) == ["night"] && asked.gates.quiet?.action == .drop)
        #expect(asked.gates.atLeast == Limit(count: 3, per: .seconds(600), by: .field("owner")))
        let nothing = try rule(
            """
            - {name: r, when: {source: web, appears: true}, nothing: 24h, notify: desk,
               tests: [{appears: {name: a}, lasts: 23h, expect: nothing}, {appears: {name: a}, lasts: 24h, expect: desk}]}
            """)
        #expect(nothing.gates.nothing == .seconds(86_400))
        let weekly = try rule(
            "- {name: r, when: {appears: true}, digest: {at: \"8:30\", tz: UTC, days: [mon, fri]}, notify: desk}")
        #expect(
            weekly.gates.digest
                == DigestPlan(release: .at(CivilTimeOfDay(minutes: 510, zone: "UTC"), days: [1, 5])))
    }

    @Test("how_many and older are read with their keys, and their errors have a place")
    func counts() throws {
        let few = try rule(
            "- {name: r, when: {source: web, how_many: {state: [ready, started], below: 3}}, notify: desk}")
        guard case .all(let parts) = few.when, case .howMany(let count) = parts.last else {
            Issue.record("no count")
            return
        }
        #expect(count.condition.source == "web" && count.bound == .below(3))
        let old = try rule("- {name: r, when: {source: gate, field: finished, older: 26h}, notify: desk}")
        #expect(old.matchesExisting)
        #expect(
            problems("- {name: r, when: {how_many: {state: x, below: 3}}, notify: desk}")
                == ["9:30: 'how_many' counts the items of one source; name it as 'source: NAME'"])
        #expect(
            problems("- {name: r, when: {source: web, how_many: {state: x}}, notify: desk}")
                == ["9:43: 'how_many' takes one of 'below' and 'above'"])
        #expect(
            problems("- {name: r, when: {source: gate, field: a, older: 1h, to: x}, notify: desk}")
                == ["9:55: 'to' is about a change, but 'older' is not; remove one"])
    }

    @Test("an error in if, at_least, nothing or days has its place and remedy")
    func badWishes() {
        #expect(
            problems("- {name: r, when: {appears: true}, if: {source: gat, is: x}, notify: desk}")
                == ["9:49: unknown source 'gat'; did you mean 'gate'?"])
        #expect(
            problems("- {name: r, when: {appears: true}, nothing: 1h, for: 1m, notify: desk}")
                == ["9:49: 'for' is about events, but 'nothing' is about their absence; remove one"])
        #expect(
            problems("- {name: r, when: {appears: true}, digest: {every: 1h, days: mon}, notify: desk}")
                == ["9:56: 'days' needs 'at', as 'at: \"08:00\"'"])
        #expect(
            problems("- {name: r, when: {appears: true}, quiet: {then: drop}, notify: desk}")
                == ["9:43: 'quiet' lacks 'during': names of windows"])
        #expect(
            problems("- {name: r, when: {field: a, compare: told}, notify: desk}")
                == ["9:30: 'compare' needs 'by', as 'by: 5%'"])
    }

    @Test(
        "a key that has no effect beside the others is an error",
        arguments: [
            (
                "when: {appears: true}, digest: {every: 1h, tz: UTC}, notify: desk",
                "9:56: 'tz' needs 'at', as 'at: \"08:00\"'"
            ),
            (
                "when: {source: gate, field: a, older: 1h}, for: 5m, notify: desk",
                "9:56: 'for' has no effect beside 'older', which is a time itself; remove one"
            ),
            (
                "when: {source: gate, how_many: {state: x, below: 3}}, once_per: name, notify: desk",
                "9:67: 'once_per' names a field of an item, but this rule's messages are about a source; remove it"
            ),
            (
                "when: {source_state: failing}, once_per: name, notify: desk",
                "9:44: 'once_per' names a field of an item, but this rule's messages are about a source; remove it"
            ),
            (
                "when: {appears: true}, stop: true, limit: {count: 1, per: 1h}",
                "9:48: 'limit' is about messages, but a rule with 'stop' and without 'notify' sends none; remove it"
            ),
            (
                "when: {appears: true}, stop: true, priority: high",
                "9:48: 'priority' is about messages, but a rule with 'stop' and without 'notify' sends none; remove it"
            ),
        ])
    func withoutEffect(keys: String, problem: String) {
        #expect(problems("- {name: r, \(keys)}") == [problem])
    }

    @Test("once_per is taken where one of several alternatives is about items")
    func oncePerOfSome() throws {
        let text = "- {name: r, when: {any: [{source_state: failing}, {appears: true}]}, once_per: name, notify: desk}"
        #expect(try rule(text).gates.oncePer == "name")
    }

    @Test("a digest is released after a time or at a time of day")
    func digest() throws {
        let every = try rule("- {name: r, when: {appears: true}, digest: {every: 10m, by: item}, notify: desk}")
        #expect(every.gates.digest == DigestPlan(release: .every(.seconds(600)), by: .item))
        let daily = try rule("- {name: r, when: {appears: true}, digest: {at: \"8:30\", tz: UTC}, notify: desk}")
        #expect(daily.gates.digest == DigestPlan(release: .at(CivilTimeOfDay(minutes: 510, zone: "UTC"))))
    }

    @Test("`stays` matches existing items by state or by a named field")
    func stays() throws {
        let rule = try rule("- {name: r, when: {source: web, stays: Starting}, for: 30m, notify: desk}")
        #expect(rule.matchesExisting && rule.gates.pendingFor == .seconds(1800))
        let named = try self.rule("- {name: r, when: {field: owner, stays: {glob: 'a*'}}, for: 1m, notify: desk}")
        #expect(named.matchesExisting)
        #expect(
            problems("- {name: r, when: {stays: x}, notify: desk}")
                == ["9:13: 'stays' needs 'for': how long it stays, as 'for: 30m'"])
        #expect(
            problems("- {name: r, when: {stays: x, to: y}, for: 1m, notify: desk}")
                == ["9:30: 'to' is about a change, but 'stays' is not; remove one"])
    }

    @Test("`by` matches a change of a number", arguments: ["10", "5%", "+5%", "-0.5"])
    func by(text: String) throws {
        _ = try rule("- {name: r, when: {source: gate, field: price, by: \(text)}, notify: desk}")
    }

    @Test("contradictions are errors with their place")
    func bad() {
        #expect(
            problems("- {name: r, when: {source: gate, field: price, by: -5x}, notify: desk}")
                == ["9:52: 'by' is a number or a percentage above zero as 10, 5%, +5% or -10, not '-5x'"])
        #expect(
            problems(
                "- {name: r, when: {appears: true}, notify: desk, depends: gat, quiet: {during: nigt, then: wait}, limit: {count: 0, per: 1ms}}"
            ) == [
                "9:59: unknown source 'gat'; did you mean 'gate'?",
                "9:80: unknown window 'nigt'; did you mean 'night'?",
                "9:92: 'then' is one of 'drop', 'defer', 'digest', not 'wait'",
                "9:114: 'count' must be a whole number from 1 to 10000, not '0'",
                "9:122: 'per' is at least 1s, not '1ms'",
            ])
        #expect(
            problems(
                "- {name: r, when: {appears: true}, notify: desk, digest: {every: 1m, at: \"25:00\"}, remind: {every: 1m}}"
            )
                == [
                    "9:58: 'digest' takes one of 'every' (a duration) and 'at' (a time of day)",
                    "9:74: 'at' is a time of day as \"08:30\", not '25:00'",
                ])
        #expect(
            problems("- {name: r, when: {appears: true}, notify: desk, digest: {every: 1m}, remind: {every: 1m}}")
                .isEmpty)
        #expect(
            problems("- {name: r, when: {appears: true}, notify: desk, digest: {every: 1m}, resolved: true}")
                .isEmpty)
        #expect(
            problems("- {name: r, when: {appears: true}, notify: desk, escalate: [{after: 1m, notify: tem}]}")
                == ["9:81: unknown sink 'tem'; did you mean 'team'?"])
    }

    @Test("a rule's tests are run, and a failed one is a warning at its place")
    func tests() {
        let rule = """
            - name: r
              when: {source: web, field: state, from: Starting, to: Ready}
              quiet: {during: night, then: defer}
              for: 30s
              notify: [desk, team]
              tests:
                - {change: {name: prod-1, state: [Starting, Ready]}, at: "12:00", expect: held}
                - {change: {name: prod-1, state: [Starting, Ready]}, at: "12:00", lasts: 1m, expect: [desk, team]}
                - {change: {name: prod-1, state: [Starting, Ready]}, at: "23:00", lasts: 1m, expect: deferred}
                - {change: {name: prod-1, state: [Stopped, Ready]}, expect: nothing}
                - {appears: {state: Starting}, expect: []}

            """
        #expect(problems(rule) == [])
        #expect(
            problems(rule + "    - {change: {state: [Stopped, Ready]}, expect: desk}\n")
                == ["20:7: warning: rule 'r': expected desk, but it was nothing: from is 'Stopped', not 'Starting'"])
        #expect(
            problems(rule + "    - {change: {state: [Starting, Ready]}, at: \"23:00\", lasts: 1m, expect: desk}\n")
                == ["20:7: warning: rule 'r': expected desk, but it was deferred"])
    }

    @Test("a test of `how_many` counts the items of `given` and of its events, after each event")
    func countTests() {
        let rule = """
            - name: r
              when: {source: gate, how_many: {state: up, below: 2}}
              notify: desk
              tests:
                - {change: {state: [up, down]}, given: [{source: gate, state: up}], expect: desk}
                - {change: {state: [down, up]}, given: [{source: gate, state: up}], expect: nothing}
                - {disappears: {state: up}, given: [{source: gate, state: up}], expect: desk}

            """
        #expect(problems(rule) == [])
        #expect(
            problems(rule + "    - {change: {state: [up, down]}, expect: nothing}\n")
                == ["16:7: warning: rule 'r': expected nothing, but it was desk"])
    }

    @Test("an error in a test of a rule has its place")
    func badTests() {
        #expect(
            problems(
                "- {name: r, when: {appears: true}, notify: desk, tests: [{expect: x}, {change: {state: a}, expect: desc}, {appears: {state: [a, b]}, expect: desk, at: noon}]}"
            ) == [
                "9:58: a test needs one event: one of change, appears, disappears, source_state, sink_state",
                "9:80: 'change' shows no change; write a field as {state: [Starting, Ready for use]}",
                "9:100: unknown sink or word 'desc'; did you mean 'desk'?",
                "9:125: 'state' is a value, or [from, to] under 'change'",
            ])
    }

    @Test(
        "an empty list, where something must stand, is an error and not a rule that never speaks",
        arguments: [
            "notify: []", "notify: desk, when: {appears: true, source: []}", "notify: desk, when: {changes: []}",
            "notify: desk, when: {field: state, to: []}", "notify: desk, when: {source_state: []}",
            "notify: desk, when: {appears: true, item: {owner: []}}", "notify: desk, quiet: {during: []}",
            "notify: desk, escalate: [{after: 1m, notify: []}]", "notify: desk, depends: []",
            "notify: desk, escalate: []",
        ])
    func emptyLists(text: String) {
        let when = text.contains("when:") ? "" : "when: {appears: true}, "
        let found = problems("- {name: r, \(when)\(text)}")
        #expect(found.count == 1 && found[0].contains("empty list"), "\(found)")
    }

    @Test("`stays` inside `any` or `all` matches existing items and needs `for`; under `not` it is an error")
    func nestedStays() throws {
        let rule = try rule(
            "- {name: r, when: {any: [{stays: Starting}, {source: web, stays: Queued}]}, for: 1m, notify: desk}")
        #expect(rule.matchesExisting)
        #expect(
            problems("- {name: r, when: {all: [{stays: Starting}]}, notify: desk}")
                == ["9:13: 'stays' needs 'for': how long it stays, as 'for: 30m'"])
        #expect(
            problems("- {name: r, when: {appears: true, not: {stays: Starting}}, for: 1m, notify: desk}")
                == ["9:35: 'stays' under 'not' has no meaning; use 'item' under 'not'"])
    }

    @Test("`escalate` beside a digest is an error")
    func nightDigest() {
        #expect(
            problems(
                "- {name: r, when: {appears: true}, quiet: {during: night, then: digest}, escalate: [{after: 1m, notify: desk}], notify: desk}"
            ) == ["9:74: 'escalate' is about one event, but 'digest' joins several; keep one"])
    }

    @Test("the order of the sinks in a test does not matter")
    func sinkOrder() {
        #expect(
            problems(
                "- {name: r, when: {appears: true}, notify: [desk, team], tests: [{appears: {state: a}, expect: [team, desk]}]}"
            ) == [])
    }

    @Test("a window may have dates, and days by a rule of RFC 5545")
    func dates() throws {
        let more = """
            - {name: r, when: {source: web, appears: true}, quiet: {during: [patches, move], then: drop}, notify: desk}
            """
        let windows = """
            windows:
              patches: {daily: "22:00-04:00", repeat: FREQ=MONTHLY;BYDAY=1SU, from: 2026-12-06}
              move: {from: 2026-12-12 18:00, until: 2026-12-14}
            """
        let loaded = load(Self.head + more, windows)
        #expect(loaded.problems.map(\.description) == [])
        let read = try #require(loaded.configuration?.rules.first?.gates.quiet?.windows)
        #expect(read.map(\.name) == ["patches", "move"])
        #expect(read[0].dates == [20_793] && read[0].start.minutes == 1320)
        #expect(read[1].from == CivilMoment("2026-12-12 18:00") && read[1].until == CivilMoment("2026-12-14"))
        #expect(CivilMoment("2026-12-12 18:00")?.minutes == 1080 && CivilMoment("2026-12-06")?.day == 20_793)
        for text in ["", "2026-12", "2026-02-30", "2026-12-06T10:00", "2026-12-06 25:00"] {
            #expect(CivilMoment(text) == nil, "\(text)")
        }
    }
}
