// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteConfig

/// Rules that can be read, but never meant.
@Suite("Nonsense in rules")
struct NonsenseTests {
    private static let head = """
        sources:
          site: {kind: page, url: "https://s/"}
          news: {kind: news, url: "https://n/"}
          box: {kind: codes, url: "https://b/"}
          any: {kind: json, url: "https://a/"}
        sinks: {desk: {kind: desktop}}
        rules:
        - {name: all, when: {appears: true}, notify: desk}

        """

    /// The diagnostics of one more rule, without file, line and column.
    private func problems(_ rule: String) -> [String] {
        load(Self.head + rule).problems.map { diagnostic in
            #expect(diagnostic.line > 8, "\(diagnostic)")
            return (diagnostic.severity == .warning ? "warning: " : "") + diagnostic.message
        }
    }

    private func when(_ text: String) -> [String] { problems("- {name: r, when: {\(text)}, notify: desk}") }

    @Test("good rules about each source are accepted")
    func good() {
        for text in [
            "source: site, field: state, from: up, to: down", "source: box, field: state, to: [Ready, RM01901]",
            "source: any, field: state, to: whatever", "source: news, appears: true, item: {author: ann}",
            "source: [site, any], field: state, to: other", "source: site, field: latency, to: {above: 5}",
            "source: site, field: state, to: {glob: 'd*'}", "source_state: [failing, offline]",
            "source: box, changes: [state], item: {state: {glob: 'RM*'}}", "field: state, from: [a, b], to: [b, a]",
            "source: any, all: [{item: {tags: a}}, {item: {tags: b}}], appears: true",
            "any: [{source: site, disappears: true}, {source: news, appears: true}]",
        ] { #expect(when(text) == [], "\(text)") }
    }

    @Test("a state that the kind never has is an error with a suggestion, wherever it stands")
    func states() {
        let donw = "'site' never has the state 'donw'; did you mean 'down'?"
        #expect(when("source: site, field: state, to: donw") == [donw])
        #expect(when("source: site, field: state, from: [up, donw]") == [donw])
        #expect(when("source: site, appears: true, item: {state: donw}") == [donw])
        #expect(when("all: [{source: site, appears: true}, {source: site, not: {item: {state: donw}}}]") == [donw])
        #expect(problems("- {name: r, when: {source: site, stays: donw}, for: 1m, notify: desk}") == [donw])
        #expect(
            problems(
                "- {name: r, when: {source: site, field: state, to: down}, notify: desk, remind: {every: 1h, until: donw}}"
            )
                == [donw])
        #expect(
            when("source: box, field: state, to: Running")
                == ["'box' never has the state 'Running'; its states are Ready, Starting"])
        #expect(
            when("source: site, field: state, to: {glob: 'x*'}") == [
                "no state of 'site' matches 'x*'; they are down, up"
            ])
    }

    @Test("items without a state, fields that are never compared, and notes are told from fields that change")
    func fields() {
        let stateless =
            "the items of 'news' have no state; name another field, or give the source a 'state' where its kind has that option"
        #expect(when("source: news, field: state, to: up") == [stateless])
        #expect(when("source: news, appears: true, item: {state: up}") == [stateless])
        #expect(
            when("source: any, field: url")
                == ["'url' is never compared, so that no change of it is seen; match it with 'item' instead"])
        let note = "'reason' is a note of 'site': it is stored and shown, but never compared"
        #expect(
            when("source: site, field: reason, from: x, to: y")
                == [note + ", so that this never matches; match it with 'item' instead"])
        #expect(
            when("source: site, changes: [state, reason]")
                == ["warning: \(note), so that only new items match; write 'appears: true' with 'item' to say so"])
    }

    @Test("a count that none crosses, and a `not` that leaves no state, never match")
    func bounds() {
        func count(_ bound: String) -> [String] { when("source: site, how_many: {state: up, \(bound)}") }
        #expect(count("below: 0") == ["no number of items is below 0, so that this never matches; write 1 or more"])
        #expect(count("above: -1") == ["each number of items is above -1, so that none crosses it; write 0 or more"])
        #expect(count("below: 1").isEmpty && count("above: 0").isEmpty)
        let none = "'not' excludes every state of 'site', so that nothing matches; they are down, up"
        #expect(when("source: site, field: state, to: {not: [up, down]}") == [none])
        #expect(when("source: site, appears: true, item: {state: {not: {glob: '*'}}}") == [none])
        #expect(when("source: site, field: state, to: {not: up}").isEmpty)
        #expect(when("source: box, field: state, to: {not: [Ready, Starting]}").isEmpty, "it has others")
        #expect(
            when("source: site, field: state, to: {not: donw}") == [
                "'site' never has the state 'donw'; did you mean 'down'?"
            ])
    }

    @Test("reminders that end with the match's own value, and a rule that is quiet whenever it may tell, send nothing")
    func silent() {
        func said(_ keys: String) -> [String] {
            problems(
                "- {name: r, when: {source: site, field: state, to: down}, notify: desk, \(keys)}\n"
                    + "windows: {night: {daily: '22:00-07:00'}, day: {daily: '07:00-22:00'}}")
        }
        let reminders =
            "warning: 'until' has every value of the match, so that no reminder is sent; name values that end the reminders of a match which goes on, or remove it: the end of the match ends them anyway"
        #expect(said("remind: {every: 1h, until: down}") == [reminders])
        #expect(said("remind: {every: 1h, until: [up, down]}") == [reminders])
        #expect(said("remind: {every: 1h, until: up}").isEmpty)
        let quiet =
            "warning: 'quiet' has every window in which the rule tells anything ('during'), so that no match is ever told; remove one of the two, or name another window"
        #expect(said("during: [night], quiet: {during: night, then: drop}") == [quiet])
        #expect(said("during: [night], quiet: {during: [day, night]}") == [quiet])
        #expect(said("during: [night, day], quiet: {during: night}").isEmpty)
    }

    @Test("a source that a test's `given` names wrongly is unknown, and one without a name lacks it")
    func given() {
        func said(_ given: String) -> [String] {
            problems(
                "- {name: r, when: {source: box, disappears: true}, notify: desk, tests: [{disappears: {state: Ready}, given: [{\(given)}], expect: desk}]}"
            )
        }
        #expect(said("source: site, state: up").isEmpty)
        #expect(said("source: sites, state: up") == ["unknown source 'sites'; did you mean 'site'?"])
        #expect(said("state: up") == ["an item of 'given' needs the name of its source, as 'source: home'"])
    }

    @Test("`disappears` on a window whose document may be complete is doubted")
    func complete() {
        let problems = load(
            """
            sources: {blog: {kind: feed, url: "https://f/"}}
            sinks: {desk: {kind: desktop}}
            rules: [{name: r, when: {source: blog, disappears: true}, notify: desk}]
            """
        ).problems
        #expect(problems.map(\.severity) == [.warning])
        #expect(
            problems.map(\.message) == [
                "'blog' shows only the newest items, so that 'disappears' matches only where a document of it declares itself complete (fh:complete in a feed)"
            ])
    }

    @Test("`disappears` on a window, and `from` equal to `to`, never match")
    func never() {
        #expect(
            when("source: news, disappears: true") == [
                "'news' shows only the newest items, so that an absent one is not gone and 'disappears' never matches; remove the rule, or read the source with 'mode: list' where its kind has that"
            ])
        #expect(
            when("source: site, field: state, from: up, to: up")
                == ["'from' and 'to' are both 'up', which is no change; write another value, or 'stays'"])
        #expect(when("source: site, field: state, from: [up], to: up").count == 1)
    }

    @Test("a text that looks like a comparison or a pattern is doubted, with what to write")
    func patterns() {
        func doubt(_ text: String, _ meant: String) -> String {
            "warning: '\(text)' is compared as a plain text; write \(meant) if that is meant"
        }
        for (text, meant) in [
            ("<15", "{below: 15}"), ("> -1.5", "{above: -1.5}"), ("<=3", "{not: {above: 3}}"), ("!= a", "{not: a}"),
            ("*urgent*", "{glob: '*urgent*'}"), ("/^a/", "{regex: '^a'}"),
        ] {
            #expect(when("source: any, field: price, to: '\(text)'") == [doubt(text, meant)])
            #expect(when("source: any, appears: true, item: {title: [a, '\(text)']}") == [doubt(text, meant)])
        }
        for text in ["<", "<b>", "*", "/", "a*b", "/mnt/a/", "15", "!"] {
            #expect(when("source: any, field: price, to: '\(text)'") == [], "\(text)")
        }
        #expect(when("source: any, field: price, to: {glob: '*x*'}") == [])
    }

    @Test("the states of the watcher and of sinks have no source")
    func watcher() {
        #expect(
            when("source: site, source_state: [failing, offline]")
                == ["'offline' is a state of the watcher, not of a source; write it in a rule without 'source'"])
        #expect(
            when("source: site, sink_state: paused")
                == ["'sink_state' is about a sink, not about a source; remove 'source'"])
    }

    @Test("of a measure only bounds are compared, wherever it stands")
    func measures() {
        let bounds =
            "'latency' is a measure of 'site': it is other at each poll, and only bounds are compared; write 'field: latency' with a bound, as 'to: {above: 5}'"
        for text in [
            "source: site, changes: [latency]", "source: site, field: latency", "source: site, field: latency, by: 5%",
            "source: site, field: latency, by: 5%, to: {above: 5}", "source: site, field: latency, to: 42",
            "source: site, field: latency, older: 1h", "source: site, how_many: {field: latency, is: 42, below: 3}",
        ] { #expect(when(text) == [bounds], "\(text)") }
        for text in [
            "source: site, field: latency, to: {below: 5}", "source: site, field: latency, from: {not: {above: 5}}",
            "source: [site, any], field: latency, by: 5%", "source: site, item: {latency: 42}, field: state",
            "source: site, how_many: {field: latency, is: {above: 5}, below: 3}",
        ] { #expect(when(text) == [], "\(text)") }
        let rule = "- {name: r, when: {source: any, appears: true}, notify: desk, "
        #expect(problems(rule + "if: {source: site, field: latency, is: 42}}") == [bounds])
        #expect(problems(rule + "unless: [{source: site, field: latency, is: {not: {above: 5}}}]}") == [])
    }

    @Test("what `if`, `unless` and `how_many` ask for must be a field and a state that the source can have")
    func asked() {
        let donw = "'site' never has the state 'donw'; did you mean 'down'?"
        let rule = "- {name: r, when: {source: any, appears: true}, notify: desk, "
        #expect(problems(rule + "if: {source: site, is: donw}}") == [donw])
        #expect(
            problems(rule + "unless: [{source: site, item: {state: donw}, field: latency, is: {above: 5}}]}") == [donw])
        #expect(when("source: site, how_many: {state: donw, below: 3}") == [donw])
        #expect(
            problems(rule + "if: {source: site, field: latancy, is: {above: 5}}}")
                == ["unknown field 'latancy'; did you mean 'latency'?"])
        #expect(
            problems(rule + "if: {source: site, item: {reson: x}, is: up}}")
                == ["unknown field 'reson'; did you mean 'reason'?"])
        #expect(
            when("source: site, item: {reson: x}, how_many: {state: up, below: 3}")
                == ["unknown field 'reson'; did you mean 'reason'?"])
        #expect(
            problems(rule + "if: {source: news, is: up}}") == [
                "the items of 'news' have no state; name another field, or give the source a 'state' where its kind has that option"
            ])
    }

    @Test("`how_many` stands alone, and `older` not under `any` or `not`, since neither is about one event")
    func alone() {
        let directly = "'how_many' is about no single event; write it directly under 'when' of its own rule"
        #expect(when("any: [{source: site, how_many: {state: up, below: 3}}, {appears: true}]") == [directly])
        #expect(when("appears: true, not: {source: site, how_many: {state: up, below: 3}}") == [directly])
        #expect(
            when("source: site, how_many: {state: up, below: 3}, any: [{appears: true}]") == [
                "'any' is about one event, but 'how_many' is not; select its items with 'item'"
            ])
        #expect(
            when("any: [{source: any, field: t, older: 1h}, {appears: true}]")
                == ["'older' under 'any' has no time of its own; write a rule for it"])
        #expect(
            when("appears: true, not: {source: any, field: t, older: 1h}")
                == ["'older' under 'not' has no meaning; use 'item' under 'not'"])
    }

    @Test("contradictory conditions are errors")
    func contradictions() {
        func never(_ text: String, _ reason: String) {
            #expect(when(text) == ["'when' can never match: \(reason)"], "\(text)")
        }
        never(
            "source: site, item: {state: up}, field: state, to: down", "'state' never is 'up' and 'down' at once")
        never(
            "all: [{appears: true}, {disappears: true}]",
            "no event is of a new item and of an item that is gone at once; use 'any' for either")
        never(
            "source_state: failing, item: {key: x}",
            "no event is about an item and about a source, a sink or the watcher at once; use 'any' for either")
        let two = "ask for the other one with 'if' beside 'when'"
        never(
            "all: [{source: site, changes: [state]}, {source: box, changes: [state]}]",
            "an event is of one source; \(two)")
        for name in ["key", "title", "name"] {
            never(
                "all: [{item: {\(name): door}, field: state, to: open}, {item: {\(name): me}, changes: [state]}]",
                "'\(name)' never is 'door' and 'me' at once; an event is about one item, so \(two)")
        }
        never(
            "source: any, item: {state: {glob: 'a*'}}, field: state, to: [b, c]",
            "'state' never is 'b' or 'c' and glob 'a*' at once")
        never(
            "any: [{source: any, item: {key: x}, all: [{item: {key: y}, appears: true}]}]",
            "'key' never is 'x' and 'y' at once; an event is about one item, so \(two)")
    }

    @Test("a rule that depends on its own source is an error, on another one not")
    func depends() {
        #expect(
            problems("- {name: r, when: {source: site, disappears: true}, depends: [box, site], notify: desk}") == [
                "the rule is about 'site' itself, so 'depends' on it has no effect; remove it, or name the source in front of it"
            ])
        #expect(
            problems("- {name: r, when: {source: [site, box], disappears: true}, depends: site, notify: desk}") == [])
    }

    @Test("a rule behind a `stop` that matches the same events is a warning")
    func shadowed() {
        func shadow(_ stop: String, _ rule: String) -> Bool {
            let problems = problems(
                "- {name: s, when: {\(stop)}, stop: true, notify: desk}\n- {name: r, when: {\(rule)}, notify: desk}")
            if problems.isEmpty { return false }
            #expect(
                problems == [
                    "warning: the rule 'r' never matches: 's' before it matches the same events and stops; move it before that rule, or remove one"
                ])
            return true
        }
        #expect(shadow("source: [site, box], field: state", "source: site, field: state, to: down"))
        #expect(shadow("changes: [state, owner]", "source: any, field: state, from: a, item: {key: x}"))
        #expect(shadow("item: {name: {glob: 'p*'}}, field: state", "item: {name: [p1, p2]}, field: state, to: x"))
        #expect(shadow("any: [{appears: true}, {disappears: true}]", "source: any, disappears: true"))
        #expect(!shadow("source: site, field: state", "source: [site, box], field: state"))
        #expect(!shadow("source: any, field: n, to: {above: 5}", "source: any, field: n, to: {above: 9}"))
        #expect(!shadow("source: any, field: state, to: x", "source: any, field: state"))
        #expect(!shadow("source: any, item: {key: x}, appears: true", "source: any, appears: true"))
    }

    @Test("unused sources, sinks and windows are warnings; a fallback and a source without rules are used")
    func unused() {
        let text = """
            sources: {a: {kind: page, url: "https://a/"}, b: {kind: page, url: "https://b/"}}
            sinks: {x: {kind: desktop, else: y}, y: {kind: desktop}, z: {kind: desktop}, w: {kind: desktop}}
            windows: {night: {daily: "22:00-07:00"}, lunch: {daily: "12:00-13:00"}}

            """
        #expect(load(text).diagnostics.isEmpty)
        let rule = """
            rules:
            - name: r
              when: {source: a, field: state, to: down}
              quiet: {during: night}
              escalate: [{after: 1h, notify: w}]
              notify: x
            """
        #expect(
            load(text + rule).diagnostics.map(\.description) == [
                "a.yaml:1:47: warning: the source 'b' is unused: no rule is about it; its events reach only 'tail'; remove it, or use it in a rule",
                "a.yaml:2:58: warning: the sink 'z' is unused: no rule notifies it, and no sink has it under 'else'; remove it, or use it in a rule",
                "a.yaml:3:42: warning: the window 'lunch' is unused: no rule and no source names it; remove it, or use it in a rule",
            ])
        let wrong = load(text + rule.replacing("notify: x", with: "notify: xx"))
        #expect(!wrong.problems.isEmpty && wrong.problems.count == wrong.diagnostics.count, "\(wrong.diagnostics)")
    }

    @Test("`while` waits for states that the kind has")
    func pace() {
        let text = """
            sources:
              n: {kind: news, url: "https://n/", while: {state: up, every: 1s}}
              s: {kind: page, url: "https://s/", while: {state: donw, every: 1s}}
              t: {kind: page, url: "https://s/", while: {state: down, every: 1s}}
            """
        #expect(
            load(text).diagnostics.map(\.description) == [
                "a.yaml:2:53: the items of 'n' have no state, so that 'while' has no effect; give the source a 'state' where its kind has that option",
                "a.yaml:3:53: 's' never has the state 'donw'; did you mean 'down'?",
            ])
    }

    @Test("every failing test of every rule is reported as a warning, and earlier rules with `stop` count")
    func ruleTests() {
        let loaded = load(
            Self.head + """
                - name: stop
                  when: {source: site, field: state, to: down, item: {key: test}}
                  stop: true
                  tests: [{change: {state: [up, down]}, expect: desk}]
                - name: late
                  when: {source: site, field: state}
                  notify: desk
                  tests:
                    - {change: {state: [up, down]}, expect: desk}
                    - {change: {state: [down, up]}, expect: desk}
                    - {change: {state: [down, up]}, expect: nothing}
                """)
        #expect(loaded.configuration?.rules.count == 3)
        #expect(
            loaded.diagnostics.map(\.description) == [
                "a.yaml:12:11: warning: rule 'stop': expected desk, but it was nothing",
                "a.yaml:17:7: warning: rule 'late': expected desk, but it was nothing: the rule 'stop' before it matches and stops",
                "a.yaml:19:7: warning: rule 'late': expected nothing, but it was desk",
            ])
        let areTests = loaded.diagnostics.allSatisfy { $0.isFailedTest }
        #expect(areTests)
    }
}
