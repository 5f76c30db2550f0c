// SPDX-License-Identifier: Apache-2.0

import Foundation

/// HTTP as the lab's control calls need it: one request on one connection, read to its end. A few lines of our own, so
/// that the tests share no code with the product and need no further program.
enum Wire {
    static func call(_ method: String, _ url: String, _ body: Data?) async throws -> Data {
        guard let url = URL(string: url), let port = url.port else { throw Trouble("no URL: \(url)") }
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        var request = Data("\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n".utf8)
        request += Data("Content-Type: application/json\r\nContent-Length: \(body?.count ?? 0)\r\n\r\n".utf8)
        request += body ?? Data()
        let bytes = request
        let answer = try await withCheckedThrowingContinuation { continuation in
            // Blocking calls have threads of their own: Swift's tasks have only as many as there are processors.
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(bytes, port: UInt16(port)) })
            }
        }
        guard let split = answer.firstRange(of: Data("\r\n\r\n".utf8)) else {
            throw Trouble("\(method) \(url): no answer")
        }
        let body = answer[split.upperBound...]
        guard answer.starts(with: Data("HTTP/1.1 2".utf8)) else {
            throw Trouble("\(method) \(url): \(String(decoding: answer, as: UTF8.self))")
        }
        return Data(body)
    }

    private static func exchange(_ request: Data, port: UInt16) throws -> Data {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 40, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        try connect(descriptor, port)
        try send(request, descriptor)
        return try receive(descriptor)
    }

    // MARK: Raw bytes

    /// Sends a text on a connection of its own and returns what comes until the server closes it. A server may close it
    /// before it has read everything.
    static func raw(_ text: String, port: UInt16) async throws -> String {
        let descriptor = try open(port)
        defer { close(descriptor) }
        return try await read(from: descriptor, after: text) { _ in false }
    }

    /// Connects; the caller closes the descriptor.
    static func open(_ port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 40, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        do {
            try connect(descriptor, port)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Sends a text and returns what comes until that is enough, or the connection ends.
    static func read(
        from descriptor: Int32, after text: String = "", until isEnough: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                try? send(Data(text.utf8), descriptor)
                var (bytes, buffer) = (Data(), [UInt8](repeating: 0, count: 65_536))
                while true {
                    let count = Glibc.recv(descriptor, &buffer, buffer.count, 0)
                    if count < 0, errno == EINTR { continue }
                    if count > 0 { bytes += buffer[..<count] }
                    let all = String(decoding: bytes, as: UTF8.self)
                    if count <= 0 || isEnough(all) { return continuation.resume(returning: all) }
                }
            }
        }
    }

    /// Listens on a free port; the caller closes the descriptor.
    static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                Glibc.bind(descriptor, name, length) + Glibc.listen(descriptor, 1)
                    + Glibc.getsockname(descriptor, name, &length)
            }
        }
        guard code == 0 else { throw Trouble("listen: \(String(cString: strerror(errno)))") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    // MARK: Calls of the system

    private static func connect(_ descriptor: Int32, _ port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Trouble("connect to \(port): \(String(cString: strerror(errno)))") }
    }

    private static func send(_ request: Data, _ descriptor: Int32) throws {
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Trouble("send: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
    }

    private static func receive(_ descriptor: Int32) throws -> Data {
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Trouble("receive: \(String(cString: strerror(errno)))") }
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }
}
