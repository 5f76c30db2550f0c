// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteSinks

@testable import vedette

private let now = Timestamp(rfc3339: "2026-11-22T09:00:00Z")!

private func ago(_ seconds: Double) -> Timestamp { now.advanced(by: .zero - .seconds(seconds)) }

@Suite("The screen of list")
struct ItemTableTests {
    private static let systems: [ItemTable.Row] = [
        .init(item: Item(key: "66", title: "sandbox", state: "Stopped"), since: ago(90_000)),
        .init(item: Item(key: "9", title: "Portal QA", state: "Ready for use"), since: ago(12)),
        .init(item: Item(key: "59", title: "빌드 서버 e\u{301}te\u{301}", state: "Starting"), since: ago(250)),
        .init(
            item: Item(key: "60", title: "a system with a name that is longer than most are, and longer than the line"),
            since: ago(7200)),
    ]

    private static func entry(_ key: String, _ title: String, _ seconds: Double) -> ItemTable.Row {
        var item = Item(key: key, title: title, url: "https://blog.example.com/\(title.count)")
        item.time = ago(seconds)
        return .init(item: item, since: ago(1))
    }

    private static let posts = [
        entry("urn:lsid:example.com:blogs:entry-0b64a1f5-8f5e-4c41-a1d9-0d1f2c3b4a5f", "The old post", 400_000),
        entry("urn:lsid:example.com:blogs:entry-9c1e22d0-1111-4c41-a1d9-0d1f2c3b4a60", "The new post", 600),
    ]

    private func table(_ mode: ReadingMode = .list, _ palette: Palette = .plain, keys: Bool = false) -> ItemTable {
        ItemTable(palette: palette, kind: "json", mode: mode, keepsKeys: keys)
    }

    private func screen(_ rows: [ItemTable.Row], _ table: ItemTable, width: Int?) -> [String] {
        table.lines(table.sorted(rows), now: now, width: width).map(\.text)
    }

    @Test("a list is in the order of its keys, with the age of each state, and fits 80 columns")
    func list() {
        #expect(
            screen(Self.systems, table(), width: 80) == [
                "KEY  AGE    STATE          TITLE",
                "9    12 s   Ready for use  Portal QA",
                "59   4 min  Starting       빌드 서버 e\u{301}te\u{301}",
                "60   2 h    -              a system with a name that is longer than most are,…",
                "66   1 d    Stopped        sandbox",
            ])
        #expect(screen(Self.systems, table(), width: 120)[3].hasSuffix("and longer than the line"))
    }

    @Test("a window has the newest entry first, and its keys are short unless --keys asks for them")
    func window() {
        #expect(
            screen(Self.posts, table(.window), width: 80) == [
                "KEY      AGE     TITLE", "…3b4a60  10 min  The new post", "…3b4a5f  4 d     The old post",
            ])
        let whole = screen(Self.posts, table(.window, keys: true), width: 120)
        #expect(whole[1].hasPrefix("urn:lsid:example.com:blogs:entry-9c1e22d0-1111-4c41-a1d9-0d1f2c3b4a60  10 min  "))
        #expect(screen(Self.posts, table(.window), width: nil)[1] == whole[1])
    }

    @Test("no line is wider than the terminal", arguments: [60, 80, 120])
    func widths(_ width: Int) {
        for table in [table(), table(.window), table(.window, keys: true)] {
            let lines = table.lines(table.sorted(Self.systems + Self.posts), now: now, width: width)
            #expect(lines.allSatisfy { $0.width <= width })
        }
    }

    @Test("states have the colours of what they mean, and lines are links where the terminal has them")
    func colours() {
        var coloured = table(.list, Palette(isOn: true))
        let lines = screen(Self.systems, coloured, width: 80)
        #expect(lines[1].contains("\u{1B}[32mReady for use\u{1B}[0m"))
        #expect(lines[2].contains("\u{1B}[33mStarting\u{1B}[0m"))
        #expect(lines[4].contains("  Stopped  "))
        coloured.links = Hyperlinks(isOn: true)
        let linked = coloured.lines(Self.posts, now: now, width: 80)
        #expect(linked[1].text.hasPrefix("\u{1B}]8;;https://blog.example.com/12\u{1B}\\…3b4a5f"))
        #expect(linked[0].text.contains("KEY") && !linked[0].text.contains("]8;;"))
    }

    @Test("a short key tells its item from all others, and is taken for the whole one")
    func shortKeys() throws {
        let keys = (0..<3000).map {
            "urn:uuid:0199-\(String($0 * 7919 % 100_003, radix: 16))-4c41-\($0 * 31 % 997)-abcdef"
        }
        let short = ShortKeys(keys)
        #expect(Set(keys.map(short.short)).count == keys.count)
        let ends = ["https://a.example/blog/2026/one/", "https://a.example/blog/2026/two/"]
        #expect(ends.map(ShortKeys(ends).short) == ["…6/one/", "…6/two/"])
        #expect(["1", "a-key-of-14-ch"].map(ShortKeys(["1", "a-key-of-14-ch"]).short) == ["1", "a-key-of-14-ch"])
        let items = ends.map { Item(key: $0) }
        for text in ["…6/one/", "6/one/", "one/"] {
            #expect(try ItemLookup.find(text, among: items, of: "s")?.key == ends[0], "\(text)")
        }
        #expect(try ItemLookup.find("ne/", among: items, of: "s") == nil)
        #expect(throws: Exit.self) { try ItemLookup.find("https", among: items, of: "s") }
        #expect(throws: Exit.self) { try ItemLookup.find("https:…", among: items, of: "s") }
    }

    @Test("--in-state takes states and globs in any case, and tells the nearest of one that no item has")
    func states() {
        func keys(_ wanted: String...) -> [String] { StateSelection(wanted).rows(Self.systems).map(\.item.key) }
        #expect(keys() == ["66", "9", "59", "60"])
        #expect(keys("stopped") == ["66"])
        #expect(keys("St*") == ["66", "59"])
        #expect(keys("Failed") == [])
        #expect(StateSelection(["St*"]).remarks(Self.systems) == [])
        #expect(
            StateSelection(["Startng"]).remarks(Self.systems) == ["no item is 'Startng' now; did you mean 'Starting'?"])
        #expect(
            StateSelection(["Failed"]).remarks(Self.systems)
                == ["no item is 'Failed' now; there are Ready for use, Starting, Stopped"])
        #expect(StateSelection(["up"]).remarks(Self.posts) == ["the items have no state"])
    }
}

@Suite("The screen of show")
struct ItemDetailTests {
    private static func event(_ seq: Int64, _ seconds: Double, _ from: String, _ to: String) -> Event {
        let change = FieldChange(field: "state", from: .text(from), to: .text(to), lasted: 6)
        var event = Event(
            id: SystemRandomGenerator().identifier(at: ago(seconds)), seq: seq, kind: .changed, time: ago(seconds),
            source: "lab", sourceKind: "json", poll: "p-1", changes: [change])
        event.item = Item(key: "59", title: "Portal QA", state: to)
        return event
    }

    private static func delivery(
        _ event: Event, _ sink: String, _ state: DeliveryState, _ reason: String? = nil
    ) -> DeliveryStatus {
        let message = Message(
            id: "msg_1", rule: "ready", sink: sink, event: event, title: "t", text: "", priority: .normal)
        let delivery = Delivery(message: message, created: event.time, due: event.time, reason: reason, state: state)
        return DeliveryStatus(delivery: delivery, state: state, endedAt: state.isPending ? nil : event.time)
    }

    private static let detail: ItemDetail = {
        let description = "A portal for quality assurance, which the team of the second floor starts each morning"
        let item = Item(
            key: "59", title: "Portal QA", state: "Ready for use", url: "https://wca.example.com/systems/59",
            fields: ["owner": "ann", "args": .list(["a", "b"])],
            notes: ["description": .text(description + "\nand stops")])
        let (first, second) = (event(7, 300, "Stopped", "Starting"), event(12, 240, "Starting", "Ready for use"))
        return ItemDetail(
            item: item, since: ago(240), details: ["owner_name": "Ann Smith"], readAt: ago(5),
            history: [
                .init(event: first, deliveries: []),
                .init(
                    event: second,
                    deliveries: [
                        delivery(second, "hook", .dead, "HTTP 404"), delivery(second, "team", .sent),
                        delivery(second, "desktop", .suppressed, "quiet during 'night'"),
                    ]),
            ], kind: "json")
    }()

    private func screen(_ palette: Palette = .plain, width: Int?) -> [String] {
        let local = { (time: Timestamp) in LocalTime.text(time, now: now) }
        return Self.detail.lines(palette, now: now, width: width).map {
            $0.text.replacing(local(ago(300)), with: "08:55:00").replacing(local(ago(240)), with: "08:56:00")
        }
    }

    @Test("a title that is wider than the terminal is broken between words")
    func longTitle() {
        let words = "A title in plain English that continues until it does not fit into a terminal of eighty columns"
        let detail = ItemDetail(item: Item(key: "59", title: words + "\n"), readAt: ago(5), kind: "json")
        #expect(
            detail.lines(.plain, now: now, width: 80).prefix(2).map(\.text) == [
                "A title in plain English that continues until it does not fit into a terminal of",
                #"eighty columns\n"#,
            ])
    }

    @Test("the state has its duration, each field is whole, and the history tells what was sent to whom")
    func narrow() {
        #expect(
            screen(width: 80) == [
                "Portal QA", "Ready for use since 08:56:00 (4 min)", "",
                "key          59", "url          https://wca.example.com/systems/59", "args         a, b",
                "owner        ann",
                "description  A portal for quality assurance, which the team of the second floor",
                "             starts each morning", "             and stops", "owner_name   Ann Smith", "",
                "read 5 s ago", "", "08:55:00   7  Stopped → Starting (after 6 s)",
                "08:56:00  12  Starting → Ready for use (after 6 s)",
                "              sent to team at 08:56:00 by the rule ready",
                "              dead for hook at 08:56:00: HTTP 404",
                "              suppressed for desktop: quiet during 'night'",
            ])
    }

    @Test(
        "an outcome has the same words for `explain`, which names the sink before, and for `show`",
        arguments: [
            (DeliveryState.sent, "sent at 08:56:00", "sent to hook at 08:56:00 by the rule ready"),
            (.pending, "pending, due at 09:05:00", "pending for hook, due at 09:05:00 by the rule ready"),
            (.retry, "retrying, due at 09:05:00: HTTP 500", "retrying for hook, due at 09:05:00: HTTP 500"),
            (.paused, "paused: HTTP 500", "paused for hook: HTTP 500"),
            (.dead, "dead at 08:56:00: HTTP 500", "dead for hook at 08:56:00: HTTP 500"),
            (.suppressed, "suppressed: HTTP 500", "suppressed for hook: HTTP 500"),
        ])
    func outcomes(state: DeliveryState, outcome: String, sentence: String) {
        let due = now.advanced(by: .seconds(300))
        let reason = [.sent, .pending].contains(state) ? nil : "HTTP 500"
        var status = Self.delivery(Self.event(1, 240, "a", "b"), "hook", state, reason)
        status.delivery.due = due
        func plain(_ text: String) -> String {
            text.replacing(LocalTime.text(ago(240), now: now), with: "08:56:00")
                .replacing(LocalTime.text(due, now: now), with: "09:05:00")
        }
        #expect(plain(DeliverySentence(status, now: now).outcome) == outcome)
        #expect(DeliverySentence.sentences([status], now: now).map(plain) == [sentence])
    }

    @Test("a wide terminal and a pipe break no line, and colours change no text")
    func wide() {
        #expect(screen(width: 120).contains { $0.hasSuffix("starts each morning") && $0.hasPrefix("description  ") })
        #expect(screen(width: nil) == screen(width: 120))
        let coloured = screen(Palette(isOn: true), width: 80)
        #expect(coloured[0] == "\u{1B}[1mPortal QA\u{1B}[0m")
        #expect(coloured[1].hasPrefix("\u{1B}[32mReady for use\u{1B}[0m since "))
        let bare = coloured.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        #expect(bare == screen(width: 80))
    }

    @Test("text is broken at spaces, in cells, and a word longer than a line within it")
    func wrapping() {
        func lines(_ text: String, _ width: Int?) -> [String] { WrappedText.lines(text, width: width).map(\.text) }
        #expect(lines("one two three", 7) == ["one two", "three"])
        #expect(lines("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"])
        #expect(lines("빌드 서버", 4) == ["빌드", "서버"])
        #expect(lines("a\nb\u{1B}[2J", nil) == ["a", #"b\x1b[2J"#])
        #expect(lines("", 10) == [""])
        func hanging(_ text: String, _ width: Int?) -> [String] {
            WrappedText.hanging(text, indent: 4, width: width).map(\.text)
        }
        let reason = "attempt 1: the server does not accept connections"
        #expect(hanging(reason, 40) == ["    attempt 1: the server does not", "      accept connections"])
        #expect(hanging(reason, nil) == ["    " + reason])
    }
}

@Suite("The items that list shows")
struct ShownItemTests {
    @Test(
        "of a window what came on the last day stays, though it left the window since, as after a burst; a list shows what is there"
    )
    func burst() {
        func row(_ key: String, _ hours: Double) -> ItemTable.Row {
            .init(item: Item(key: key), since: ago(hours * 3600))
        }
        let snapshot = ItemLookup.Snapshot(
            rows: [row("there", 50)], absentRows: [row("announced", 2), row("old", 30)],
            record: SourceRecord(name: "lab"),
            at: now)
        #expect(snapshot.shown(.window).map(\.item.key) == ["there", "announced"])
        #expect(
            snapshot.shown(.list).map(\.item.key) == ["there"] && snapshot.absent.map(\.key) == ["announced", "old"])
    }
}

@Suite("The line above the items of a source")
struct ListHeaderTests {
    private let source: Source = {
        struct Kind: SourceKind {
            var mode: ReadingMode { .list }
            var identity: UInt64 { 0 }
            var fingerprints: [String: UInt64] { [:] }
            var fieldNames: [String]? { nil }
            func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
            func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
        }
        return Source(
            name: "lab", kindName: "json", kind: Kind(), server: Server(name: ""), url: "http://127.0.0.1/",
            interval: PollInterval(every: .seconds(60)))
    }()

    private func header(isWatched: Bool = true, _ change: (inout SourceRecord) -> Void) -> (String, Bool) {
        var record = SourceRecord(name: "lab")
        record.snapshot = SnapshotHead(identity: 0, fingerprints: [:], goodAt: ago(12))
        change(&record)
        let header = ListHeader.text(record, source, isWatched: isWatched, now: now)
        return (header.text, header.isBad)
    }

    @Test("it tells the age, and why the items are older than they should be")
    func texts() {
        #expect(header { _ in } == ("read 12 s ago", false))
        #expect(header { $0.snapshot?.goodAt = ago(600) } == ("read 10 min ago, although it is due every 1 min", true))
        #expect(
            header(isWatched: false) { $0.snapshot?.goodAt = ago(600) } == ("read 10 min ago; no watcher runs", true))
        let failing = header {
            $0.health.failingSince = ago(60)
            $0.health.problem = Event.Problem(failure: "timeout", detail: "no answer within 30 s")
        }
        #expect(failing.0.hasPrefix("lab fails since ") && failing.1)
        #expect(failing.0.hasSuffix(": timeout: no answer within 30 s; read 12 s ago"))
        let empty = header { $0.snapshot?.emptiness = .init(polls: 2, since: ago(30)) }
        #expect(empty.0.hasPrefix("lab: the list turned empty (since ") && empty.0.contains("`vedette accept lab`"))
        let replaced = header { $0.snapshot?.emptiness = .init(polls: 2, since: ago(30), isReplaced: true) }
        #expect(replaced.0.hasPrefix("lab: something else came in the place of the list (since ") && replaced.1)
    }
}
