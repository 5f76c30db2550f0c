// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteDesktop
import VedettePostgres

@testable import vedette

extension [Finding] {
    var severities: [Finding.Severity] { map(\.severity) }
    /// Texts and remedies.
    var text: String { map { $0.text + ($0.remedy.map { "; " + $0 } ?? "") }.joined(separator: "\n") }
}

@Suite("doctor: findings about facts")
struct DoctorTests {
    let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

    @Test("a finding that is wider than the terminal is broken at spaces, and its remedy begins a line")
    func narrow() {
        let finding = Finding.failure(
            "source absent", "http://127.0.0.1:1 does not answer", remedy: "check host, port, proxy and firewall")
        let lines = [
            "fail  source absent     http://127.0.0.1:1 does not answer;",
            "                        check host, port, proxy and firewall",
        ]
        #expect(finding.lines(.plain, width: 60).map(\.text) == lines)
        let coloured = finding.lines(Palette(isOn: true), width: 60).map(\.text)
        #expect(coloured.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") } == lines)
        #expect(finding.lines(.plain, width: 120).count == 1)
        let long = Finding.failure(
            "source refused-with-a-rather-long-name", "http://127.0.0.1:1 does not accept connections")
        #expect(
            long.lines(.plain, width: 80).map(\.text) == [
                "fail  source refused-with-a-rather-long-name",
                "                                http://127.0.0.1:1 does not accept connections",
            ])
    }

    @Test("a line holds severity, subject, text and remedy, in colour only when asked, and nothing that moves a cursor")
    func line() {
        let finding = Finding.failure("sink desk", "no\u{1B}[2J bus", remedy: "start one")
        #expect(finding.lines(.plain, width: nil).map(\.text) == ["fail  sink desk         no\\x1b[2J bus; start one"])
        #expect(finding.lines(Palette(isOn: true), width: nil)[0].text.hasPrefix("\u{1B}[31mfail\u{1B}[0m  sink desk"))
        #expect(Finding.ok("clock", "good").lines(.plain, width: 80).map(\.text) == ["ok    clock             good"])
        #expect(
            Finding.warning("disk", "full", remedy: "make room").json.text
                == #"{"verdict":"warn","subject":"disk","text":"full","remedy":"make room"}"#)
    }

    @Test("of very many findings the first are listed and the rest counted")
    func bounded() {
        let many = (0..<30).map { Finding.failure("source \($0)", "fails") }
        let listed = many.bounded(to: 10, "sources", remedy: "look")
        #expect(
            listed.count == 11 && listed.last?.text == "and 20 more like these" && listed.last?.severity == .failure)
        #expect(Array(many.prefix(11)).bounded(to: 10, "sources", remedy: "look") == Array(many.prefix(11)))
    }

    @Test("a database that is far, loses commits in a crash, refuses tables or has another time is reported")
    func database() {
        func findings(_ change: (inout PostgresFacts) -> Void) -> [Finding] {
            var facts = PostgresFacts(
                version: "15.18", clockSkew: .milliseconds(-3), latency: .milliseconds(1),
                settings: ["fsync": "on", "full_page_writes": "on"], canCreate: true)
            change(&facts)
            return PostgresCheck(location: "db", facts: facts).findings
        }
        #expect(findings { _ in }.map(\.text) == ["db is PostgreSQL 15.18 and answers in 1 ms"])
        #expect(findings { $0.latency = .milliseconds(80) }.severities == [.warning])
        #expect(findings { $0.settings["fsync"] = "off" }.text.contains("set fsync = on"))
        #expect(findings { $0.canCreate = false }.severities == [.ok, .failure])
        #expect(findings { $0.clockSkew = .seconds(-5) }.text.contains("differ by -5000 ms; synchronize"))
        #expect(findings { $0.settings["autovacuum"] = "off" }.severities == [.ok, .failure])
        #expect(findings { $0.settings["synchronous_commit"] = "local" }.severities == [.ok])
        let standby = findings {
            ($0.settings["synchronous_commit"], $0.settings["synchronous_standby_names"]) = ("local", "db2")
        }
        #expect(standby.severities == [.ok, .warning])
        #expect(
            findings { ($0.closedTables, $0.foreignTables) = (["event"], ["event"]) }.severities == [.ok, .failure])
        #expect(findings { $0.foreignTables = ["event", "item"] }.text.contains("another user owns event, item"))
        #expect(findings { $0.freeConnections = 3 }.text.contains("room for 3 more"))
        func table(live: Int, dead: Int) -> [Finding] {
            findings { $0.tables = [PostgresFacts.Table(name: "event", live: live, dead: dead)] }
        }
        #expect(table(live: 0, dead: 200_000).severities == [.ok])
        #expect(table(live: 1_000_000, dead: 1_000_000).severities == [.ok])
        #expect(table(live: 10, dead: 200_011).text.contains("'event' has 200011 dead rows beside 10"))
    }

    @Test("a clock before this program was written and an unknown zone are reported")
    func clock() {
        func check(_ time: String, _ zone: String? = nil, known: Bool = true) -> Finding? {
            ClockCheck(now: Timestamp(rfc3339: time)!, variable: zone, isZoneKnown: known, zone: "Etc/UTC").findings
                .first
        }
        #expect(check("2026-11-21T10:00:00Z")?.severity == .ok)
        #expect(check("1970-01-01T00:00:10Z")?.severity == .failure)
        #expect(check("2106-02-07T06:28:15Z")?.severity == .failure)
        let wrong = check("2026-11-21T10:00:00Z", "Europe/Berln", known: false)
        #expect(
            wrong?.severity == .warning && wrong?.text.contains("TZ='Europe/Berln' is not in the tz database") == true)
        #expect(check("2026-11-21T10:00:00Z", known: false)?.text.contains("no /etc/localtime") == true)
        #expect(!ClockCheck(["TZ": "Europe/Berln"]).isZoneKnown && ClockCheck(["TZ": ":UTC"]).isZoneKnown)
    }

    private func state(_ change: (inout StateFacts) -> Void) -> [Finding] {
        var facts = StateFacts(path: "/s")
        facts.directory = .init()
        facts.space = .init(bytes: 1 << 30, inodes: 1000)
        change(&facts)
        return StateDirectoryCheck(facts: facts).findings
    }

    private func reports(_ words: String, _ change: (inout StateFacts) -> Void) -> Bool {
        state(change).text.contains(words)
    }

    @Test("the state directory: missing, no directory, another's, open to others, on a full or distant disk")
    func stateDirectory() {
        #expect(state { _ in }.severities == [.ok, .ok])
        #expect(reports("the first run creates it") { $0.directory = nil })
        #expect(state { ($0.directory, $0.isParentWritable) = (nil, false) }.severities == [.failure, .ok])
        #expect(state { $0.directory?.isDirectory = false }.severities.first == .failure)
        #expect(reports("this user may not write (mode 700)") { $0.directory?.isWritable = false })
        let other = state { $0.directory = .init(isWritable: false, owner: 7) }
        #expect(other.text.contains("it belongs to another user") && other.severities.first == .failure)
        #expect(state { $0.directory?.owner = 7 }.severities.first == .warning)
        #expect(reports("chmod 700 /s") { $0.directory?.mode = 0o750 })
        #expect(state { $0.space?.bytes = 1 << 20 }.severities == [.ok, .failure])
        #expect(state { $0.space?.bytes = 100 << 20 }.severities == [.ok, .warning])
        #expect(reports("no inodes") { $0.space?.inodes = 3 })
        #expect(state { $0.space?.network = "nfs4" }.severities == [.ok, .ok, .failure])
    }

    private func watcher(_ change: (inout WatcherFacts) -> Void, bus: String? = nil, others: Bool = true) -> [Finding] {
        var facts = WatcherFacts(pid: 42)
        change(&facts)
        return WatcherCheck(facts: facts, bus: bus, hasOtherSinks: others).findings
    }

    @Test("no watcher; a unit that ends at log-out; a watcher with another bus than this shell's")
    func watcher() {
        #expect(WatcherCheck(facts: nil, bus: nil, hasOtherSinks: true).findings.severities == [.warning])
        #expect(watcher { $0.unit = "vedette.service" }.text == "process 42 of vedette.service is watching")
        func ends(_ facts: inout WatcherFacts) {
            (facts.unit, facts.isUserUnit, facts.lingers) = ("v.service", true, false)
        }
        #expect(watcher(ends).text.contains("loginctl enable-linger"))
        #expect(watcher(ends, others: false).severities == [.ok], "notifications end with the session anyway")
        func started(_ bus: String?) -> (inout WatcherFacts) -> Void {
            { ($0.hasReadableEnvironment, $0.bus) = (true, bus) }
        }
        #expect(watcher(started("unix:path=/a,guid=1"), bus: "unix:path=/a,guid=2").severities == [.ok])
        #expect(
            watcher(started("unix:path=/b"), bus: "unix:path=/a").text.contains("started with unix:path=/b, this shell")
        )
        #expect(watcher(started(nil), bus: "unix:path=/a").text.contains("started with no session bus"))
        #expect(watcher({ $0.bus = nil }, bus: "unix:path=/a").severities == [.ok], "its environment could not be read")
    }

    private func journal(_ change: (inout JournalFacts) -> Void) -> [Finding] {
        var facts = JournalFacts()
        change(&facts)
        return JournalCheck(facts: .success(facts), sources: ["a", "b"], sinks: ["s"]).findings
    }

    @Test("a journal that is damaged or cannot be opened fails; none at all is good")
    func journalItself() {
        #expect(journal { $0.lastSeq = 1 }.text.contains("1 event so far"))
        #expect(journal { $0.integrity = .damaged(["row 7", "x", "y"]) }.severities == [.failure])
        #expect(journal { $0.integrity = .unknown }.severities == [.warning])
        func opened(_ reason: JournalError.Reason) -> [Finding] {
            JournalCheck(
                facts: .failure(JournalError(reason, "words")), sources: [], sinks: []
            ).findings
        }
        #expect(opened(.missing).severities == [.ok])
        #expect(opened(.older).text.contains("an earlier version"))
        #expect(opened(.newer) == [.failure("journal", "words")] && opened(.corrupt).severities == [.failure])
    }

    @Test("a source that its server has moved for good is a warning until the configuration has another address")
    func moved() {
        var facts = JournalFacts()
        facts.moves = [
            .init(source: "a", address: "https://b.example/new", urlDigest: 1),
            .init(source: "b", address: "https://b.example/new", urlDigest: 2),
        ]
        let findings = JournalCheck(
            facts: .success(facts), sources: ["a", "b"], sinks: [], addresses: ["a": 1, "b": 3]
        ).findings
        #expect(findings.severities == [.ok, .warning])
        #expect(findings.last?.subject == "source a" && findings.text.contains("https://b.example/new"))
    }

    @Test("paused sinks, waiting and dead deliveries and failing sources are reported with the command that helps")
    func troubles() {
        let paused = journal { $0.pending = [.init(sink: "s", pending: 3, pause: "401")] }
        #expect(paused.severities == [.ok, .failure] && paused.text.contains("`vedette outbox retry --sink s`"))
        #expect(
            journal { $0.pending = [.init(sink: "s", pending: 1, delay: "refused")] }.severities == [.ok, .warning])
        #expect(journal { $0.pending = [.init(sink: "s", dead: 2)] }.text.contains("2 messages dead"))
        #expect(journal { $0.pending = [.init(sink: "gone", pending: 3, pause: "401")] }.severities == [.ok])
        let failing = journal {
            $0.problems = [
                .init(source: "a", problem: "timeout: late"), .init(source: "b", problem: "empty", isSuspect: true),
                .init(source: "gone", problem: "x"),
            ]
        }
        #expect(failing.severities == [.ok, .failure, .warning] && failing.text.contains("`vedette accept b`"))
        let silences = (1...2).map { Silence(id: $0, source: "a", created: Timestamp(milliseconds: 0)) }
        #expect(journal { $0.silences = silences }.text.contains("2 silences in force"))
    }

    @Test("a silence of a rule, source or sink that nothing has is a warning, and one of a renamed rule is none")
    func silences() {
        let created = Timestamp(milliseconds: 0)
        var facts = JournalFacts()
        facts.silences = [
            Silence(id: 1, rule: "old", created: created), Silence(id: 2, rule: "gone", created: created),
            Silence(id: 3, source: "web-*", created: created), Silence(id: 4, source: "?", sink: "s", created: created),
            Silence(id: 5, sink: "gone", created: created),
        ]
        var rule = Rule(name: "new", when: .appears, notify: [])
        rule.formerName = "old"
        func findings(_ rules: [Rule]?) -> [Finding] {
            JournalCheck(facts: .success(facts), sources: ["a", "b"], sinks: ["s"], rules: rules).findings
        }
        #expect(findings([rule]).severities == [.ok, .ok, .warning, .warning, .warning])
        #expect(findings([rule]).suffix(3).map(\.subject) == ["silence 2", "silence 3", "silence 5"])
        #expect(findings([rule]).last?.remedy == "vedette silences end 5")
        #expect(findings(nil).severities == [.ok, .ok], "files with errors tell no names")
    }

    @Test("a daemon's name and what it lacks; files that are not installed; a bus that does not answer")
    func desktop() {
        func check(_ state: DesktopFacts.State?, _ files: DesktopFiles) -> [Finding] {
            let server = state.map { DesktopFacts(bus: "unix:path=/b", state: $0) }
            return DesktopCheck(subject: "sink desk", server: server, files: files).findings
        }
        let all = DesktopFiles(entry: "/e", icon: "/i", opener: "/o", home: "/h")
        let dunst = DesktopFacts.Daemon(name: "dunst", vendor: "knopwob", version: "1.9", specification: "1.2")
        let good = check(.ready(dunst, capabilities: ["actions", "body-markup"]), all)
        #expect(good.severities == [.ok, .ok, .ok])
        #expect(good.text.contains("dunst 1.9 of knopwob (specification 1.2) shows notifications on unix:path=/b"))
        #expect(check(.ready(dunst, capabilities: []), all).severities == [.ok, .warning, .ok])
        #expect(check(.noBus(reason: "words"), all) == [.failure("sink desk", "words"), check(nil, all)[1]])
        #expect(check(nil, all).severities == [.failure, .ok])
        let none = check(.noDaemon(reason: "words"), DesktopFiles(home: "/h"))
        #expect(none.severities == [.failure, .warning, .warning, .warning])
        #expect(none.text.contains("/h/applications/") && none.text.contains("xdg-utils"))
    }

    @Test("too few open files for so many sources, and a NOTIFY_SOCKET that is none")
    func system() {
        func check(
            _ files: UInt64?, _ sources: Int, _ socket: (String, Bool)? = nil, page: Int = 0
        ) -> [Finding] {
            SystemCheck(
                openFiles: files, notifySocket: socket.map { (path: $0.0, exists: $0.1) }, sources: sources,
                pageConnections: page
            ).findings
        }
        #expect(check(1024, 10_000).severities == [.ok] && check(nil, 10).severities == [.ok])
        #expect(check(256, 10).severities == [.ok] && check(256, 10_000).severities == [.warning])
        // Every lane, what is not answered, and streams.
        #expect(check(511, 10_000).severities == [.warning] && check(512, 10_000).severities == [.ok])
        #expect(check(512, 10, page: 512).severities == [.warning])
        #expect(check(nil, 1, ("/x", false)).severities == [.ok, .failure])
        #expect(check(nil, 1, ("/x", true)).severities == [.ok])
    }
}
