// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteSystem

/// Accepts the connections of a socket. It belongs to the server's thread.
///
/// libmicrohttpd stops accepting at its limit, and leaves clients in the system's queue, where they wait without knowing
/// why. Here each is accepted, so that one that does not fit can be refused with a reason.
final class Acceptor {
    /// A connection that libmicrohttpd does not own yet.
    struct Client {
        let descriptor: Int32
        let name: sockaddr_storage
        let length: socklen_t

        var peer: PageRequest.Peer {
            withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { PageRequest.Peer($0) }
            }
        }

        /// Answers before a request, and closes the connection.
        func refuse(_ response: PageResponse) {
            let bytes = response.closing
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            shutdown(descriptor, Int32(SHUT_WR))
            // Bytes that are not read turn the end of the connection into a reset, which may overtake the response.
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            for _ in 0..<4 where recv(descriptor, &buffer, buffer.count, 0) <= 0 { break }
            close(descriptor)
        }
    }

    /// How long the socket is left alone when the system has no descriptor to refuse a connection with: it stays readable.
    private static let pause = Duration.milliseconds(100)

    private let socket: ListenSocket
    /// Freed when the system has no descriptor left, so that the next connection can be refused.
    private var reserve = Acceptor.reserved()
    private var pauseEnd: ContinuousClock.Instant?

    init(_ socket: ListenSocket) { self.socket = socket }

    deinit { close(reserve) }

    /// The descriptor that is readable when a connection waits, and how long it is not to be polled.
    func polled(at now: ContinuousClock.Instant) -> (descriptor: Int32, pause: Duration?) {
        guard let pauseEnd, pauseEnd > now else { return (socket.descriptor, nil) }
        return (-1, pauseEnd - now)
    }

    /// Takes the next connection that waits; nil for none. It belongs to the caller.
    func accept() -> Client? {
        // Bounded, so that a flood of connections does not keep the thread here.
        for _ in 0..<64 {
            if let client = next() { return client }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case ENOBUFS, ENOMEM:
                pauseEnd = .now + Acceptor.pause
                return nil
            case EMFILE, ENFILE: guard refuseWithReserve() else { return nil }
            default: return nil
            }
        }
        return nil
    }

    /// Ends the listening, and removes the file of a Unix socket.
    func stop() { socket.close() }

    private func next() -> Client? {
        FileDescriptor.accept(socket.descriptor).map { Client(descriptor: $0, name: $1, length: $2) }
    }

    /// - Returns: whether there may be more connections to take.
    private func refuseWithReserve() -> Bool {
        close(reserve)
        let client = next()
        let code = errno
        client?.refuse(.refusal(503, "The watcher has no descriptor left for another connection."))
        reserve = Acceptor.reserved()
        if client == nil, code == EMFILE || code == ENFILE { pauseEnd = .now + Acceptor.pause }
        return client != nil
    }

    private static func reserved() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}

extension PageRequest.Peer {
    /// - Parameter name: as accept(2) gave it; nil for none.
    init(_ name: UnsafePointer<sockaddr>?) {
        let length: Int
        switch (name?.pointee.sa_family).map(Int32.init) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default:
            self = .local
            return
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(name, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            self = .local
            return
        }
        self = .address(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
