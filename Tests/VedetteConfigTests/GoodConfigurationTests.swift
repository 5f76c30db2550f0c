// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

let example = """
    servers:
      lab:
        url: https://wca.example.com
        user: lamato
        password: {env: LAB}
        tls: {pin: "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}
        headers: {Accept-Language: en, X-Token: {env: TOKEN}}
        user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"

    sources:
      lab-systems: {kind: cloudburst, server: lab, every: 15s, while: {state: [Starting], every: 3s}}
      news: {kind: feed, url: "https://example.com/feed.xml"}
      ci-runs:
        {kind: json, url: "https://ci.example.com/api/runs", items: workflow_runs, key: id,
         fields: {branch: head_branch, actor: actor.login}}

    sinks:
      desktop: {kind: desktop}
      team:    {kind: slack, url: {env: SLACK}}
      hook:    {kind: webhook, url: https://ops.example.com/in}

    settings:
      retain: {events: 30d, size: 1GB}

    rules:
      - name: system-ready
        when: {source: lab-systems, item: {name: {glob: "prod-*"}}, field: state, from: [Starting, Started], to: Ready for use}
        notify:
          - desktop
          - team: {text: "{{item.name}} is ready after {{change.lasted}}"}
      - name: new-entry
        when: {source: [news, "ci-*"], appears: true}
        priority: low
        stop: true
        notify: hook
      - name: ill
        when: {source_state: [failing, recovered]}
        notify: [desktop]

    """

let exampleEnvironment = ["LAB": "s3cret-lab", "TOKEN": "s3cret-token", "SLACK": "https://hooks/s3cret-slack"]

/// What a rule says to an event.
func answer(_ rule: Rule?, _ event: Event) -> String? {
    guard let rule else { return "no rule" }
    do { return try rule.when.mismatch(with: event) } catch { return error.detail }
}

func change(_ name: String, _ from: Value, _ to: Value, source: String = "lab-systems") -> Event {
    Event(
        id: Identifier("e"), kind: .changed, time: Timestamp(milliseconds: 0), source: source, sourceKind: "cloudburst",
        poll: "p", item: Item(key: "1", title: name, state: to.description),
        changes: [FieldChange(field: "state", from: from, to: to, lasted: 252.4)])
}

struct GoodConfigurationTests {
    let loaded = load(example, environment: exampleEnvironment)

    @Test("the example of the design, without its time keys, is read whole")
    func whole() throws {
        #expect(loaded.problems.map(\.description) == [])
        let configuration = try #require(loaded.configuration)
        #expect(configuration.files == ["a.yaml"])
        #expect(configuration.sources.map(\.name) == ["lab-systems", "news", "ci-runs"])
        #expect(
            configuration.sinks.map { "\($0.name) \($0.kindName)" } == [
                "desktop desktop", "team slack", "hook webhook",
            ])
        #expect(configuration.rules.map(\.name) == ["system-ready", "new-entry", "ill"])
        #expect(configuration.settings.keepEvents == .seconds(30 * 86_400))
        #expect(configuration.settings.keepBytes == 1_000_000_000)
    }

    @Test("a source has its server's settings and its own interval")
    func source() throws {
        let source = try #require(loaded.configuration?.sources.first)
        #expect(source.url == "https://wca.example.com")
        #expect(source.server.name == "lab")
        #expect(source.server.credentials?.user == "lamato")
        #expect(source.server.credentials?.password.value == "s3cret-lab")
        #expect(source.server.tls.pin == "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        #expect(source.server.headers.map(\.name) == ["Accept-Language", "X-Token"])
        #expect(source.server.headers.map(\.isSecret) == [false, true])
        #expect(
            source.interval == PollInterval(every: .seconds(15), whileStates: ["Starting"], whileEvery: .seconds(3)))
        let news = try #require(loaded.configuration?.sources[1])
        #expect(news.interval == PollInterval(every: .seconds(1800), isExplicit: false))
        #expect(news.server.credentials == nil && news.server.name.isEmpty)
    }

    @Test("every form of `when` matches its events")
    func rules() throws {
        let rules = try #require(loaded.configuration?.rules)
        #expect(answer(rules[0], change("prod-1", "Starting", "Ready for use")) == nil)
        #expect(answer(rules[0], change("test-1", "Starting", "Ready for use")) != nil)
        #expect(answer(rules[0], change("prod-1", "Stopped", "Ready for use")) != nil)
        #expect(answer(rules[0], change("prod-1", "Starting", "Ready for use", source: "news")) != nil)
        #expect(rules[0].notify.map(\.sink) == ["desktop", "team"])
        let context = change("prod-1", "Starting", "Ready for use").templateContext(rule: "r", field: "state")
        #expect(rules[0].notify[1].text?.render(context) == "prod-1 is ready after 4 min 12 s")
        #expect(rules[1].stop && rules[1].priority == .low)
    }

    @Test("without `retain` events are kept for 30 days within 1 GB, and each of its keys replaces one of these")
    func retain() throws {
        func settings(_ text: String) throws -> Settings {
            try #require(load("sources: {s: {kind: json, url: 'https://h'}}\n" + text).configuration).settings
        }
        let (none, size) = (try settings(""), try settings("settings: {retain: {size: 2GB}}"))
        #expect(none.keepEvents == .seconds(30 * 86_400) && none.keepBytes == 1_000_000_000)
        #expect(size.keepEvents == .seconds(30 * 86_400) && size.keepBytes == 2_000_000_000)
        let events = try settings("settings: {retain: {events: 7d}}")
        #expect(events.keepEvents == .seconds(7 * 86_400) && events.keepBytes == 1_000_000_000)
    }

    @Test(
        "what watchers of one journal must agree on is all of sources, sinks, rules and windows but secrets and tests")
    func sharedDigest() throws {
        let text = """
            servers:
              lab: {url: 'https://lab.example', user: anna, password: {env: LAB}, rate: {count: 1, per: 2s}}
            sources:
              runs: {kind: json, server: lab, path: /runs, every: 60s}
              news: {kind: json, url: 'https://news.example'}
            sinks:
              hook: {kind: webhook, url: 'https://chat.example/hook'}
              desk: {kind: desktop}
            windows: {night: {daily: "22:00-07:00"}}
            rules:
            - {name: up, when: {field: state, to: up}, quiet: {during: night}, notify: hook}
            - {name: down, when: {field: state, to: down}, notify: [hook: {title: "{{item.title}}"}], priority: high}
            settings: {watcher: one}
            """
        func digest(_ text: String) throws -> UInt64 {
            let loaded = load(text, isPrivate: true, environment: ["LAB": "x", "OTHER": "y"])
            return try #require(loaded.configuration, "\(loaded.diagnostics)").sharedDigest
        }
        func digest(replacing old: String, _ new: String) throws -> UInt64 {
            try #require(text.contains(old))
            return try digest(text.replacing(old, with: new))
        }
        let usual = try digest(text)
        for (old, new) in [
            ("notify: hook}", "notify: desk}"), ("priority: high", "priority: low"), ("22:00", "23:00"),
            ("{{item.title}}", "{{item.title}}!"), ("every: 60s", "every: 60s, fails: 1"), ("count: 1", "count: 2"),
            ("path: /runs", "path: /runs, headers: {Accept-Language: de}"), ("example/hook", "example/other"),
            ("kind: desktop", "kind: desktop, concurrency: 1"),
        ] {
            #expect(try digest(replacing: old, new) != usual, "\(new)")
        }
        for (old, new) in [
            ("{env: LAB}", "{env: OTHER}"), ("{env: LAB}", "secret"), ("user: anna", "user: bob"),
            ("watcher: one", "watcher: two"), ("per: 2s}", "per: 2s}, tls: {insecure: true}"),
            ("kind: json, server: lab, path: /runs", "path: /runs, kind: json, server: lab"),
            ("priority: high", "priority: high, tests: [{change: {state: [up, down]}, expect: hook}]"),
            ("settings:", "# a comment\nsettings:"),
        ] {
            #expect(try digest(replacing: old, new) == usual, "\(new)")
        }
        let rules = text.split(separator: "\n").filter { $0.hasPrefix("- ") }
        let swapped = text.replacing(rules[0], with: "x").replacing(rules[1], with: rules[0])
            .replacing("\nx\n", with: "\n\(rules[1])\n")
        #expect(try digest(swapped) != usual, "rules are evaluated in their order")
    }

    @Test("another place of the journal and another name of the watcher are found as changes that need a restart")
    func restart() throws {
        func settings(_ text: String) throws -> Settings {
            let text = "sources: {s: {kind: json, url: 'https://h'}}\nsettings: {\(text)}"
            return try #require(load(text, environment: ["DB": "x"]).configuration).settings
        }
        let start = try settings("watcher: a, journal: {postgres: host=db dbname=v}")
        func keys(_ text: String) throws -> [String] { try settings(text).keysForRestart(since: start) }
        #expect(try keys("watcher: a, journal: {postgres: host=db dbname=v}, give_up: 10h") == [])
        #expect(try keys("watcher: b, journal: {postgres: host=db dbname=v}") == ["watcher"])
        #expect(try keys("watcher: a, journal: {postgres: host=db dbname=w}") == ["journal"])
        #expect(try keys("watcher: a, journal: {postgres: host=db dbname=v, password: {env: DB}}") == ["journal"])
        #expect(try keys("give_up: 10h") == ["journal", "watcher"])
    }

    @Test("sections may be spread over files, and names are resolved over all of them")
    func files() throws {
        let loaded = load(
            "rules:\n- {name: r, when: {source: s, appears: true}, notify: [d]}", "sinks:\n  d: {kind: desktop}",
            "sources:\n  s: {kind: json, server: h, path: api/runs}",
            "servers:\n  h: {url: 'https://h.example/v1'}\nsinks:\n", "# nothing yet\n")
        #expect(loaded.problems.map(\.description) == [])
        #expect(loaded.configuration?.sources.first?.url == "https://h.example/v1/api/runs")
    }

    @Test(
        "a path starts at the root or below the server's URL",
        arguments: [
            ("https://h/v1", "/x", "https://h/x"), ("https://h/v1", "x", "https://h/v1/x"),
            ("https://h/v1/", "x?y=1", "https://h/v1/x?y=1"), ("https://h", "x", "https://h/x"),
        ])
    func paths(base: String, path: String, expected: String) {
        let loaded = load("servers: {h: {url: '\(base)'}}\nsources: {s: {kind: json, server: h, path: '\(path)'}}")
        #expect(loaded.configuration?.sources.first?.url == expected)
    }

    @Test("scalars are read as they are written, whatever their YAML type")
    func scalars() throws {
        let loaded = load(
            """
            sources: {s: {kind: json, url: 'https://h/'}}
            sinks: {d: {kind: desktop}}
            rules: [{name: r, when: {field: state, to: [on, no, 1.0, 0o17, ~, 2026-11-21, null, 1_000, "a\\tb"]}, notify: d}]
            """)
        let rule = try #require(loaded.configuration?.rules.first)
        for text in ["on", "no", "1.0", "0o17", "~", "2026-11-21", "null", "1_000", "a\tb"] {
            #expect(answer(rule, change("x", "a", .text(text))) == nil)
        }
        for text in ["true", "false", "1", "15", ""] { #expect(answer(rule, change("x", "a", .text(text))) != nil) }
    }

    @Test("anchors and merges work, and a map's own keys win")
    func merges() throws {
        let loaded = load(
            """
            sources:
              a: &base {kind: json, url: 'https://h/a', every: 5m, fails: 7}
              b: {<<: *base, url: 'https://h/b'}
              c: {url: 'https://h/c', <<: [{every: 9s}, *base]}
            """)
        #expect(loaded.problems.map(\.description) == [])
        let sources = try #require(loaded.configuration?.sources)
        #expect(sources.map(\.url) == ["https://h/a", "https://h/b", "https://h/c"])
        #expect(sources.map(\.interval.every) == [.seconds(300), .seconds(300), .seconds(9)])
        #expect(sources.map(\.fails) == [7, 7, 7])
    }

    @Test("an option of a kind replaces the key of every source with its name, and is no request header")
    func optionNamedAsKey() throws {
        let kind = SourceKindEntry(
            name: "own", summary: "Compares headers.",
            options: [OptionSpec("headers", .map(.text), "Those it compares.")],
            make: { options throws(OptionProblem) in StandInKind(fieldNames: options.map("headers").map(\.name)) })
        let file = ConfigurationFile(
            path: "a.yaml", text: "sources: {s: {kind: own, url: 'https://h/', headers: {version: X-Version}}}",
            isPrivate: false)
        let loaded = ConfigurationLoader(sourceKinds: [kind], sinkKinds: [], environment: [:]).load([file])
        let source = try #require(loaded.configuration?.sources.first)
        #expect(source.kind.fieldNames == ["version"])
        #expect(source.server.headers.isEmpty)
    }

    @Test("conditions nest, and several matchers of one field must all hold")
    func nested() throws {
        let loaded = load(
            """
            sources: {lab-systems: {kind: json, url: 'https://h/'}}
            sinks: {d: {kind: desktop}}
            rules:
            - name: r
              when:
                any: [{field: state, to: Failed}, {field: state, to: {regex: '^Re.dy'}}]
                not: {item: {title: {contains: test}}}
                item: {state: {glob: "R*"}, title: {glob: "p*", contains: "-"}}
              notify: [d]
            """)
        #expect(loaded.problems.map(\.description) == [])
        let rule = loaded.configuration?.rules.first
        #expect(answer(rule, change("p-1", "a", "Ready")) == nil)
        #expect(answer(rule, change("p-test", "a", "Ready")) != nil)
        #expect(answer(rule, change("p1", "a", "Ready")) != nil)
        #expect(answer(rule, change("p-1", "a", "Failed")) != nil)
    }

    @Test("reading the same files again gives the same, so a reload changes nothing")
    func repeatable() throws {
        let again = load(example, environment: exampleEnvironment)
        #expect(again.configuration?.sinks.map(\.fingerprint) == loaded.configuration?.sinks.map(\.fingerprint))
        #expect(again.configuration?.sources.map(\.identity) == loaded.configuration?.sources.map(\.identity))
        let changed = load(
            example.replacing("ops.example.com/in", with: "ops.example.com/out"), environment: exampleEnvironment)
        let pairs = zip(changed.configuration?.sinks ?? [], loaded.configuration?.sinks ?? [])
        #expect(pairs.filter { $0.fingerprint != $1.fingerprint }.map(\.0.name) == ["hook"])
    }

    @Test(
        "a reload knows every change of a sink: in its words, its structure and its quotes",
        arguments: [("[a, b]", "{a: b}"), ("1", "'1'"), ("[[a], b]", "[[a, b]]")])
    func fingerprints(one: String, other: String) throws {
        let prints = [one, other].map { body in
            load("sinks: {h: {kind: webhook, url: 'https://h/', body: \(body)}}").configuration?.sinks.first?
                .fingerprint
        }
        #expect(prints[0] != prints[1])
    }

    @Test("a sink knows where people open the page, and a reload knows another place")
    func publicURL() throws {
        let sinks = "sinks: {h: {kind: webhook, url: 'https://h/'}}"
        let read = load("settings: {public_url: 'https://v.example.com/page/'}\n" + sinks)
        #expect(read.configuration?.settings.publicURL == "https://v.example.com/page")
        let other = load(sinks).configuration?.sinks.first?.fingerprint
        #expect(read.configuration?.sinks.first?.fingerprint != other)
    }

    @Test("the delivery policy of a sink is read with its defaults, and give_up comes from the settings")
    func policy() throws {
        let loaded = load(
            """
            settings: {give_up: 10h}
            sinks:
              a: {kind: desktop, concurrency: 2, rate: {count: 20, per: 1m}, parallel: true, give_up: 2h,
                  queue: {count: 10, size: 1MB, full: drop_newest}, else: [b], else_after: 90s}
              b: {kind: desktop}
            """)
        let sinks = try #require(loaded.configuration?.sinks)
        var policy = DeliveryPolicy()
        policy.isTextSink = true
        (policy.concurrency, policy.interval, policy.isParallel) = (2, .seconds(3), true)
        (policy.giveUp, policy.fallbacks, policy.elseAfter) = (.seconds(7200), ["b"], .seconds(90))
        (policy.queue.count, policy.queue.bytes, policy.queue.policy) = (10, 1_000_000, .dropNewest)
        #expect(sinks.map(\.policy.fallbacks) == [["b"], []])
        #expect(sinks.first?.policy == policy)
        var usual = DeliveryPolicy()
        (usual.giveUp, usual.isTextSink) = (.seconds(36_000), true)
        #expect(sinks.last?.policy == usual)
    }

    @Test(
        "what cannot take effect is a warning: a short give_up, an else_after behind it, a 'while' at the same interval"
    )
    func withoutEffect() {
        let short =
            "'give_up' has no effect: a message is tried 10 times before it is dead, which takes 21 min on average; write a longer time, or 'else' and 'else_after' for another sink"
        let sinks = "sinks: {a: {kind: desktop%}, b: {kind: desktop}}"
        func warnings(_ text: String) -> [String] {
            load(text).diagnostics.map(\.message).filter { !$0.contains("no rule") }
        }
        #expect(warnings("settings: {give_up: 5m}") == [short])
        #expect(warnings(sinks.replacing("%", with: ", give_up: 3m")) == [short])
        #expect(warnings(sinks.replacing("%", with: ", give_up: 22m")) == [])
        #expect(warnings(sinks.replacing("%", with: ", give_up: 3m, else: b, else_after: 2m")) == [])
        #expect(
            warnings(sinks.replacing("%", with: ", give_up: 3m, else: b, else_after: 10m")) == [
                "'else_after' is longer than 'give_up' (3 min), after which the sinks of 'else' get the messages anyway; write a shorter one"
            ])
        let source = "sources: {s: {kind: json, url: 'https://h/', every: 30s, while: {state: busy, every: %}}}"
        #expect(warnings(source.replacing("%", with: "5s")) == [])
        #expect(
            warnings(source.replacing("%", with: "30s")) == [
                "'while' polls as often as the source is polled anyway, so that it has no effect; write another 'every'"
            ])
    }

    @Test("a heartbeat has an address that is a secret, and a GET every five minutes unless another is written")
    func heartbeat() throws {
        let environment = ["PING": "https://ping.example/id", "TOKEN": "t0ken"]
        func heartbeat(_ text: String) -> HeartbeatSettings? {
            load("settings: {heartbeat: \(text)}", environment: environment).configuration?.heartbeat
        }
        let usual = try #require(heartbeat("{url: {env: PING}}"))
        #expect(usual.url.value == "https://ping.example/id" && usual.token == nil)
        #expect(usual.every == .seconds(300) && usual.method == .get)
        let other = try #require(heartbeat("{url: {env: PING}, every: 30s, method: POST, token: {env: TOKEN}}"))
        #expect(other.every == .seconds(30) && other.method == .post && other.token?.value == "t0ken")
        #expect(heartbeat("{url: {env: TOKEN}}") == nil, "no address")
        #expect(load("settings: {give_up: 10h}").configuration?.heartbeat == nil)
    }

    @Test("the page is off, at an address of this machine, or at any other with a token")
    func listen() throws {
        func listen(_ text: String) -> ListenSettings? {
            load("settings: {listen: \(text)}", environment: ["TOKEN": "0123456789abcdef"]).configuration?.listen
        }
        #expect(load("settings: {give_up: 10h}").configuration?.listen == nil)
        let plain = try #require(listen("'127.0.0.1:8420'"))
        #expect(plain.address == .network(host: "127.0.0.1", port: 8420) && plain.token == nil && plain.hosts == [])
        #expect(listen("{address: 'unix:/run/page.sock'}")?.address == .unix(path: "/run/page.sock"))
        let open = try #require(
            listen("{address: '0.0.0.0:80', token: {env: TOKEN}, hosts: [Watch.example.com]}"))
        #expect(open.token?.value == "0123456789abcdef" && open.hosts == ["watch.example.com"])
        #expect(listen("'0.0.0.0:80'") == nil, "no token")
        func problems(ofToken token: String) -> [String] {
            load(
                "settings: {listen: {address: '0.0.0.0:80', token: {env: TOKEN}}}", environment: ["TOKEN": token]
            ).problems.map(\.message)
        }
        #expect(problems(ofToken: "0123456789abcdef").isEmpty)
        #expect(
            problems(ofToken: "0123456789abcde") == [
                "'token' needs at least 16 characters; `openssl rand -hex 16` makes one"
            ])
        for token in ["0123456789abcdef ", " 0123456789abcdef", String(repeating: " ", count: 16)] {
            #expect(problems(ofToken: token) == ["'token' must not begin or end with a space"], "\(token)")
        }
    }

    @Test("an address of the page for whose name it answers 421 is a warning, whether links or cut messages lead there")
    func refusedPublicURL() throws {
        func warnings(of url: String, _ listen: String) -> [String] {
            load("settings: {public_url: '\(url)'\(listen)}").problems.map(\.message).filter {
                $0.contains("'public_url'")
            }
        }
        #expect(
            warnings(of: "https://v.example.com:8443/page", ", listen: '127.0.0.1:8420'") == [
                "'public_url' leads to 'v.example.com', a name for which the page answers 421; write listen: {address: …, hosts: [v.example.com]}"
            ])
        #expect(warnings(of: "https://v.example.com", "").isEmpty, "another watcher may offer the page")
        #expect(warnings(of: "https://v.example.com", ", listen: '0.0.0.0:8420'").isEmpty, "the error is enough")
        let listen = ", listen: {address: 'unix:/run/page.sock', hosts: [v.Example.com]}"
        for url in [
            "https://V.example.com:8443/page", "http://192.0.2.7:8420", "http://[2001:db8::7]", "http://localhost",
        ] {
            #expect(warnings(of: url, listen).isEmpty, "\(url)")
        }
    }
}
