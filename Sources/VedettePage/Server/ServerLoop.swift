// SPDX-License-Identifier: Apache-2.0

import CMicrohttpd
import Glibc

/// The server's thread and its state: it drives libmicrohttpd, and cuts off clients that miss a deadline. Only handlers and
/// streams run elsewhere, while their connection is suspended.
///
/// libmicrohttpd 0.9.75 has one time limit, for silence. A client that sends or takes a byte now and then keeps within it for
/// ever, so the deadlines here are those of whole requests and responses instead.
final class ServerLoop {
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

    typealias Respond = @Sendable (PageRequest) async -> PageResponse

    private let acceptor: Acceptor
    private let messages: LoopMessages
    private let limits: PageLimits
    private let healthChecks: Set<String>
    private let respond: Respond
    private var daemon: OpaquePointer?
    private var connections: [OpaquePointer: Connection] = [:]
    /// How many connections each address has; those that have none are left out.
    private var connectionsOf: [PageRequest.Peer: Int] = [:]
    private var exchanges: [Int: Exchange] = [:]
    private var lastID = 0
    /// Requests that wait for a handler.
    private var waiting: [(id: Int, request: PageRequest)] = []
    private var handlers = 0
    private var streams = 0
    /// No deadline is earlier; nil for none.
    private var nextDeadline: ContinuousClock.Instant?
    private var isStopping = false
    private var rate: RequestRate
    /// Of health checks, so that no other request uses it up.
    private var healthRate: RequestRate

    /// - Returns: nil when the system lacks memory or descriptors.
    init?(
        _ socket: ListenSocket, _ messages: LoopMessages, _ limits: PageLimits, _ healthChecks: Set<String>,
        _ respond: @escaping Respond
    ) {
        (self.messages, self.limits, self.respond) = (messages, limits, respond)
        self.healthChecks = healthChecks
        acceptor = Acceptor(socket)
        rate = RequestRate(burst: limits.requestBurst, perSecond: limits.requestsPerSecond)
        healthRate = RequestRate(burst: limits.healthCheckBurst, perSecond: limits.healthChecksPerSecond)
        // The limit is kept before a connection is added; should libmicrohttpd add it later, as many more fit.
        let bounds = cm_limits(
            connections: UInt32(limits.connections + limits.healthChecks + ServerLoop.maximumAccepted),
            memory: limits.head)
        daemon = cm_start(
            Unmanaged.passUnretained(self).toOpaque(), bounds, handleCallback, beginCallback,
            completedCallback, connectionCallback, unescapeCallback)
        guard daemon != nil else { return nil }
    }

    /// Serves until a message asks for the end.
    func run() {
        var stopped: (@Sendable () -> Void)?
        while stopped == nil {
            for message in messages.take() {
                switch message {
                case .response(let response, to: let id):
                    handlers -= 1
                    answer(id, response)
                case .health(let response, to: let id): answer(id, response)
                case .part(let bytes, of: let id): take(bytes, id)
                case .stop(let call): stopped = call
                }
            }
            acceptConnections()
            MHD_run(daemon)
            startHandlers()
            cutOffLate()
            if stopped == nil { sleep() }
        }
        end()
        stopped?()
        for case .stop(let call) in messages.close() { call() }
    }

    private func sleep() {
        var left: UInt64 = 0
        var limit = MHD_get_timeout(daemon, &left) == .YES ? Int64(clamping: left) : -1
        if let nextDeadline {
            let wait = max(0, (nextDeadline - .now) / .milliseconds(1) + 1)
            limit = limit < 0 ? Int64(wait) : min(limit, Int64(wait))
        }
        let (listening, pause) = acceptor.polled(at: .now)
        if let pause {
            let wait = Int64(pause / .milliseconds(1) + 1)
            limit = limit < 0 ? wait : min(limit, wait)
        }
        var polled = [cm_epoll(daemon), messages.readable, listening].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = poll(&polled, nfds_t(polled.count), Int32(clamping: limit))
    }

    private func end() {
        isStopping = true
        for exchange in exchanges.values {
            exchange.task?.cancel()
            // libmicrohttpd aborts the process when it is stopped with a suspended connection.
            resume(exchange)
        }
        MHD_stop_daemon(daemon)
        acceptor.stop()
    }

    // MARK: Requests

    fileprivate func begin(_ connection: OpaquePointer, target: String) -> Exchange {
        lastID += 1
        let exchange = Exchange(id: lastID, connection: connection, target: target, loop: self)
        exchanges[lastID] = exchange
        connections[connection]?.exchange = exchange
        return exchange
    }

    /// Takes the headers, each part of the body, the end of the request and the response to it, one a call.
    fileprivate func handle(_ exchange: Exchange, method: String, upload: UnsafeRawBufferPointer) -> MHD_Result {
        guard !isStopping else { return .NO }
        switch exchange.stage {
        case .head:
            exchange.headers = headers(of: exchange.connection)
            exchange.stage = .body
            switch RequestFraming.check(method: method, exchange.headers, bodyLimit: limits.body) {
            case .success(let method): exchange.method = method
            case .failure(let refusal): return queue(refusal.response, exchange, closes: true)
            }
            if let reason = connections[exchange.connection]?.excess, !isHealthCheck(exchange) {
                return queue(ServerLoop.busy(reason), exchange, closes: true)
            }
            return .YES
        case .body where !upload.isEmpty:
            // Its length was checked, and libmicrohttpd reads no more than that.
            exchange.body.append(contentsOf: upload)
            return .YES
        case .body:
            let request = PageRequest(
                exchange.method, exchange.target, headers: exchange.headers, body: exchange.body,
                peer: connections[exchange.connection]?.peer ?? .local)
            guard let request else {
                return queue(.refusal(400, "The address of the request is malformed."), exchange, closes: true)
            }
            let isHealthCheck = isHealthCheck(exchange)
            guard
                isHealthCheck ? healthRate.take(request.peer, at: .now) : rate.take(request.peer, at: .now)
            else {
                let wait = HeaderField("Retry-After", "1")
                return queue(.refusal(429, "Too many requests.", headers: [wait]), exchange)
            }
            guard isHealthCheck || waiting.count < limits.queue else {
                return queue(.refusal(503, "Too many requests wait."), exchange, closes: true)
            }
            exchange.stage = .handling
            suspend(exchange, within: limits.handle)
            if isHealthCheck {
                startHealthCheck(exchange, request)
            } else {
                waiting.append((exchange.id, request))
            }
            return .YES
        case .answered(let response): return queue(response, exchange)
        case .handling, .responding: return .YES
        }
    }

    private func isHealthCheck(_ exchange: Exchange) -> Bool {
        let isRead = exchange.method == .get || exchange.method == .head
        return isRead && healthChecks.contains(String(exchange.target.prefix { $0 != "?" }))
    }

    /// A connection has one at a time, so that the connections bound their number.
    private func startHealthCheck(_ exchange: Exchange, _ request: PageRequest) {
        exchange.task = Task(priority: .high) { [respond, messages, id = exchange.id] in
            messages.post(.health(await respond(request), to: id))
        }
    }

    private func startHandlers() {
        while handlers < limits.handlers, !waiting.isEmpty {
            let (id, request) = waiting.removeFirst()
            guard let exchange = exchanges[id], case .handling = exchange.stage else { continue }
            handlers += 1
            exchange.task = Task(priority: .utility) { [respond, messages] in
                messages.post(.response(await respond(request), to: id))
            }
        }
    }

    private func answer(_ id: Int, _ response: PageResponse) {
        guard let exchange = exchanges[id], case .handling = exchange.stage else { return }
        exchange.stage = .answered(response)
        resume(exchange)
        setDeadline(of: exchange.connection, in: limits.send)
    }

    /// - Parameter closes: whether the connection ends with the response, since the rest of the request is not read. The
    ///   connection of a health check beyond a limit always ends.
    private func queue(_ response: PageResponse, _ exchange: Exchange, closes: Bool = false) -> MHD_Result {
        var response = response
        if case .stream = response.body, streams >= limits.streams {
            response = .refusal(503, "Too many streams are open.")
        }
        exchange.stage = .responding
        let made: OpaquePointer? =
            switch response.body {
            case .bytes(var bytes):
                bytes.withUnsafeMutableBytes {
                    MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
                }
            case .stream(let stream): make(stream, exchange)
            }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        var headers = [HeaderField("Content-Type", response.contentType)] + response.headers
        let isExcess = connections[exchange.connection]?.excess != nil
        if closes || isExcess { headers.append(HeaderField("Connection", "close")) }
        for header in headers { MHD_add_response_header(made, header.name, header.value) }
        setDeadline(of: exchange.connection, in: limits.send)
        return MHD_queue_response(exchange.connection, UInt32(response.status), made)
    }

    fileprivate func completed(_ exchange: Exchange) {
        exchange.task?.cancel()
        if exchange.stream != nil { streams -= 1 }
        exchanges[exchange.id] = nil
        connections[exchange.connection]?.exchange = nil
        // One beyond the limits ends with its response.
        let isExcess = connections[exchange.connection]?.excess != nil
        setDeadline(of: exchange.connection, in: isExcess ? nil : limits.receive)
    }

    // MARK: Streams

    private func make(_ stream: any PageStream, _ exchange: Exchange) -> OpaquePointer? {
        exchange.stream = stream
        streams += 1
        let context = Unmanaged.passRetained(exchange).toOpaque()
        return MHD_create_response_from_callback(cm_unknown_size, limits.head, readCallback, context, releaseCallback)
    }

    /// Copies as much of the current part as fits, or asks for the next one.
    fileprivate func read(_ exchange: Exchange, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !isStopping, let stream = exchange.stream else { return CM_STREAM_END }
        switch exchange.part {
        case .bytes(let rest) where !rest.isEmpty:
            let count = min(rest.count, buffer.count)
            buffer.copyBytes(from: rest.prefix(count))
            exchange.part = .bytes(rest.dropFirst(count))
            setDeadline(of: exchange.connection, in: limits.send)
            return count
        case .bytes:
            exchange.part = .awaited
            suspend(exchange, within: nil)
            exchange.task = Task(priority: .utility) { [messages, id = exchange.id] in
                messages.post(.part(await stream.next(), of: id))
            }
            return 0
        case .awaited: return 0
        case .end: return CM_STREAM_END
        }
    }

    private func take(_ bytes: [UInt8]?, _ id: Int) {
        guard let exchange = exchanges[id] else { return }
        exchange.part = bytes.map { .bytes($0[...]) } ?? .end
        resume(exchange)
        setDeadline(of: exchange.connection, in: limits.send)
    }

    // MARK: Connections

    /// Connections that are accepted before others are served.
    private static let maximumAccepted = 64

    private func acceptConnections() {
        for _ in 0..<ServerLoop.maximumAccepted {
            guard let client = acceptor.accept() else { return }
            if let reason = excess(of: client.peer), !makeRoom() {
                client.refuse(ServerLoop.busy(reason))
                continue
            }
            _ = withUnsafePointer(to: client.name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    // It closes the connection when it has no memory for it.
                    MHD_add_connection(daemon, client.descriptor, $0, client.length)
                }
            }
        }
    }

    /// The response on a connection that is beyond a limit.
    private static func busy(_ reason: String) -> PageResponse {
        .refusal(503, reason, headers: [HeaderField("Retry-After", "5")])
    }

    /// Makes room for a connection beyond the limits, for a health check. The oldest that has sent no request gives way.
    /// - Returns: false when there is none.
    private func makeRoom() -> Bool {
        // Those that were refused have no deadline, and are about to be closed.
        let open = connections.filter { $0.value.excess != nil && $0.value.deadline != nil }
        guard open.count >= limits.healthChecks else { return true }
        let unread = open.filter { $0.value.isReading }
        guard let oldest = unread.min(by: { $0.value.deadline ?? .now < $1.value.deadline ?? .now })
        else { return false }
        refuse(oldest.key)
        return true
    }

    /// Ends a connection beyond the limits whose request did not come in time.
    private func refuse(_ connection: OpaquePointer) {
        guard let reason = connections[connection]?.excess, let socket = connections[connection]?.socket
        else { return }
        connections[connection]?.deadline = nil
        let bytes = ServerLoop.busy(reason).closing
        // Nothing was sent on it, and a new connection has room for these few bytes.
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        // The library sees the end of the connection, and closes it.
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Why a new connection is beyond a limit; nil when it is not.
    private func excess(of peer: PageRequest.Peer) -> String? {
        if connections.count >= limits.connections {
            return "\(limits.connections) connections are open, the most that this page takes."
        }
        guard peer != .local, connectionsOf[peer, default: 0] >= limits.connectionsPerAddress else { return nil }
        return "\(limits.connectionsPerAddress) connections of this address are open, the most that it may have."
    }

    fileprivate func opened(_ connection: OpaquePointer) {
        let peer = PageRequest.Peer(cm_peer(connection))
        let excess = excess(of: peer)
        connections[connection] = Connection(socket: cm_socket(connection), peer: peer, excess: excess)
        connectionsOf[peer, default: 0] += 1
        setDeadline(of: connection, in: excess == nil ? limits.receive : limits.healthCheckReceive)
    }

    fileprivate func closed(_ connection: OpaquePointer) {
        guard let peer = connections.removeValue(forKey: connection)?.peer else { return }
        let count = connectionsOf[peer, default: 1] - 1
        connectionsOf[peer] = count > 0 ? count : nil
    }

    private func suspend(_ exchange: Exchange, within limit: Duration?) {
        exchange.isSuspended = true
        setDeadline(of: exchange.connection, in: limit)
        MHD_suspend_connection(exchange.connection)
    }

    private func resume(_ exchange: Exchange) {
        guard exchange.isSuspended else { return }
        exchange.isSuspended = false
        MHD_resume_connection(exchange.connection)
    }

    private func setDeadline(of connection: OpaquePointer, in limit: Duration?) {
        let deadline = limit.map { ContinuousClock.now + $0 }
        connections[connection]?.deadline = deadline
        nextDeadline = [nextDeadline, deadline].compactMap { $0 }.min()
    }

    /// Answers for handlers that take too long, and closes the connections of slow clients.
    private func cutOffLate() {
        guard let due = nextDeadline, due <= .now else { return }
        nextDeadline = nil
        let now = ContinuousClock.now
        for (pointer, connection) in connections {
            guard let deadline = connection.deadline else { continue }
            guard deadline <= now else {
                nextDeadline = [nextDeadline, deadline].compactMap { $0 }.min()
                continue
            }
            if let exchange = connection.exchange, case .handling = exchange.stage {
                exchange.task?.cancel()
                answer(exchange.id, .refusal(503, "The response took too long."))
            } else if connection.excess != nil, connection.isReading {
                refuse(pointer)
            } else {
                connections[pointer]?.deadline = nil
                // The library sees the end of the connection, and closes it.
                shutdown(connection.socket, Int32(SHUT_RDWR))
            }
        }
    }

    private func headers(of connection: OpaquePointer) -> [HeaderField] {
        var headers: [HeaderField] = []
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { context, _, name, value in
                    guard let headers = context?.assumingMemoryBound(to: [HeaderField].self), let name else {
                        return .NO
                    }
                    headers.pointee.append(
                        HeaderField(String(cString: name), value.map { String(cString: $0) } ?? ""))
                    return .YES
                }, pointer)
        }
        return headers
    }
}

// MARK: Callbacks of libmicrohttpd

// They come from MHD_run and MHD_stop_daemon, so on the server's thread; the loop outlives the daemon.

private func loop(_ context: UnsafeMutableRawPointer?) -> ServerLoop? {
    context.map { Unmanaged<ServerLoop>.fromOpaque($0).takeUnretainedValue() }
}

private func exchange(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
}

/// Called with the target of each request; what it returns is passed to the calls about that request.
private func beginCallback(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let loop = loop(context), let target, let connection else { return nil }
    // The loop's table retains it until the request is completed.
    return Unmanaged.passUnretained(loop.begin(connection, target: String(cString: target))).toOpaque()
}

private func handleCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?, request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let loop = loop(context), let exchange = exchange(request?.pointee), let method, let uploadSize else {
        return .NO
    }
    let bytes = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    uploadSize.pointee = 0
    return loop.handle(exchange, method: String(cString: method), upload: bytes)
}

private func completedCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let loop = loop(context), let exchange = exchange(request?.pointee) else { return }
    request?.pointee = nil
    loop.completed(exchange)
}

private func connectionCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
    guard let loop = loop(context), let connection else { return }
    if event == .CONNECTION_NOTIFY_STARTED { loop.opened(connection) } else { loop.closed(connection) }
}

/// Leaves escapes as they are: `PageRequest` decodes them after it has split the path, so that a key may have a slash.
private func unescapeCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, text: UnsafeMutablePointer<CChar>?
) -> Int {
    text.map { strlen($0) } ?? 0
}

private func readCallback(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, count: Int
) -> Int {
    guard let exchange = exchange(context) else { return CM_STREAM_END }
    return exchange.loop.read(exchange, into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

private func releaseCallback(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<Exchange>.fromOpaque(context).release() }
}
