// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts polls under way per lane, so that bodies in memory stay bounded and slow hosts never take the places of hosts
/// that answer (I7).
struct PollSlots {
    /// Polls whose bodies are being fetched, read or compared; further ones wait.
    static let most = 512
    /// Of those, polls of hosts that time out.
    static let mostSlow = 64

    private var running: [Lane: Int] = [:]
    /// Due, but every slow host's slot is taken; in the order in which they became due.
    private(set) var waitingSlow: [WatchedSource] = []

    var isIdle: Bool { running.isEmpty }
    var hasFree: Bool { running[.polls, default: 0] < PollSlots.most }
    var hasFreeSlow: Bool { running[.slowHosts, default: 0] < PollSlots.mostSlow }

    mutating func take(_ lane: Lane) { running[lane, default: 0] += 1 }

    mutating func give(back lane: Lane) {
        let left = running[lane, default: 1] - 1
        running[lane] = left > 0 ? left : nil
    }

    mutating func wait(_ source: WatchedSource) { waitingSlow.append(source) }
    mutating func stopWaiting(_ source: WatchedSource) { waitingSlow.removeAll { $0 === source } }

    /// The next waiting source, when it may start or its origin answers again.
    mutating func nextWaiting(isSlow: (WatchedSource) -> Bool) -> WatchedSource? {
        guard let source = waitingSlow.first, hasFreeSlow || !isSlow(source) else { return nil }
        return waitingSlow.removeFirst()
    }
}
