// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The announcement of configurations that differ")
struct DriftMonitorTests {
    private func at(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    /// Watchers whose numbers are their places.
    /// - Parameter newest: the number of the one that was configured last; nil for the last one.
    private func drift(_ configurations: String..., newest: Int? = nil) -> ConfigurationDrift {
        ConfigurationDrift(
            configurations.enumerated().map { index, configuration in
                RegisteredWatcher(
                    number: Int64(index + 1), name: "db\(index + 1)", process: WatcherProcess(pid: 1),
                    started: Timestamp(milliseconds: 0), configuration: configuration,
                    configured: index + 1 == newest ? 99 : Int64(index), left: .seconds(15))
            })
    }

    /// Watchers over one journal, which look one after the other.
    private struct Watchers {
        var monitors: [DriftMonitor]
        var events: [Event] = []
        var words: [String] { events.map(\.kind.word) }

        init(_ count: Int) { monitors = Array(repeating: DriftMonitor(), count: count) }

        mutating func look(_ drift: ConfigurationDrift, at now: BootTime) {
            for index in monitors.indices where monitors[index].mustCompare(drift, own: Int64(index + 1), at: now) {
                if let change = DriftMonitor.change(drift, since: events.last) {
                    // As a journal has it.
                    let event = change.event(
                        id: Identifier("\(events.count)"), at: Timestamp(milliseconds: now.milliseconds))
                    if let stored = Event(json: event.json) { events.append(stored) }
                }
                monitors[index].settle()
            }
        }

        mutating func restart(_ number: Int) { monitors[number - 1] = DriftMonitor() }
    }

    @Test("a difference is announced after a minute, once, by the watcher with the newest configuration")
    func once() {
        var watchers = Watchers(3)
        let drift = drift("a", "a", "b")
        for second: Int64 in [0, 59] { watchers.look(drift, at: at(second)) }
        #expect(watchers.events.isEmpty)
        for second: Int64 in [60, 61, 7200] { watchers.look(drift, at: at(second)) }
        #expect(watchers.words == ["unequal"])
        #expect(
            watchers.events.first?.error?.detail
                == "db1, db2 differ from db3, configured last: give all watchers the same files, and reload them")
    }

    @Test("what could not be stored is compared again")
    func stored() {
        var monitor = DriftMonitor()
        let drift = drift("a", "b")
        func mustCompare(own: Int64, at second: Int64) -> Bool {
            monitor.mustCompare(drift, own: own, at: at(second))
        }
        #expect(mustCompare(own: 2, at: 0) == false)
        for second: Int64 in [60, 65] { #expect(mustCompare(own: 2, at: second)) }
        monitor.settle()
        #expect(mustCompare(own: 2, at: 70) == false)
        #expect(mustCompare(own: 1, at: 7200) == false, "not the newest")
    }

    @Test("a configuration that is copied to one machine after the other within a minute each is not announced")
    func rollout() {
        var watchers = Watchers(3)
        watchers.look(drift("a", "a", "b"), at: at(0))
        watchers.look(drift("a", "b", "b", newest: 2), at: at(50))
        for second: Int64 in [100, 200] { watchers.look(drift("b", "b", "b", newest: 1), at: at(second)) }
        #expect(watchers.events.isEmpty)
    }

    @Test("a slow roll-out is announced once, and so is its end, whichever watcher is the newest, over restarts")
    func slowRollout() {
        var watchers = Watchers(3)
        let steps = [drift("a", "a", "b"), drift("a", "b", "b", newest: 2), drift("b", "b", "b", newest: 1)]
        for (index, step) in steps.enumerated() {
            for second in stride(from: Int64(index) * 600, to: Int64(index + 1) * 600, by: 5) {
                if second % 100 == 0 { watchers.restart(Int(second / 100 % 3) + 1) }
                watchers.look(step, at: at(second))
            }
        }
        #expect(watchers.words == ["unequal", "equal"])
    }

    @Test("another new configuration is announced again, and so is the same one after an agreement")
    func changes() {
        var watchers = Watchers(3)
        func words(_ drift: ConfigurationDrift, from begin: Int64) -> [String] {
            let before = watchers.events.count
            for second: Int64 in [0, 60, 120] { watchers.look(drift, at: at(begin + second)) }
            return Array(watchers.words.dropFirst(before))
        }
        #expect(words(drift("a", "a", "b"), from: 0) == ["unequal"])
        #expect(words(drift("a", "a", "c"), from: 1000) == ["unequal"])
        #expect(words(drift("c", "c", "c"), from: 2000) == ["equal"])
        #expect(words(drift("c", "c", "c"), from: 3000) == [])
        #expect(words(drift("a", "c", "c"), from: 4000) == ["unequal"])
    }
}
