// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The announcement of configurations that differ")
struct DriftMonitorTests {
    private func at(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    /// Watchers whose numbers are their places, and the last of which was configured last.
    private func drift(_ configurations: String...) -> ConfigurationDrift {
        ConfigurationDrift(
            configurations.enumerated().map { index, configuration in
                RegisteredWatcher(
                    number: Int64(index + 1), name: "db\(index + 1)", process: WatcherProcess(pid: 1),
                    started: Timestamp(milliseconds: 0), configuration: configuration, configured: Int64(index),
                    left: .seconds(15))
            })
    }

    @Test("a difference is announced after a minute, once, by the watcher with the newest configuration")
    func once() throws {
        var (newest, other) = (DriftMonitor(), DriftMonitor())
        let drift = drift("a", "a", "b")
        for second: Int64 in [0, 59] { #expect(newest.change(drift, own: 3, at: at(second)) == nil) }
        let minute = newest.change(drift, own: 3, at: at(60))
        let change = try #require(minute)
        #expect(change == .differ(cause: "db1, db2 differ from db3, configured last"))
        #expect(newest.change(drift, own: 3, at: at(61)) == change, "until it is stored")
        newest.confirm(change)
        for second: Int64 in [62, 7200] { #expect(newest.change(drift, own: 3, at: at(second)) == nil) }
        for second: Int64 in [0, 60, 7200] { #expect(other.change(drift, own: 1, at: at(second)) == nil) }
    }

    @Test("a configuration that is copied to one machine after the other within a minute each is not announced")
    func rollout() {
        var monitors = Array(repeating: DriftMonitor(), count: 3)
        let steps: [(second: Int64, drift: ConfigurationDrift)] = [
            (0, drift("a", "a", "b")), (50, drift("a", "b", "b")), (100, drift("b", "b", "b")),
            (200, drift("b", "b", "b")),
        ]
        for step in steps {
            for i in monitors.indices {
                #expect(monitors[i].change(step.drift, own: Int64(i + 1), at: at(step.second)) == nil)
            }
        }
    }

    @Test("another difference is announced again, and so is its end, by the watcher that announced it")
    func changes() throws {
        var monitor = DriftMonitor()
        func announce(_ drift: ConfigurationDrift, from begin: Int64) -> DriftMonitor.Change? {
            _ = monitor.change(drift, own: 3, at: at(begin))
            let change = monitor.change(drift, own: 3, at: at(begin + 60))
            if let change { monitor.confirm(change) }
            return change
        }
        #expect(announce(drift("a", "a", "b"), from: 0) != nil)
        #expect(announce(drift("a", "b", "b"), from: 100) == .differ(cause: "db1 differs from db3, configured last"))
        #expect(announce(drift("b", "b", "b"), from: 200) == .agree)
        #expect(announce(drift("b", "b", "b"), from: 300) == nil)
        #expect(announce(drift("a", "b", "b"), from: 400) != nil, "the same difference as before, but a new one")
    }
}
