// SPDX-License-Identifier: Apache-2.0

import CMicrohttpd
import Glibc

/// The server's thread: it drives libmicrohttpd. Only handlers and streams run elsewhere, while their connection is
/// suspended.
final class ServerLoop {
    private let acceptor: Acceptor
    private let messages: LoopMessages
    private let limits: PageLimits
    /// The paths whose handlers are cancelled when the client closes its connection.
    private let abandonable: Set<String>
    private var daemon: OpaquePointer?
    fileprivate var connections: OpenConnections
    private var handlers: RequestHandlers
    private var exchanges: [Int: Exchange] = [:]
    /// The requests to these paths that are handled, by number.
    private var watched = Set<Int>()
    /// Bytes of the responses that clients have yet to read.
    private var responseSize = 0
    private var lastID = 0
    private var isStopping = false

    /// - Returns: nil when the system lacks memory or descriptors.
    init?(
        _ socket: ListenSocket, _ messages: LoopMessages, _ limits: PageLimits, _ healthChecks: Set<String>,
        _ abandonable: Set<String>, _ respond: @escaping RequestHandlers.Respond
    ) {
        (self.messages, self.limits, self.abandonable) = (messages, limits, abandonable)
        acceptor = Acceptor(socket)
        connections = OpenConnections(limits)
        handlers = RequestHandlers(limits, healthChecks, messages, respond)
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
                    handlers.ended()
                    answer(id, response)
                case .health(let response, to: let id): answer(id, response)
                case .part(let bytes, of: let id): take(bytes, id)
                case .stop(let call): stopped = call
                }
            }
            acceptConnections()
            MHD_run(daemon)
            handlers.startWaiting()
            for exchange in connections.cutOffLate() {
                exchange.task?.cancel()
                answer(exchange.id, .refusal(503, "The response took too long."))
            }
            if stopped == nil { sleep() }
        }
        end()
        stopped?()
        for case .stop(let call) in messages.close() { call() }
    }

    private func sleep() {
        let (listening, pause) = acceptor.polled(at: .now)
        let times = [connections.nextDeadline.map { $0 - .now }, pause].compactMap(\.self)
        var waits = times.map { Int64(max(0, $0 / .milliseconds(1) + 1)) }
        var left: UInt64 = 0
        if MHD_get_timeout(daemon, &left) == .YES { waits.append(Int64(clamping: left)) }
        var polled = [cm_epoll(daemon), messages.readable, listening].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // libmicrohttpd does not look at a suspended connection. One whose handler has not begun would keep the loop awake.
        let handled = watched.compactMap { exchanges[$0] }.filter { $0.task != nil }
        let first = polled.count
        polled += handled.map {
            pollfd(fd: connections.socket(of: $0.connection), events: cm_closed_by_peer, revents: 0)
        }
        _ = poll(&polled, nfds_t(polled.count), Int32(clamping: waits.min() ?? -1))
        for (exchange, polled) in zip(handled, polled[first...]) where polled.revents != 0 {
            watched.remove(exchange.id)
            exchange.task?.cancel()
        }
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
        let exchange = Exchange(
            id: lastID, connection: connection, excess: connections.excess(of: connection), target: target, loop: self)
        exchanges[lastID] = exchange
        connections.begin(exchange)
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
            if let reason = exchange.excess, !handlers.isHealthCheck(exchange) {
                return queue(OpenConnections.busy(reason), exchange, closes: true)
            }
            return .YES
        case .body where !upload.isEmpty:
            // Its length was checked, and libmicrohttpd reads no more than that.
            exchange.body.append(contentsOf: upload)
            return .YES
        case .body:
            let request = PageRequest(
                exchange.method, exchange.target, headers: exchange.headers, body: exchange.body,
                peer: connections.peer(of: exchange.connection))
            guard let request else {
                return queue(.refusal(400, "The address of the request is malformed."), exchange, closes: true)
            }
            if let refusal = handlers.add(exchange, request) {
                return queue(refusal.response, exchange, closes: refusal.closes)
            }
            if abandonable.contains(exchange.path) { watched.insert(exchange.id) }
            suspend(exchange, within: limits.handle)
            return .YES
        case .answered(let response):
            guard fits(response, of: exchange) else {
                return queue(OpenConnections.busy("Too many responses wait for clients to read them."), exchange)
            }
            return queue(response, exchange)
        case .handling, .responding: return .YES
        }
    }

    private func answer(_ id: Int, _ response: PageResponse) {
        guard let exchange = exchanges[id], case .handling = exchange.stage else { return }
        exchange.stage = .answered(response)
        watched.remove(id)
        resume(exchange)
        connections.setDeadline(of: exchange.connection, in: limits.send)
    }

    /// - Parameter closes: whether the connection ends with the response, since the rest of the request is not read. The
    ///   connection of a health check beyond a limit always ends.
    private func queue(_ response: PageResponse, _ exchange: Exchange, closes: Bool = false) -> MHD_Result {
        var response = response
        if case .stream = response.body, exchanges.values.count(where: { $0.stream != nil }) >= limits.streams {
            response = .refusal(503, "Too many streams are open.")
        }
        if case .bytes(let bytes) = response.body { exchange.responseSize = bytes.count }
        responseSize += exchange.responseSize
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
        if closes || exchange.excess != nil { headers.append(HeaderField("Connection", "close")) }
        for header in headers { MHD_add_response_header(made, header.name, header.value) }
        connections.setDeadline(of: exchange.connection, in: limits.send)
        return MHD_queue_response(exchange.connection, UInt32(response.status), made)
    }

    /// Whether the responses that clients have yet to read leave room for another one.
    private func fits(_ response: PageResponse, of exchange: Exchange) -> Bool {
        guard case .bytes(let bytes) = response.body, responseSize > 0, !handlers.isHealthCheck(exchange) else {
            return true
        }
        return responseSize + bytes.count <= limits.responses
    }

    fileprivate func completed(_ exchange: Exchange) {
        responseSize -= exchange.responseSize
        exchange.task?.cancel()
        exchange.stage = .responding
        exchanges[exchange.id] = nil
        watched.remove(exchange.id)
        connections.completed(exchange)
    }

    // MARK: Streams

    private func make(_ stream: any PageStream, _ exchange: Exchange) -> OpaquePointer? {
        exchange.stream = stream
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
            connections.setDeadline(of: exchange.connection, in: limits.send)
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
        connections.setDeadline(of: exchange.connection, in: limits.send)
    }

    // MARK: Connections

    /// Connections that are accepted before others are served.
    private static let maximumAccepted = 64

    private func acceptConnections() {
        for _ in 0..<ServerLoop.maximumAccepted {
            guard let client = acceptor.accept() else { return }
            if let refusal = connections.refusal(of: client.peer) {
                client.refuse(refusal)
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

    private func suspend(_ exchange: Exchange, within limit: Duration?) {
        exchange.isSuspended = true
        connections.setDeadline(of: exchange.connection, in: limit)
        MHD_suspend_connection(exchange.connection)
    }

    private func resume(_ exchange: Exchange) {
        guard exchange.isSuspended else { return }
        exchange.isSuspended = false
        MHD_resume_connection(exchange.connection)
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
    if event == .CONNECTION_NOTIFY_STARTED {
        loop.connections.opened(connection)
    } else {
        loop.connections.closed(connection)
    }
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
