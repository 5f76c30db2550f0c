// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts polls under way per lane, so that bodies in memory stay bounded and slow hosts never take the slots of hosts
/// that answer (I7).
struct PollSlots {
    /// Polls of hosts that answer whose bodies are being fetched, read or compared; further ones wait.
    static let maximum = 512
    /// Polls of hosts that time out, beside those.
    static let maximumSlow = 64

    private var running: [Lane: Int] = [:]
    /// Sources that are due while every slot of slow hosts is taken, by origin, in the order in which they became due.
    private var waiting: [String: [WatchedSource]] = [:]
    /// The origins of `waiting`, the one whose turn is next first.
    private var origins: [String] = []

    var isIdle: Bool { running.isEmpty }
    var hasFree: Bool { running[.polls, default: 0] < PollSlots.maximum }
    var hasFreeSlow: Bool { running[.slowHosts, default: 0] < PollSlots.maximumSlow }

    mutating func take(_ lane: Lane) { running[lane, default: 0] += 1 }

    mutating func release(_ lane: Lane) {
        let left = running[lane, default: 1] - 1
        running[lane] = left > 0 ? left : nil
    }

    mutating func wait(_ source: WatchedSource) {
        if waiting[source.origin] == nil { origins.append(source.origin) }
        waiting[source.origin, default: []].append(source)
    }

    /// - Returns: whether the source was waiting.
    @discardableResult
    mutating func stopWaiting(_ source: WatchedSource) -> Bool {
        // By identity: a reload may have changed its origin.
        guard let origin = origins.first(where: { waiting[$0]?.contains { $0 === source } == true }) else {
            return false
        }
        waiting[origin]?.removeAll { $0 === source }
        removeIfEmpty(origin)
        return true
    }

    /// Takes the next waiting source: of an origin that answers again, else, when there is a slot, of the origin whose turn
    /// it is, so that one host with many sources delays no other.
    mutating func nextWaiting(isSlow: (WatchedSource) -> Bool) -> WatchedSource? {
        let recovered = origins.firstIndex { waiting[$0]?.first.map { !isSlow($0) } ?? false }
        guard let turn = recovered ?? (hasFreeSlow ? origins.indices.first : nil) else { return nil }
        let origin = origins.remove(at: turn)
        origins.append(origin)
        let source = waiting[origin]?.removeFirst()
        removeIfEmpty(origin)
        return source
    }

    private mutating func removeIfEmpty(_ origin: String) {
        guard waiting[origin]?.isEmpty ?? true else { return }
        waiting[origin] = nil
        origins.removeAll { $0 == origin }
    }
}
