// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Counts polls under way per lane, so that bodies in memory stay bounded and slow hosts never take the slots of hosts
/// that answer (I7).
struct PollSlots {
    /// Polls of hosts that answer whose bodies are being fetched, read or compared; further ones wait.
    static let maximum = 512
    /// Polls of hosts that time out, beside those.
    static let maximumSlow = 64

    /// Streams of one origin that are open at once.
    static let maximumStreamsOfOrigin = 8

    private var running: [Lane: Int] = [:]
    private var streams: [String: Int] = [:]
    /// Sources that are due while every slot of slow hosts is taken, by origin, in the order in which they became due.
    private var waiting: [String: [WatchedSource]] = [:]
    /// The origins of `waiting`, the one whose turn is next first.
    private var origins: [String] = []

    var isIdle: Bool { running.isEmpty }
    var hasOnlyStreams: Bool { running.keys.allSatisfy { $0 == .streams } }
    var hasFree: Bool { running[.polls, default: 0] < PollSlots.maximum }
    var hasFreeSlow: Bool { running[.slowHosts, default: 0] < PollSlots.maximumSlow }

    /// Why no stream of an origin may be opened, so that its source is polled; nil when one may.
    func obstacleToStream(of origin: String) -> String? {
        if running[.streams, default: 0] >= Lane.streams.slots {
            return "\(Lane.streams.slots) streams are open already"
        }
        if streams[origin, default: 0] >= PollSlots.maximumStreamsOfOrigin {
            return "\(PollSlots.maximumStreamsOfOrigin) streams of its server are open already"
        }
        return nil
    }

    mutating func take(_ lane: Lane, of origin: String) {
        running[lane, default: 0] += 1
        if lane == .streams { streams[origin, default: 0] += 1 }
    }

    /// - Parameter origin: of the source when the slot was taken.
    mutating func release(_ lane: Lane, of origin: String) {
        let left = running[lane, default: 1] - 1
        running[lane] = left > 0 ? left : nil
        guard lane == .streams else { return }
        let open = streams[origin, default: 1] - 1
        streams[origin] = open > 0 ? open : nil
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
