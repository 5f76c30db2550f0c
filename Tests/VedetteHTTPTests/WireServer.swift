// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A server on loopback that records every request byte for byte and answers with any bytes.
final class WireServer: Sendable {
    struct Request: Sendable {
        /// Head and body as received.
        var text: String
        /// The number of its connection, from 1.
        var connection: Int
        /// How many requests came before it.
        var number = 0

        var method: String { String(text.prefix { $0 != " " }) }
        var target: String { String(text.split(separator: " ", maxSplits: 2).dropFirst().first ?? "") }
        var body: String { text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }

        /// Values of a header, in the order received.
        func header(_ name: String) -> [String] {
            text.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n").dropFirst().compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
    }

    enum Answer: Sendable {
        case bytes([UInt8])
        /// The bytes, then an orderly end of the connection.
        case last([UInt8])
        /// The bytes (or none), and nothing more until the client closes the connection.
        case stall([UInt8])
        /// All bytes that the closure sends, until the client closes the connection.
        case stream(@Sendable (_ send: ([UInt8]) -> Bool) -> Void)

        static var silence: Answer { .stall([]) }

        static func ok(_ body: String = "ok", _ headers: String...) -> Answer { .reply("200 OK", body, headers) }

        static func redirect(_ status: Int, to location: String) -> Answer {
            .reply("\(status) Moved", "moved", ["Location: \(location)"])
        }

        static func reply(_ status: String, _ body: String, _ headers: [String] = []) -> Answer {
            let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
            return .bytes(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
        }

        static func text(_ text: String) -> Answer { .bytes(Array(text.utf8)) }
        static func lastText(_ text: String) -> Answer { .last(Array(text.utf8)) }
    }

    private struct State {
        var requests: [Request] = []
        var connections = 0
        var left = 0
        /// The listener and the connections. A number leaves it before it is closed, since it may then belong to another file.
        var open = Set<Int32>()
        var waiting: [(isOver: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let port: Int
    private let address: String
    private let listener: Int32
    private let state = Mutex(State())
    private let greeting: String
    private let answer: @Sendable (Request) -> Answer

    /// - Parameters:
    ///   - address: `0.0.0.0` listens on all of 127.0.0.0/8.
    ///   - greeting: sent before the first request.
    init(
        at address: String = "127.0.0.1", greeting: String = "", answer: @escaping @Sendable (Request) -> Answer
    ) throws {
        (self.address, self.greeting, self.answer) = (address, greeting, answer)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = inet_addr(address)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1024) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: name.sin_port))
        state.withLock { _ = $0.open.insert(listener) }
        Thread { [self] in acceptAll() }.start()
    }

    /// Gives every request the same answer.
    convenience init(_ answer: Answer, at address: String = "127.0.0.1") throws {
        try self.init(at: address) { _ in answer }
    }

    func url(_ path: String = "/", host: String? = nil) -> String { "http://\(host ?? address):\(port)\(path)" }

    var origin: String { "http://\(address):\(port)" }

    /// The requests as received.
    var texts: [String] { requests.map(\.text) }
    var requests: [Request] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.connections } }

    /// Waits until a number of requests has arrived.
    func received(_ count: Int) async -> [Request] {
        await wait { $0.requests.count >= count }
        return requests
    }

    /// Waits until a number of clients has closed the connection.
    func left(_ count: Int) async { await wait { $0.left >= count } }

    func close() {
        state.withLock { for socket in $0.open { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    static func close(_ servers: WireServer...) {
        for server in servers { server.close() }
    }

    private func wait(_ isOver: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append((isOver, continuation)) }
            change { _ in }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            let now = state
            let ready = now.waiting.filter { $0.isOver(now) }
            state.waiting.removeAll { $0.isOver(now) }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            var number = 0
            change { state in
                state.connections += 1
                state.open.insert(socket)
                number = state.connections
            }
            let thread = Thread { [self, number] in
                serve(socket, number)
                change { state in
                    state.open.remove(socket)
                    state.left += 1
                }
                Glibc.close(socket)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        state.withLock { _ = $0.open.remove(listener) }
        Glibc.close(listener)
    }

    private func serve(_ socket: Int32, _ number: Int) {
        var bytes: [UInt8] = []
        if !greeting.isEmpty, !write(Array(greeting.utf8), to: socket) { return }
        while var request = next(socket, &bytes, number) {
            change { state in
                request.number = state.requests.count
                state.requests.append(request)
            }
            switch answer(request) {
            case .bytes(let answer): if !write(answer, to: socket) { return }
            case .last(let answer):
                _ = write(answer, to: socket)
                return
            case .stall(let answer):
                _ = write(answer, to: socket)
                while read(socket, &bytes) {}
            case .stream(let answer):
                answer { write($0, to: socket) }
                return
            }
        }
    }

    private func next(_ socket: Int32, _ bytes: inout [UInt8], _ number: Int) -> Request? {
        while true {
            let request = Request(text: String(decoding: bytes, as: UTF8.self), connection: number)
            // TLS and SOCKS begin with bytes that no text has.
            if let first = bytes.first, first < 0x20 {
                bytes = []
                return request
            }
            if request.text.contains("\r\n\r\n"),
                request.body.utf8.count >= request.header("Content-Length").first.flatMap({ Int($0) }) ?? 0
            {
                bytes = []
                return request
            }
            guard read(socket, &bytes) else { return nil }
        }
    }

    private func read(_ socket: Int32, _ bytes: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        bytes += chunk[..<count]
        return true
    }

    private func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
