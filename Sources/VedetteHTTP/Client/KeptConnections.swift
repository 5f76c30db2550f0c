// SPDX-License-Identifier: Apache-2.0

/// Decides which connections are kept after their response: those of servers that are asked again before they would close
/// them. Each other one would take 39 KB for TLS.
///
/// Times are milliseconds of a clock that never jumps.
struct KeptConnections<Server: Hashable> {
    /// How long a server keeps an idle connection that does not say so. nginx has 75 s, Apache and Node say 5 s.
    private let usualKeepAlive: Int64 = 60_000
    /// libcurl uses no connection that was idle for longer, whatever the server says (CURLOPT_MAXAGE_CONN(3)).
    private let longestKeepAlive: Int64 = 118_000
    /// Servers that one sweep returns at most: to close a connection with TLS takes some tens of microseconds.
    static var mostSwept: Int { 64 }
    /// How long after the last one the servers that no longer need their places are looked for.
    private let sweepPause: Int64 = 10_000

    private struct State {
        var inFlight = 0
        /// The most requests at once since nothing was asked of it the last time.
        var mostInFlight = 0
        var endedAt: Int64 = 0
        /// How long nothing was asked of it the last time; nil until it was asked again.
        var pause: Int64?
        /// What it says of its connections; nil when it says nothing.
        var keepAlive: Int64?
        /// How many of its connections may be kept: as many as were under way at once.
        var places = 0
    }

    private let places: Int
    private let maximumKnown: Int
    private var taken = 0
    private var servers: [Server: State] = [:]
    private var sweptAt: Int64 = 0

    /// - Parameters:
    ///   - places: connections that are kept at most.
    ///   - maximumKnown: servers that are remembered (I8).
    init(places: Int, maximumKnown: Int = 16_384) { (self.places, self.maximumKnown) = (places, maximumKnown) }

    /// Notes that a request to a server begins.
    /// - Returns: whether its connection is kept.
    mutating func began(_ name: Server, now: Int64) -> Bool {
        if servers.count >= maximumKnown, servers[name] == nil { forgetIdle() }
        var server = servers[name] ?? State()
        let isBusy = server.inFlight > 0
        if !isBusy {
            if server.endedAt > 0 { server.pause = now - server.endedAt }
            giveBack(max(0, server.places - server.mostInFlight), of: &server)
            server.mostInFlight = 0
        }
        server.inFlight += 1
        server.mostInFlight = max(server.mostInFlight, server.inFlight)
        let isWanted = isBusy || (server.pause ?? 0) < keepAlive(of: server)
        var hasPlace = isWanted && server.inFlight <= server.places
        if isWanted, !hasPlace, taken < places {
            taken += 1
            server.places += 1
            hasPlace = true
        } else if !isWanted {
            giveBack(server.places, of: &server)
        }
        servers[name] = server
        return hasPlace
    }

    /// Notes that a request has ended.
    /// - Parameters:
    ///   - keepAlive: what the server said of its connections; nil when it said nothing.
    ///   - closes: whether it closes this one.
    mutating func ended(_ name: Server, keepAlive: Int64?, closes: Bool = false, now: Int64) {
        guard var server = servers[name] else { return }
        server.inFlight = max(0, server.inFlight - 1)
        server.endedAt = now
        if let keepAlive { server.keepAlive = keepAlive }
        if closes, server.inFlight == 0 { giveBack(min(1, server.places), of: &server) }
        servers[name] = server
    }

    /// Takes the places of servers that have closed their connections by now.
    /// - Returns: some of these servers, whose connections are to be closed here, too, and whether there are more; none within
    ///   ten seconds of the last time that there were no more.
    mutating func sweep(now: Int64) -> (servers: [Server], hasMore: Bool) {
        guard now - sweptAt >= sweepPause else { return ([], false) }
        let idle = servers.filter {
            $0.value.places > 0 && $0.value.inFlight == 0 && now - $0.value.endedAt >= keepAlive(of: $0.value)
        }
        let swept = idle.prefix(Self.mostSwept)
        for (name, server) in swept {
            servers[name]?.places = 0
            taken -= server.places
        }
        if swept.count == idle.count { sweptAt = now }
        return (swept.map(\.key), swept.count < idle.count)
    }

    private func keepAlive(of server: State) -> Int64 { min(server.keepAlive ?? usualKeepAlive, longestKeepAlive) }

    private mutating func giveBack(_ count: Int, of server: inout State) {
        taken -= count
        server.places -= count
    }

    /// Forgets the servers that have neither a request under way nor a connection that is kept.
    private mutating func forgetIdle() { servers = servers.filter { $0.value.inFlight > 0 || $0.value.places > 0 } }
}
