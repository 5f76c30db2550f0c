// SPDX-License-Identifier: Apache-2.0

/// Decides which connections are kept after their response: those of servers that are asked again before they would close
/// them. Each other one would take 39 KB for TLS.
///
/// Times are milliseconds of a clock that never jumps.
struct KeptConnections {
    /// How long a server keeps an idle connection that does not say so. nginx has 75 s, Apache and Node say 5 s.
    static let usualKeepAlive: Int64 = 60_000
    /// Servers that are remembered (I8).
    static let maximumKnown = 16_384
    /// How long after the last one the servers that no longer need their place are looked for.
    static let sweepPause: Int64 = 10_000

    private struct Server {
        var inFlight = 0
        var endedAt: Int64 = 0
        /// How long nothing was asked of it the last time; nil until it was asked again.
        var pause: Int64?
        var keepAlive = KeptConnections.usualKeepAlive
        /// Connections of it that are kept: as many as were under way at once.
        var places = 0
    }

    private let places: Int
    private var taken = 0
    private var servers: [String: Server] = [:]
    private var sweptAt: Int64 = 0

    /// - Parameter places: connections that are kept at most.
    init(places: Int) { self.places = places }

    /// Notes that a request to a server begins.
    /// - Returns: whether its connection is kept.
    mutating func began(_ name: String, now: Int64) -> Bool {
        if servers.count >= Self.maximumKnown, servers[name] == nil { forgetIdle() }
        var server = servers[name] ?? Server()
        let isBusy = server.inFlight > 0
        if !isBusy, server.endedAt > 0 { server.pause = now - server.endedAt }
        server.inFlight += 1
        let isWanted = isBusy || (server.pause ?? 0) < server.keepAlive
        var hasPlace = isWanted && server.inFlight <= server.places
        if isWanted, !hasPlace, takePlace(now) {
            server.places += 1
            hasPlace = true
        } else if !isWanted {
            taken -= server.places
            server.places = 0
        }
        servers[name] = server
        return hasPlace
    }

    /// Notes that a request has ended.
    /// - Parameter keepAlive: what the server said of its connections; nil when it said nothing.
    mutating func ended(_ name: String, keepAlive: Int64?, now: Int64) {
        guard var server = servers[name] else { return }
        server.inFlight = max(0, server.inFlight - 1)
        server.endedAt = now
        if let keepAlive { server.keepAlive = keepAlive }
        servers[name] = server
    }

    private mutating func takePlace(_ now: Int64) -> Bool {
        if taken >= places, now - sweptAt >= Self.sweepPause { sweep(now) }
        guard taken < places else { return false }
        taken += 1
        return true
    }

    /// Takes the places of servers that have closed their connections by now.
    private mutating func sweep(_ now: Int64) {
        sweptAt = now
        for (name, server) in servers
        where server.places > 0 && server.inFlight == 0 && now - server.endedAt >= server.keepAlive {
            servers[name]?.places = 0
            taken -= server.places
        }
    }

    /// Forgets the servers of which nothing is asked at the moment.
    private mutating func forgetIdle() {
        servers = servers.filter { $0.value.inFlight > 0 }
        taken = servers.values.reduce(0) { $0 + $1.places }
    }
}
