// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A server of bytes on loopback: it keeps every request as received and answers what it is told.
final class RawServer: Sendable {
    enum Answer: Sendable {
        case bytes(String)
        case thenClose(String)
        /// The connection stays open, nothing comes.
        case silence
    }

    enum Event: Sendable, Equatable {
        case request
        case closed
    }

    private struct State {
        var requests: [String] = []
        var connections = 0
        var open: Set<Int32> = []
    }

    let host: String
    let port: UInt16
    /// What happens, for a test to wait for.
    let events: AsyncStream<Event>
    private let happened: AsyncStream<Event>.Continuation
    private let listener: Int32
    private let state = Mutex(State())
    private let answer: @Sendable (_ request: String, _ number: Int) -> Answer

    /// - Parameters:
    ///   - greeting: sent before anything is asked.
    ///   - answer: gets a request and how many came before it.
    init(host: String = "127.0.0.1", greeting: String = "", _ answer: @escaping @Sendable (String, Int) -> Answer)
        throws
    {
        (self.host, self.answer) = (host, answer)
        (events, happened) = AsyncStream.makeStream()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 512) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw Trouble("no listener on \(host)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { return }
                state.withLock {
                    $0.connections += 1
                    $0.open.insert(connection)
                }
                RawServer.send(greeting, connection)
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    var origin: String { "http://\(host):\(port)" }
    var requests: [String] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.connections } }

    /// Waits until so many requests have come.
    func waitForRequests(_ count: Int) async {
        for await _ in events where requests.count >= count { return }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        state.withLock { for connection in $0.open { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ connection: Int32) {
        var pending = ""
        while let request = next(connection, &pending) {
            let number = state.withLock {
                $0.requests.append(request)
                return $0.requests.count - 1
            }
            happened.yield(.request)
            switch answer(request, number) {
            case .bytes(let text): RawServer.send(text, connection)
            case .thenClose(let text):
                RawServer.send(text, connection)
                shutdown(connection, Int32(SHUT_WR))
            case .silence: break
            }
        }
        _ = state.withLock { $0.open.remove(connection) }
        close(connection)
        happened.yield(.closed)
    }

    private static func send(_ text: String, _ connection: Int32) {
        _ = text.withCString { Glibc.send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    /// One whole request with its body; nil at the end of the connection.
    private func next(_ connection: Int32, _ pending: inout String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = pending.range(of: "\r\n\r\n") {
                let head = pending[..<end.upperBound]
                let length = head.lowercased().range(of: "content-length: ").flatMap { found in
                    Int(head.lowercased()[found.upperBound...].prefix { $0.isNumber })
                }
                if pending[end.upperBound...].utf8.count >= length ?? 0 {
                    let stop = pending.utf8.index(end.upperBound, offsetBy: length ?? 0)
                    defer { pending = String(pending[stop...]) }
                    return String(pending[..<stop])
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            if count <= 0 { return nil }
            pending += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    /// A 200 with that body and those header lines.
    static func ok(_ body: String, _ headers: String...) -> Answer {
        .bytes(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n"
                + body)
    }

    static func redirect(_ status: Int, _ location: String) -> Answer {
        .bytes("HTTP/1.1 \(status) Elsewhere\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
    }
}

struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
