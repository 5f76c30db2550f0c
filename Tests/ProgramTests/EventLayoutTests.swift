// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteSinks
import VedetteText

@testable import vedette

@Suite("The screen of tail")
struct EventLayoutTests {
    private static let now = Timestamp(rfc3339: "2026-11-22T09:00:00Z")!

    @Sendable private static func utc(_ time: Timestamp) -> LocalTime.Moment {
        let text = time.rfc3339
        let weekday = text.hasPrefix("2026-11-21") ? "Sat" : "Sun"
        return LocalTime.Moment(
            date: String(text.prefix(10)), clock: String(text.dropFirst(11).prefix(8)), weekday: weekday)
    }

    private static func event(
        _ seq: Int64, _ kind: Event.Kind, _ time: String, _ source: String = "lab-systems",
        kind sourceKind: String = "json",
        title: String? = nil, state: String? = nil, url: String? = nil, changes: [FieldChange] = []
    ) -> Event {
        let time = Timestamp(rfc3339: "2026-11-\(time)Z")!
        var event = Event(
            id: SystemRandomGenerator().identifier(at: time), seq: seq, kind: kind, time: time, source: source,
            sourceKind: sourceKind, poll: "p-1", changes: changes)
        if let title { event.item = Item(key: "59", title: title, state: state, url: url) }
        return event
    }

    private static func state(_ from: String, _ to: String, _ lasted: Double? = nil) -> [FieldChange] {
        [FieldChange(field: "state", from: .text(from), to: .text(to), lasted: lasted)]
    }

    /// A day of a lab: changes, a new entry, a failure, a long text, wide and combining characters.
    private static let day: [(event: Event, mark: DeliveryMark)] = {
        var failing = event(170, .failing, "21T23:59:59", "blog-updates")
        failing.error = Event.Problem(failure: "timeout", detail: "no answer from connections.example.com within 30 s")
        let owner = FieldChange(field: "owner", from: "ann", to: "bob")
        return [
            (
                event(
                    168, .changed, "21T23:41:07", kind: "cloudburst", title: "WAS lab clone 05", state: "Started",
                    changes: state("Starting", "Started", 252)), .none
            ),
            (
                event(
                    169, .appeared, "21T23:58:00", "blog-updates",
                    title: "A new post with a title that is much longer than a terminal is wide, as titles often are"),
                .sent
            ),
            (failing, .dead),
            (
                event(
                    171, .changed, "22T00:00:01", title: "Portal QA", state: "Ready for use",
                    changes: state("Started", "Ready for use", 6)), .sent
            ),
            (
                event(
                    172, .changed, "22T00:00:02", title: "빌드 서버 Größe", state: "FAILED",
                    changes: state("in_progress", "FAILED")), .sent
            ),
            (event(173, .changed, "22T00:00:03", title: "e\u{301}te\u{301}", changes: [owner]), .none),
        ]
    }()

    private func screen(_ palette: Palette = .plain, width: Int?) -> [StyledText] {
        var layout = EventLayout(palette, numbers: 999, now: Self.now, moment: Self.utc)
        return Self.day.flatMap { layout.lines(of: $0.event, $0.mark, width: width) }
    }

    @Test("at 80 columns each event is one line, and each day has a line")
    func narrow() {
        #expect(
            screen(width: 80).map(\.text) == [
                "Sat 2026-11-21",
                "23:41:07 168   lab-systems  WAS lab clone 05  Starting → Started (after 4 min…",
                "23:58:00 169 * blog-updates  A new post with a title that is much…  appeared",
                "23:59:59 170 ! blog-updates  failing: no answer from connections.example.com…",
                "Sun 2026-11-22",
                "00:00:01 171 * lab-systems   Portal QA  Started → Ready for use (after 6 s)",
                "00:00:02 172 * lab-systems   빌드 서버 Größe  in_progress → FAILED",
                "00:00:03 173   lab-systems   e\u{301}te\u{301}  owner: ann → bob",
            ])
        #expect(screen(width: 80).allSatisfy { $0.width <= 80 })
    }

    @Test("at 120 columns there is room for more")
    func wide() {
        let lines = screen(width: 120)
        #expect(lines[1].text == "23:41:07 168   lab-systems  WAS lab clone 05  Starting → Started (after 4 min 12 s)")
        #expect(
            lines[2].text
                == "23:58:00 169 * blog-updates  A new post with a title that is much longer than a terminal is wide, as titles…  appeared"
        )
        #expect(lines.allSatisfy { $0.width <= 120 })
    }

    @Test("at any width no line is wider than the terminal", arguments: [10, 20, 32, 33, 40, 60, 79, 100, 200])
    func widths(_ width: Int) {
        #expect(screen(width: width).allSatisfy { $0.width <= width })
        #expect(screen(Palette(isOn: true), width: width).map(\.width) == screen(width: width).map(\.width))
    }

    @Test("a state is red when it is bad, yellow when it is on its way, green when it is good")
    func colours() {
        let lines = screen(Palette(isOn: true), width: 80).map(\.text)
        #expect(lines[0] == "\u{1B}[2mSat 2026-11-21\u{1B}[0m")
        #expect(
            lines[5]
                == "\u{1B}[2m00:00:01\u{1B}[0m 171 \u{1B}[36m*\u{1B}[0m \u{1B}[36mlab-systems\u{1B}[0m   Portal QA  "
                + "Started → \u{1B}[32mReady for use\u{1B}[0m (after 6 s)")
        // The kind of CloudBurst says that a started system is not yet ready.
        #expect(lines[1].contains("\u{1B}[33mStarted\u{1B}[0m"))
        #expect(lines[3].contains("\u{1B}[31mfailing\u{1B}[0m: no answer"))
        #expect(lines[6].contains("\u{1B}[31mFAILED\u{1B}[0m"))
    }

    @Test("a pipe gets whole lines with the date, and no line of a day")
    func pipe() {
        let lines = screen(width: nil).map(\.text)
        #expect(lines.count == Self.day.count)
        #expect(lines[1].hasSuffix("much longer than a terminal is wide, as titles often are  appeared"))
        #expect(lines[0].hasPrefix("2026-11-21 23:41:07 168   lab-systems  WAS lab clone 05  "))
    }

    @Test("a title is a link where the terminal has them, to a plain address alone")
    func links() {
        func line(_ url: String, _ links: Hyperlinks) -> String {
            var layout = EventLayout(.plain, links: links, numbers: 1, now: Self.now, moment: Self.utc)
            let event = Self.event(1, .appeared, "22T08:00:00", title: "post", url: url)
            return layout.lines(of: event, .none, width: 80)[0].text
        }
        let (on, url) = (Hyperlinks(isOn: true), "https://blog.example.com/1?a=b")
        #expect(line(url, on).contains("\u{1B}]8;;\(url)\u{1B}\\post\u{1B}]8;;\u{1B}\\  appeared"))
        #expect(!line(url, .none).contains("\u{1B}"))
        for hostile in [
            "https://a\u{1B}\\[2J", "https://a\u{7}", "javascript:alert(1)", "https://a b", "file:///etc/passwd",
        ] {
            #expect(!line(hostile, on).contains("\u{1B}"))
        }
    }

    @Test(
        "links are for the terminals that are known to have them",
        arguments: [
            ([:], false), (["TERM": "xterm-256color"], false), (["VTE_VERSION": "6003"], true),
            (["VTE_VERSION": "4205"], false),
            (["TERM": "xterm-kitty"], true), (["TERM_PROGRAM": "vscode"], true),
            (["VTE_VERSION": "6003", "TMUX": "/tmp/tmux"], false), (["FORCE_HYPERLINK": "1", "TMUX": "x"], true),
            (["FORCE_HYPERLINK": "0", "VTE_VERSION": "6003"], false),
        ] as [([String: String], Bool)])
    func terminals(_ environment: [String: String], _ expected: Bool) {
        #expect(Hyperlinks(environment, isTerminal: true).isOn == expected)
        #expect(!Hyperlinks(environment.filter { $0.key != "FORCE_HYPERLINK" }, isTerminal: false).isOn)
    }

    @Test("an event is marked as sent while a message is on its way, and as dead when none is left")
    func marks() {
        #expect(DeliveryMark([]) == .none)
        #expect(DeliveryMark([.suppressed]) == .none)
        #expect(DeliveryMark([.pending, .dead]) == .sent)
        #expect(DeliveryMark([.sent, .suppressed]) == .sent)
        #expect(DeliveryMark([.dead, .suppressed]) == .dead)
    }

    @Test("a type is its word or its whole name, and an unknown one names the nearest")
    func types() throws {
        #expect(try EventSelection.kind("appeared") == .appeared)
        #expect(try EventSelection.kind("Failing") == .failing)
        #expect(try EventSelection.kind("io.vedette.source.stale") == .stale)
        #expect(throws: Exit.self) { try EventSelection.kind("digest") }
        do {
            _ = try EventSelection.kind("apeared")
            Issue.record("no error")
        } catch { #expect("\(error)" == "no event is of the type 'apeared'; did you mean 'appeared'?") }
    }

    @Test("the times of --since are durations and times of the past")
    func times() throws {
        let reader = LocalTimeReader(zone: "UTC")
        func time(_ text: String) throws -> String { try EventSelection.time(text, now: Self.now, reader).rfc3339 }
        #expect(try time("1h") == "2026-11-22T08:00:00.000Z")
        #expect(try time("08:30") == "2026-11-22T08:30:00.000Z")
        #expect(try time("yesterday") == "2026-11-21T00:00:00.000Z")
        for text in ["tomorrow", "2026-12-01", "soon", ""] { #expect(throws: Exit.self) { try time(text) } }
    }
}
