// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

@Suite("`at` and `during` of a source")
struct CalendarOptionTests {
    private func calendar(_ options: String, windows: String = "windows: {office: {daily: 9:00-17:00}}\n") -> String? {
        let loaded = load(windows + "sources: {s: {kind: json, url: 'https://h/', \(options)}}")
        return loaded.configuration?.sources.first?.interval.calendar?.text ?? loaded.problems.first?.message
    }

    @Test("times have days and a zone where they need them")
    func times() throws {
        #expect(calendar("at: 08:00") == "at 08:00")
        #expect(
            calendar("at: ['08:00', 'mon-fri 17:30', 'sat,sun 9:00 Europe/Vienna']")
                == "at 08:00, mon-fri 17:30, sat,sun 9:00 Europe/Vienna")
        let loaded = load("sources: {s: {kind: json, url: 'https://h/', at: ['sat,sun 9:05 Europe/Vienna']}}")
        guard case .at(let times) = loaded.configuration?.sources.first?.interval.calendar?.plan else {
            Issue.record("no times")
            return
        }
        #expect(times.map(\.days) == [[6, 7]])
        #expect(times.map(\.time) == [CivilTimeOfDay(minutes: 545, zone: "Europe/Vienna")])
    }

    @Test("`during` names windows, which are then in use")
    func during() {
        #expect(calendar("every: 15m, during: office") == "during office")
        #expect(
            load(
                "windows: {office: {daily: 9:00-17:00}}\n"
                    + "sources: {s: {kind: json, url: 'https://h/', during: office}}\n"
                    + "sinks: {k: {kind: desktop}}\nrules: [{name: r, when: {source: s, appears: true}, notify: k}]"
            )
            .diagnostics == [])
        #expect(calendar("during: ofice") == "unknown window 'ofice'; did you mean 'office'?")
    }

    @Test("windows that have all ended are warned of: the source would never be polled")
    func ended() throws {
        func warnings(_ window: String) -> [String] {
            let findings = Findings()
            let text = "windows: {fair: {\(window)}}\nsources: {s: {kind: json, url: 'https://h/', during: fair}}"
            let files = [ConfigurationFile(path: "a.yaml", text: text, isPrivate: false)]
            let loader = ConfigurationLoader(
                sourceKinds: [StandInKind.json], sinkKinds: [], recurrence: { _, from, _ in [from] }, environment: [:],
                clock: StoppedClock())
            return loader.load(files, findings).diagnostics.map(\.message).filter { $0.hasPrefix("every window") }
        }
        let sentence =
            "every window of 'during' has ended, so that the source is not polled; write later dates into the window, or name another one"
        #expect(warnings("from: 2026-11-01, until: 2026-11-20") == [sentence])
        #expect(warnings("from: 2026-11-01, repeat: FREQ=MONTHLY, daily: 9:00-17:00") == [sentence])
        #expect(warnings("from: 2026-11-01, until: 2026-12-20") == [])
        #expect(warnings("from: 2026-12-01, until: 2026-12-20") == [])
        #expect(warnings("daily: 9:00-9:01") == [])
    }

    @Test(
        "a time that is none is refused",
        arguments: ["25:00", "24:00", "8", "mon", "mon 8", "fryday 08:00", "08:00 Mars"])
    func wrongTimes(text: String) {
        #expect(
            calendar("at: '\(text)'")
                == "'at' takes times as 08:00, \"mon-fri 17:30\", \"mon,thu 9:00\" and \"sat 9:00 Europe/Vienna\", not '\(text)'"
        )
    }

    @Test("`at` excludes `every` and `during`, and both exclude `stream`")
    func contradictions() {
        #expect(
            calendar("at: 08:00, every: 1h")
                == "'every' and 'at' exclude each other: 'at' has the times of all polls; remove one, or take 'during' for an interval in a part of the day"
        )
        #expect(
            calendar("at: 08:00, during: office")
                == "'during' and 'at' exclude each other; write the days into 'at' as \"mon-fri 17:30\"")
        for key in ["at: 08:00", "during: office"] {
            #expect(
                calendar("stream: true, items: a, key: id, \(key)")
                    == "'\(key.prefix { $0 != ":" })' is about polls, but 'stream' keeps a connection open at all times; remove one"
            )
        }
    }
}

/// A clock that shows the morning of 2026-11-21.
private struct StoppedClock: Clock {
    func now() -> Moment {
        Moment(
            wall: CivilDate(year: 2026, month: 11, day: 21).timestamp ?? Timestamp(milliseconds: 0),
            boot: BootTime(milliseconds: 0))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {}
}
