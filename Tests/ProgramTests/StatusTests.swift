// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("The screen of status")
struct StatusTests {
    private static let now = Timestamp(rfc3339: "2026-11-22T08:23:00Z") ?? Timestamp(milliseconds: 0)

    private static func ago(_ seconds: Double) -> Timestamp { now.advanced(by: .seconds(-seconds)) }

    private func source(_ name: String, every: Double = 60, _ change: (inout SourceRecord) -> Void = { _ in })
        -> SourceStatus
    {
        var record = SourceRecord(name: name)
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: Self.ago(20))
        record.snapshot?.count = 8
        record.snapshot?.states = ["Ready for use": 5, "Stopped": 3]
        record.health.lastPollAt = Self.ago(20)
        record.due = Self.ago(20 - every)
        change(&record)
        return SourceStatus(
            name: name, kindName: "json", every: .seconds(every), isInsecure: false, record: record)
    }

    private func failing(_ name: String, since: Double, _ detail: String, isFailing: Bool = true) -> SourceStatus {
        source(name) { record in
            record.health.failures = isFailing ? 12 : 1
            record.health.isFailing = isFailing
            record.health.failingSince = Self.ago(since)
            record.health.problem = Event.Problem(failure: "server", detail: detail)
            record.snapshot?.goodAt = Self.ago(since + 30)
            record.due = Self.ago(-240)
        }
    }

    /// One of everything.
    private var facts: StatusFacts {
        var facts = StatusFacts(now: Self.now)
        facts.watcher = .init(process: WatcherProcess(pid: 812), since: Self.ago(183_600))
        facts.hasJournal = true
        facts.sources = [
            source("lab-systems"), failing("billing-api", since: 2580, "HTTP 503 Service Unavailable"),
            failing("프로덕션", since: 90, "connection refused by status.example.com port 443", isFailing: false),
            source("empty-list") { $0.snapshot?.emptiness = .init(polls: 2, since: Self.ago(300)) },
        ]
        var desk = SinkStatus(name: "desktop")
        desk.activity = SinkActivity(sink: "desktop", sent: 12, lastSentAt: Self.ago(180))
        var team = SinkStatus(name: "team-chat")
        (team.count.pending, team.count.paused, team.count.dead) = (14, 12, 1)
        team.activity = SinkActivity(
            sink: "team-chat", sent: 3, lastSentAt: Self.ago(3600), lastDeadAt: Self.ago(1380),
            lastDeadReason: "400 Bad Request: no such channel")
        team.stop = StoppedSink(
            sink: "team-chat", kind: .paused, reason: "401 Unauthorized", since: Self.ago(1380), fingerprint: 1)
        facts.sinks = [desk, team]
        facts.silences = [
            Silence(id: 3, until: Self.ago(-3600), sink: "desktop", created: Self.ago(60))
        ]
        facts.rules = []
        facts.unmatched = [
            .init(rule: "typo", text: "rule 'typo' matched no event in 2 d: no item was seen in the state 'Redy'")
        ]
        return facts
    }

    private func screen(_ facts: StatusFacts, _ width: Int?, isOn: Bool = false, isWhole: Bool = false) -> StatusScreen
    {
        StatusScreen(
            facts: facts, palette: Palette(isOn: isOn), width: width, isWhole: isWhole,
            time: { String($0.rfc3339.dropFirst(11).prefix(8)) },
            localized: { $0.replacing("2026-11-22T", with: "").replacing(".000Z", with: "") })
    }

    @Test("80 columns: problems first with cause and command, then sinks, silences and sources")
    func narrow() {
        #expect(
            screen(facts, 80).lines.map(\.text).joined(separator: "\n") == """
                running since 05:23:00 (2 d 3 h), pid 812
                4 sources: 1 failing, 1 suspect, 1 retrying, 1 ok, 2 sinks, 0 rules

                PROBLEMS
                billing-api  failing since 07:40:00 (43 min): HTTP 503 Service Unavailable…
                             last good 07:39:30 (43 min 30 s ago); 12 failed polls
                             next try in 4 min
                empty-list   suspect since 08:18:00 (5 min): the list turned empty; what it had…
                             last good 08:22:40 (20 s ago); next try in 40 s
                             if that is right: vedette accept empty-list
                team-chat    paused since 08:00:00 (23 min): 401 Unauthorized
                             14 pending; when repaired: vedette outbox retry --sink team-chat
                team-chat    1 dead: 400 Bad Request: no such channel
                             the last 08:00:00 (23 min ago); vedette outbox --sink team-chat
                프로덕션     retrying since 08:21:30 (1 min 30 s): connection refused by…
                             last good 08:21:00 (2 min ago); next try in 4 min

                SINK       LAST SENT  TODAY  PENDING  DEAD  REMARK
                desktop    3 min ago  12     0        0
                team-chat  1 h ago    3      14       1     paused

                SILENCE  WHAT
                3        sink 'desktop', until 09:23:00

                warning: rule 'typo' matched no event in 2 d: no item was seen in the state
                  'Redy'

                SOURCE       HEALTH    ITEMS  LAST      NEXT      STATES
                lab-systems  ok        8      20 s ago  in 40 s   5 Ready for use, 3 Stopped
                billing-api  failing   8      20 s ago  in 4 min  5 Ready for use, 3 Stopped
                프로덕션     retrying  8      20 s ago  in 4 min  5 Ready for use, 3 Stopped
                empty-list   suspect   8      20 s ago  in 40 s   5 Ready for use, 3 Stopped
                """)
    }

    @Test("120 columns have room for whole causes; colours go by meaning")
    func wide() {
        let lines = screen(facts, 120).lines.map(\.text)
        #expect(lines.contains("billing-api  failing since 07:40:00 (43 min): HTTP 503 Service Unavailable [server]"))
        #expect(
            lines.contains(
                "             last good 07:39:30 (43 min 30 s ago); 12 failed polls; next try in 4 min"))
        let coloured = screen(facts, 120, isOn: true).lines.map(\.text)
        #expect(coloured[0] == "\u{1B}[32mrunning\u{1B}[0m since 05:23:00 (2 d 3 h), pid 812")
        #expect(
            coloured.contains(
                "billing-api  \u{1B}[31mfailing\u{1B}[0m since 07:40:00 (43 min): HTTP 503 Service Unavailable [server]"
            ))
        #expect(coloured.contains { $0.hasPrefix("프로덕션     \u{1B}[33mretrying\u{1B}[0m since") })
        #expect(
            coloured.contains(
                "team-chat  1 h ago    3      14       \u{1B}[31m1\u{1B}[0m     \u{1B}[31mpaused\u{1B}[0m"))
    }

    @Test("the screen of one source tells all of it")
    func single() {
        #expect(
            screen(facts, 80).lines(of: ["billing-api"]).map(\.text).joined(separator: "\n") == """
                billing-api  json, every 1 min
                  health        failing since 07:40:00 (43 min)
                  cause         HTTP 503 Service Unavailable [server]
                  failed polls  12
                  last poll     08:22:40, 20 s ago
                  last good     07:39:30, 43 min 30 s ago
                  next poll     in 4 min
                  items         8: 5 Ready for use, 3 Stopped
                """)
    }

    @Test("no line is wider than the terminal, coloured or not, at 40, 80 and 120 columns", arguments: [40, 80, 120])
    func widths(_ width: Int) {
        for isOn in [false, true] {
            for line in screen(facts, width, isOn: isOn, isWhole: true).lines {
                #expect(line.width <= width, "\(line.text)")
            }
        }
        let plain = screen(facts, width).lines.map(\.text)
        let coloured = screen(facts, width, isOn: true).lines.map { $0.text.replacing(/\u{1B}\[[0-9]*m/, with: "") }
        #expect(plain == coloured)
    }

    @Test("1,000 sources of which 300 fail fit one screen of 80 columns and 40 lines; --all lists each")
    func many() {
        var facts = StatusFacts(now: Self.now)
        facts.watcher = .init(process: WatcherProcess(pid: 812), since: Self.ago(60))
        facts.sources = (0..<1000).map { number in
            number % 10 < 3
                ? failing("s\(number)", since: Double(number + 60), "HTTP 503") : source("s\(number)")
        }
        let lines = screen(facts, 80).lines.map(\.text)
        #expect(lines.count < 40)
        #expect(lines[1] == "1000 sources: 300 failing, 700 ok, 0 sinks, 0 rules")
        #expect(lines.contains { $0.hasPrefix("s992 ") }, "the oldest first")
        #expect(lines.contains("and 292 more: vedette status --all"))
        let all = screen(facts, 80, isWhole: true).lines.map(\.text)
        #expect((0..<1000).allSatisfy { number in all.contains { $0.hasPrefix("s\(number) ") } })
    }

    @Test("many silences, sinks, waiting matches and warnings fit one screen; --all lists each")
    func manyRows() {
        var facts = StatusFacts(now: Self.now)
        facts.watcher = .init(process: WatcherProcess(pid: 812), since: Self.ago(60))
        facts.sinks = (1...200).map { SinkStatus(name: "sink-\($0)") }
        facts.silences = (1...200).map { Silence(id: $0, sink: "sink-\($0)", created: Self.ago(60)) }
        facts.timers = (1...200).map {
            RuleMemory(
                key: .init(rule: "absent-\($0)", slot: .absence, name: ""), identity: 1, due: Self.ago(-60),
                since: Self.ago(60))
        }
        facts.unmatched = (1...200).map { .init(rule: "r\($0)", text: "rule 'r\($0)' matched no event in 2 d") }
        let lines = screen(facts, 80).lines.map(\.text)
        #expect(lines.count < 50, "\(lines)")
        #expect(lines.count { $0 == "and 192 more: vedette status --all" } == 4)
        let all = screen(facts, 80, isWhole: true).lines.map(\.text)
        #expect(all.count > 800 && !all.contains { $0.contains("--all") })
    }

    @Test("without a watcher the screen tells how to start one, and no time of a next poll")
    func notRunning() {
        var facts = facts
        facts.watcher = nil
        let lines = screen(facts, 80).lines.map(\.text)
        #expect(lines[0] == "not running: start it with `vedette run`")
        #expect(!lines.contains { $0.contains("next try") })
        #expect(!facts.isWell)
        facts.hasJournal = false
        #expect(screen(facts, 80).lines[0].text == "not running: it never ran; start it with `vedette run`")
    }

    @Test("it is well when a watcher runs and nothing is lost or late until a person repairs it")
    func wellness() {
        var facts = StatusFacts(now: Self.now)
        facts.watcher = .init(process: WatcherProcess(pid: 1), since: nil)
        facts.sources = [source("a"), failing("b", since: 60, "HTTP 503", isFailing: false)]
        facts.sinks = [SinkStatus(name: "out")]
        facts.sinks[0].count.retrying = 1
        facts.sinks[0].waiting = .init(reason: "timeout", due: Self.ago(-10))
        #expect(facts.isWell, "retrying may end by itself")
        #expect(facts.problems.map(\.word) == ["retrying", "retrying"])
        facts.sinks[0].count.dead = 1
        #expect(!facts.isWell)
        facts.sinks[0].count.dead = 0
        facts.stalledSince = Self.ago(600)
        #expect(!facts.isWell)
        facts.stalledSince = nil
        facts.sources.append(failing("c", since: 60, "HTTP 503"))
        #expect(!facts.isWell)
    }

    @Test(
        "a source of one second never shows old times, though its polls are stored late; one that takes long is not made up"
    )
    func times() {
        func times(every: Double, last: Double, isWatching: Bool = true) -> PollTimes {
            var record = SourceRecord(name: "s")
            record.health.lastPollAt = Self.ago(last)
            record.due = Self.ago(last - every)
            return PollTimes(record, isWatching: isWatching, now: Self.now)
        }
        let quick = times(every: 1, last: 6.4)
        #expect(quick.last == Self.ago(0.4) && quick.next == Self.ago(-0.6))
        let stopped = times(every: 1, last: 6.4, isWatching: false)
        #expect(stopped.last == Self.ago(6.4) && stopped.next == nil)
        let slow = times(every: 60, last: 63)
        #expect(slow.last == Self.ago(63) && slow.next == Self.ago(3))
        let hung = times(every: 1, last: 60)
        #expect(hung.last == Self.ago(60))
        var limited = SourceRecord(name: "s")
        (limited.due, limited.notBefore) = (Self.ago(-60), Self.ago(-3600))
        #expect(PollTimes(limited, isWatching: true, now: Self.now).isDelayedByServer)
    }

    @Test("polls that change nothing are good: the last poll and the last good one are the same")
    func goodTimes() throws {
        for (goodAt, shown) in [(7.0, 1.0), (9, 9)] {
            var facts = facts
            // Where it was good before the last poll, that was one while the machine was offline.
            facts.sources = [
                source("s", every: 2) { record in
                    record.health.lastPollAt = Self.ago(7)
                    record.snapshot?.goodAt = Self.ago(goodAt)
                    record.due = Self.ago(5)
                }
            ]
            let row = try JSON(parsing: Array(try #require(facts.json(only: ["s"]).first).utf8))
            #expect(row["lastPoll"] == .string(Self.ago(1).rfc3339))
            #expect(row["lastGood"] == .string(Self.ago(shown).rfc3339))
            let lines = screen(facts, 80).lines(of: ["s"]).map(\.text)
            #expect(lines.contains { $0.contains("last poll") && $0.hasSuffix(", 1 s ago") }, "\(lines)")
            #expect(lines.contains { $0.contains("last good") && $0.hasSuffix(", \(Int(shown)) s ago") }, "\(lines)")
        }
    }

    @Test("how late polls start is a line of the header, and a warning from one second on; JSON has it in seconds")
    func lateness() throws {
        var facts = facts
        facts.lateness = ["": PollLateness.Report(p99: 0.025, polls: 1200, at: Self.ago(30))]
        let calm = screen(facts, 80, isOn: true).lines[2]
        #expect(
            calm
                == Palette(isOn: true).paint("99 % of the last 1200 polls started within 25 ms of the due time", .faint)
        )
        facts.lateness[""]?.p99 = 2.5
        let late = screen(facts, 80, isOn: true).lines[2]
        #expect(
            late
                == Palette(isOn: true).paint(
                    "99 % of the last 1200 polls started within 3 s of the due time", .doubtful))
        let watcher = try JSON(parsing: Array(try #require(facts.json(only: nil).first).utf8))
        #expect(watcher["lateness"]?["p99"] == .number("2.5") && watcher["lateness"]?["polls"] == .number("1200"))
    }

    private func member(_ name: String, _ configuration: String, configured: Int64, left: Int = 14) -> RegisteredWatcher
    {
        RegisteredWatcher(
            number: configured, name: name, process: WatcherProcess(pid: 100, host: name), started: Self.ago(3600),
            configuration: configuration, configured: configured, left: .seconds(left), sources: 7, sinks: 2)
    }

    @Test("watchers that share a journal have a table; one that is late or has an older configuration is a problem")
    func members() throws {
        var facts = facts
        facts.watchers = [member("db1", "a", configured: 1), member("db2", "a", configured: 2)]
        var screen = self.screen(facts, nil).lines.map(\.text)
        #expect(screen.contains { $0.hasPrefix("WATCHER  PROCESS     SINCE") })
        #expect(screen.contains { $0.hasPrefix("db2") && $0.contains("100 on db2") && $0.hasSuffix("7        2") })
        #expect(!screen.contains { $0.contains("unequal") })
        facts.watchers += [member("db3", "b", configured: 3, left: 4)]
        screen = self.screen(facts, nil, isWhole: true).lines.map(\.text)
        #expect(screen.contains { $0.contains("unequal: db1, db2 differ from db3, configured last") })
        #expect(screen.contains { $0.contains("give all watchers the same files") })
        #expect(screen.contains { $0.hasPrefix("db3") && $0.contains("late") && $0.contains("take over in 4 s") })
        let rows = try facts.json(only: nil).map { try JSON(parsing: Array($0.utf8)) }
        #expect(rows[1...3].map { $0["member"] } == [.string("db1"), .string("db2"), .string("db3")])
        #expect(rows[1...3].map { $0["newestConfiguration"] } == [.bool(false), .bool(false), .bool(true)])
        #expect(rows[1...3].map { $0["late"] } == [nil, nil, .bool(true)])
        #expect(ConfigurationDrift([]).cause == nil)
    }

    @Test(
        "the table of watchers shows how late the polls of each one start, and '-' for one that has not stored it yet")
    func latenessOfMembers() throws {
        var facts = facts
        facts.watchers = [member("db1", "a", configured: 1), member("db2", "a", configured: 2)]
        facts.watchers.append(member("db3", "a", configured: 3))
        facts.lateness = [
            "db1": PollLateness.Report(p99: 0.025, polls: 1200, at: Self.ago(30)),
            "db2": PollLateness.Report(p99: 2.5, polls: 70, at: Self.ago(10)),
        ]
        let lines = screen(facts, nil).lines.map(\.text)
        #expect(lines.contains { $0.hasPrefix("WATCHER") && $0.hasSuffix("P99 LATENESS") })
        #expect(lines.contains { $0.hasPrefix("db1") && $0.hasSuffix("25 ms") })
        #expect(lines.contains { $0.hasPrefix("db2") && $0.hasSuffix("3 s") })
        #expect(lines.contains { $0.hasPrefix("db3") && $0.hasSuffix("-") })
        let painted = screen(facts, nil, isOn: true).lines
        #expect(painted.contains { $0.text.contains(Palette(isOn: true).paint("3 s", .doubtful).text) })
        let rows = try facts.json(only: nil).map { try JSON(parsing: Array($0.utf8)) }
        #expect(rows[0]["lateness"] == nil)
        #expect(rows[1...3].map { $0["lateness"]?["p99"] } == [.number("0.025"), .number("2.5"), nil])
    }

    @Test("a silence of a rule that does not exist is warned of, but not beside errors of the configuration")
    func silenceWithoutEffect() throws {
        var facts = facts
        facts.silences = [Silence(id: 3, rule: "gone", created: Self.ago(60))]
        let text = "silence 3 is without effect: there is no rule 'gone'; `vedette silences end 3` ends it"
        #expect(screen(facts, nil).lines.map(\.text).contains("warning: \(text)"))
        let row = try JSON(parsing: Array(facts.json(only: nil)[7].utf8))
        #expect(row["warning"] == .string(text))
        facts.configurationErrors = 1
        #expect(!facts.warnings.contains(text))
    }

    @Test("the lateness of a single poll is told of that poll")
    func latenessOfOne() {
        var facts = facts
        facts.lateness = ["": PollLateness.Report(p99: 0.025, polls: 1, at: Self.ago(30))]
        #expect(screen(facts, nil).lines.map(\.text).contains("the last poll started within 25 ms of the due time"))
    }

    @Test("--json holds the watcher, each source, sink and silence, one object a line")
    func json() throws {
        let rows = try facts.json(only: nil).map { try JSON(parsing: Array($0.utf8)) }
        #expect(rows.count == 1 + 4 + 2 + 1 + 1)
        #expect(rows[0]["watcher"] == .string("running") && rows[0]["pid"] == .number("812"))
        #expect(rows[2]["health"] == .string("failing") && rows[2]["error"]?["class"] == .string("server"))
        #expect(rows[3]["health"] == .string("retrying") && rows[4]["health"] == .string("suspect"))
        #expect(rows[6]["deadReason"] == .string("400 Bad Request: no such channel"))
        #expect(rows[6]["stopped"] == .string("paused") && rows[6]["sentToday"] == .number("3"))
        #expect(rows[7]["silence"]?["id"] == .number("3"))
        #expect(facts.json(only: ["lab-systems"]).count == 1)
    }
}
