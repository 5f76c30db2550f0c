// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteDesktop

@testable import vedette

extension [Finding] {
    /// The verdicts, in order.
    var verdicts: [Finding.Verdict] { map(\.verdict) }
    /// All that is said, remedies too.
    var said: String { map { $0.text + ($0.remedy.map { "; " + $0 } ?? "") }.joined(separator: "\n") }
}

@Suite("doctor: what it says of what it is shown")
struct DoctorTests {
    let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

    @Test("a line holds verdict, subject, text and remedy, in colour only when asked, and nothing that moves a cursor")
    func line() {
        let finding = Finding.failure("sink desk", "no\u{1B}[2J bus", remedy: "start one")
        #expect(finding.line(isColoured: false) == "fail  sink desk         no\\x1b[2J bus; start one")
        #expect(finding.line(isColoured: true).hasPrefix("\u{1B}[1;31mfail\u{1B}[0m  sink desk"))
        #expect(Finding.ok("clock", "good").line(isColoured: false) == "ok    clock             good")
        #expect(
            Finding.warning("disk", "full", remedy: "make room").json.text
                == #"{"verdict":"warn","subject":"disk","text":"full","remedy":"make room"}"#)
    }

    @Test("of very many findings the first are told and the rest counted")
    func bounded() {
        let many = (0..<30).map { Finding.failure("source \($0)", "fails") }
        let told = many.bounded(to: 10, "sources", remedy: "look")
        #expect(told.count == 11 && told.last?.text == "and 20 more like these" && told.last?.verdict == .failure)
        #expect(Array(many.prefix(11)).bounded(to: 10, "sources", remedy: "look") == Array(many.prefix(11)))
    }

    @Test("a clock before this program was written or a zone that nobody knows is told")
    func clock() {
        func check(_ time: String, _ zone: String? = nil, known: Bool = true) -> Finding? {
            let facts = ClockFacts(
                now: Timestamp(rfc3339: time)!, variable: zone, isZoneKnown: known, zone: "Etc/UTC")
            return ClockCheck(facts: facts).findings.first
        }
        #expect(check("2026-11-21T10:00:00Z")?.verdict == .ok)
        #expect(check("1970-01-01T00:00:10Z")?.verdict == .failure)
        #expect(check("2106-02-07T06:28:15Z")?.verdict == .failure)
        let wrong = check("2026-11-21T10:00:00Z", "Europe/Berln", known: false)
        #expect(wrong?.verdict == .warning && wrong?.text.contains("TZ='Europe/Berln' is no zone") == true)
        #expect(check("2026-11-21T10:00:00Z", known: false)?.text.contains("no /etc/localtime") == true)
        #expect(!ClockFacts.now(["TZ": "Europe/Berln"]).isZoneKnown && ClockFacts.now(["TZ": ":UTC"]).isZoneKnown)
    }

    private func state(_ change: (inout StateFacts) -> Void) -> [Finding] {
        var facts = StateFacts(path: "/s")
        facts.directory = .init()
        facts.room = .init(bytes: 1 << 30, inodes: 1000)
        change(&facts)
        return StateCheck(facts: facts).findings
    }

    private func says(_ words: String, _ change: (inout StateFacts) -> Void) -> Bool {
        state(change).said.contains(words)
    }

    @Test("the state directory: missing, no directory, another's, open to others, on a full or distant disk")
    func stateDirectory() {
        #expect(state { _ in }.verdicts == [.ok, .ok])
        #expect(says("the first run makes it") { $0.directory = nil })
        #expect(state { ($0.directory, $0.isParentWritable) = (nil, false) }.verdicts == [.failure, .ok])
        #expect(state { $0.directory?.isDirectory = false }.verdicts.first == .failure)
        #expect(says("this user may not write (mode 700)") { $0.directory?.isWritable = false })
        let other = state { $0.directory = .init(isWritable: false, owner: 7) }
        #expect(other.said.contains("it belongs to another user") && other.verdicts.first == .failure)
        #expect(state { $0.directory?.owner = 7 }.verdicts.first == .warning)
        #expect(says("chmod 700 /s") { $0.directory?.mode = 0o750 })
        #expect(state { $0.room?.bytes = 1 << 20 }.verdicts == [.ok, .failure])
        #expect(state { $0.room?.bytes = 100 << 20 }.verdicts == [.ok, .warning])
        #expect(says("no inodes") { $0.room?.inodes = 3 })
        #expect(state { $0.room?.isNetwork = true }.verdicts == [.ok, .ok, .warning])
    }

    @Test("the file system of a path is that of the longest mount above it")
    func mounts() {
        let table = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            40 22 0:35 / /home rw shared:9 - nfs4 server:/home rw
            41 40 0:36 / /home/a\\040b rw - tmpfs tmpfs rw
            broken
            """
        #expect(Mounts.kind(of: "/etc", table) == "ext4")
        #expect(Mounts.kind(of: "/home/x/state", table) == "nfs4")
        #expect(Mounts.kind(of: "/homer", table) == "ext4")
        #expect(Mounts.kind(of: "/home/a b/c", table) == "tmpfs")
        #expect(Mounts.kind(of: "/", "") == nil)
    }

    private func watcher(_ change: (inout WatcherFacts) -> Void, bus: String? = nil, others: Bool = true) -> [Finding] {
        var facts = WatcherFacts(pid: 42)
        change(&facts)
        return WatcherCheck(facts: facts, bus: bus, hasOtherSinks: others).findings
    }

    @Test("nobody watches; a unit that ends at log-out; a watcher with another bus than this shell's")
    func watcher() {
        #expect(WatcherCheck(facts: nil, bus: nil, hasOtherSinks: true).findings.verdicts == [.warning])
        #expect(watcher { $0.unit = "vedette.service" }.said == "process 42 of vedette.service watches")
        func ends(_ facts: inout WatcherFacts) {
            (facts.unit, facts.isUserUnit, facts.lingers) = ("v.service", true, false)
        }
        #expect(watcher(ends).said.contains("loginctl enable-linger"))
        #expect(watcher(ends, others: false).verdicts == [.ok], "bubbles end with the session anyway")
        func asked(_ bus: String?) -> (inout WatcherFacts) -> Void { { ($0.canBeAsked, $0.bus) = (true, bus) } }
        #expect(watcher(asked("unix:path=/a,guid=1"), bus: "unix:path=/a,guid=2").verdicts == [.ok])
        #expect(watcher(asked("unix:path=/b"), bus: "unix:path=/a").said.contains("looks for it at unix:path=/b"))
        #expect(watcher(asked(nil), bus: "unix:path=/a").said.contains("it has none"))
        #expect(watcher({ $0.bus = nil }, bus: "unix:path=/a").verdicts == [.ok], "it could not be asked")
    }

    private func journal(_ change: (inout JournalFacts) -> Void) -> [Finding] {
        var facts = JournalFacts()
        change(&facts)
        return JournalCheck(facts: .success(facts), sources: ["a", "b"], sinks: ["s"]).findings
    }

    @Test("a journal that is damaged or cannot be opened fails; none at all is good")
    func journalItself() {
        #expect(journal { $0.lastSeq = 1 }.said.contains("1 event so far"))
        #expect(journal { $0.integrity = .damaged(["row 7", "x", "y"]) }.verdicts == [.failure])
        #expect(journal { $0.integrity = .unknown }.verdicts == [.warning])
        func opened(_ reason: JournalError.Reason) -> [Finding] {
            JournalCheck(
                facts: .failure(JournalError(reason, "words")), sources: [], sinks: []
            ).findings
        }
        #expect(opened(.missing).verdicts == [.ok])
        #expect(opened(.older).said.contains("an earlier version"))
        #expect(opened(.newer) == [.failure("journal", "words")] && opened(.corrupt).verdicts == [.failure])
    }

    @Test("what rests, waits, died or fails is told with the command that mends it; what is not configured is not")
    func troubles() {
        let paused = journal { $0.pending = [.init(sink: "s", pending: 3, pause: "401")] }
        #expect(paused.verdicts == [.ok, .failure] && paused.said.contains("`vedette outbox retry --sink s`"))
        #expect(journal { $0.pending = [.init(sink: "s", pending: 1, delay: "refused")] }.verdicts == [.ok, .warning])
        #expect(journal { $0.pending = [.init(sink: "s", dead: 2)] }.said.contains("2 messages dead"))
        #expect(journal { $0.pending = [.init(sink: "gone", pending: 3, pause: "401")] }.verdicts == [.ok])
        let failing = journal {
            $0.problems = [
                .init(source: "a", problem: "timeout: late"), .init(source: "b", problem: "empty", isSuspect: true),
                .init(source: "gone", problem: "x"),
            ]
        }
        #expect(failing.verdicts == [.ok, .failure, .warning] && failing.said.contains("`vedette accept b`"))
        #expect(journal { $0.silences = 2 }.said.contains("2 silences in force"))
    }

    @Test("a daemon's name and what it cannot do; what is not installed; a bus that does not answer")
    func desktop() {
        func check(_ state: ServerCapabilities.State?, _ files: DesktopFiles) -> [Finding] {
            let look = state.map { ServerCapabilities(bus: "unix:path=/b", state: $0) }
            return DesktopCheck(subject: "sink desk", look: look, files: files).findings
        }
        let all = DesktopFiles(entry: "/e", icon: "/i", opener: "/o", home: "/h")
        let dunst = ServerCapabilities.Daemon(name: "dunst", vendor: "knopwob", version: "1.9", specification: "1.2")
        let good = check(.ready(dunst, capabilities: ["actions", "body-markup"]), all)
        #expect(good.verdicts == [.ok, .ok, .ok])
        #expect(good.said.contains("dunst 1.9 of knopwob (specification 1.2) shows bubbles, on unix:path=/b"))
        #expect(check(.ready(dunst, capabilities: []), all).verdicts == [.ok, .warning, .ok])
        #expect(check(.noBus(reason: "words"), all) == [.failure("sink desk", "words"), check(nil, all)[1]])
        #expect(check(nil, all).verdicts == [.failure, .ok])
        let none = check(.noDaemon(reason: "words"), DesktopFiles(home: "/h"))
        #expect(none.verdicts == [.failure, .warning, .warning, .warning])
        #expect(none.said.contains("/h/applications/") && none.said.contains("xdg-utils"))
    }

    @Test("too few open files for so many sources, and a NOTIFY_SOCKET that is none")
    func system() {
        func check(_ files: UInt64?, _ sources: Int, _ socket: (String, Bool)? = nil) -> [Finding] {
            SystemCheck(openFiles: files, notifySocket: socket.map { ($0.0, $0.1) }, sources: sources).findings
        }
        #expect(check(1024, 10_000).verdicts == [.ok] && check(nil, 10).verdicts == [.ok])
        #expect(check(256, 10).verdicts == [.ok] && check(256, 10_000).verdicts == [.warning])
        #expect(check(nil, 1, ("/x", false)).verdicts == [.ok, .failure])
        #expect(check(nil, 1, ("/x", true)).verdicts == [.ok])
    }
}
