// SPDX-License-Identifier: Apache-2.0

import CMicrohttpd
import Glibc

/// The open connections, and the limits on their number and time. It belongs to the server's thread.
///
/// libmicrohttpd 0.9.75 has one time limit, for silence. A client that sends or takes a byte now and then keeps within it for
/// ever, so the deadlines here are for whole requests and responses instead.
struct OpenConnections {
    private struct Connection {
        let socket: Int32
        let peer: PageRequest.Peer
        /// Why it was beyond a limit when it was opened, so that it is for a health check alone; nil for any other.
        let excess: String?
        /// Nil while its handler or stream is waited for without limit.
        var deadline: ContinuousClock.Instant?
        var exchange: Exchange?

        /// Whether its request is not complete.
        var isReading: Bool {
            switch exchange?.stage {
            case nil, .head, .body: true
            case .handling, .answered, .responding: false
            }
        }
    }

    private let limits: PageLimits
    private var connections: [OpaquePointer: Connection] = [:]
    /// How many connections each address has; those that have none are left out.
    private var countOf: [PageRequest.Peer: Int] = [:]
    /// No deadline is earlier; nil for none.
    private(set) var nextDeadline: ContinuousClock.Instant?

    init(_ limits: PageLimits) { self.limits = limits }

    /// The response on a connection that is beyond a limit.
    static func busy(_ reason: String) -> PageResponse {
        .refusal(503, reason, headers: [HeaderField("Retry-After", "5")])
    }

    /// Why a new connection is to be refused; nil when there is room for it. Beyond the limits there is room for health
    /// checks: the oldest that has sent no request gives way.
    mutating func refusal(of peer: PageRequest.Peer) -> PageResponse? {
        guard let reason = excess(of: peer) else { return nil }
        // Those that were refused have no deadline, and are about to be closed.
        let open = connections.filter { $0.value.excess != nil && $0.value.deadline != nil }
        guard open.count >= limits.healthChecks else { return nil }
        let unread = open.filter { $0.value.isReading }
        guard let oldest = unread.min(by: { $0.value.deadline ?? .now < $1.value.deadline ?? .now }) else {
            return OpenConnections.busy(reason)
        }
        end(oldest.key)
        return nil
    }

    /// Why a new connection is beyond a limit; nil when it is not.
    private func excess(of peer: PageRequest.Peer) -> String? {
        if connections.count >= limits.connections {
            return "\(limits.connections) connections are open, the most that this page takes."
        }
        guard peer != .local, countOf[peer, default: 0] >= limits.connectionsPerAddress else { return nil }
        return "\(limits.connectionsPerAddress) connections of this address are open, the most that it may have."
    }

    mutating func opened(_ connection: OpaquePointer) {
        let peer = PageRequest.Peer(cm_peer(connection))
        let excess = excess(of: peer)
        connections[connection] = Connection(socket: cm_socket(connection), peer: peer, excess: excess)
        countOf[peer, default: 0] += 1
        setDeadline(of: connection, in: excess == nil ? limits.receive : limits.healthCheckReceive)
    }

    mutating func closed(_ connection: OpaquePointer) {
        guard let peer = connections.removeValue(forKey: connection)?.peer else { return }
        let count = countOf[peer, default: 1] - 1
        countOf[peer] = count > 0 ? count : nil
    }

    func peer(of connection: OpaquePointer) -> PageRequest.Peer { connections[connection]?.peer ?? .local }

    /// The descriptor of a connection; -1 for none.
    func socket(of connection: OpaquePointer) -> Int32 { connections[connection]?.socket ?? -1 }

    func excess(of connection: OpaquePointer) -> String? { connections[connection]?.excess }

    mutating func begin(_ exchange: Exchange) { connections[exchange.connection]?.exchange = exchange }

    mutating func completed(_ exchange: Exchange) {
        connections[exchange.connection]?.exchange = nil
        // One beyond the limits ends with its response.
        setDeadline(of: exchange.connection, in: exchange.excess == nil ? limits.receive : nil)
    }

    mutating func setDeadline(of connection: OpaquePointer, in limit: Duration?) {
        let deadline = limit.map { ContinuousClock.now + $0 }
        connections[connection]?.deadline = deadline
        nextDeadline = [nextDeadline, deadline].compactMap { $0 }.min()
    }

    /// Closes the connections of slow clients.
    /// - Returns: the requests whose handlers take too long.
    mutating func cutOffLate() -> [Exchange] {
        let now = ContinuousClock.now
        guard let due = nextDeadline, due <= now else { return [] }
        nextDeadline = nil
        var late: [Exchange] = []
        for (pointer, connection) in connections {
            guard let deadline = connection.deadline else { continue }
            if deadline > now {
                nextDeadline = [nextDeadline, deadline].compactMap { $0 }.min()
            } else if let exchange = connection.exchange, case .handling = exchange.stage {
                late.append(exchange)
            } else {
                end(pointer)
            }
        }
        return late
    }

    /// Ends a connection. The library sees its end, and closes it.
    private mutating func end(_ pointer: OpaquePointer) {
        guard let connection = connections[pointer] else { return }
        connections[pointer]?.deadline = nil
        if let reason = connection.excess, connection.isReading {
            let bytes = OpenConnections.busy(reason).closing
            // Nothing was sent on it, and a new connection has room for these few bytes.
            _ = send(connection.socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }
}
