// SPDX-License-Identifier: Apache-2.0

import Glibc
public import VedetteCore

/// Why the page cannot listen.
public struct ListenError: Error, Hashable {
    /// The address that is configured.
    public let address: ListenAddress
    /// What failed and why.
    public let detail: String

    /// - Parameter action: what failed with errno.
    init(_ address: ListenAddress, action: String) {
        self.init(address: address, detail: "failed to \(action): \(String(cString: strerror(errno)))")
    }

    init(address: ListenAddress, detail: String) { (self.address, self.detail) = (address, detail) }
}

/// A socket that listens.
struct ListenSocket: Sendable {
    let descriptor: Int32
    /// With the port that the system chose.
    let address: ListenAddress

    private static let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    /// SD_LISTEN_FDS_START of sd_listen_fds(3).
    private static let firstPassed: Int32 = 3

    static func open(_ address: ListenAddress) throws(ListenError) -> ListenSocket {
        switch address {
        case .network(let host, let port): try network(host, port, address)
        case .unix(let path): try unix(path, address)
        case .systemd: try passed(address)
        }
    }

    /// Closes the socket, and removes the file of a Unix socket.
    func close() {
        Glibc.close(descriptor)
        if case .unix(let path) = address { unlink(path) }
    }

    private static func network(
        _ host: String, _ port: UInt16, _ address: ListenAddress
    ) throws(ListenError) -> ListenSocket {
        let isVersion6 = host.contains(":")
        let descriptor = socket(isVersion6 ? AF_INET6 : AF_INET, type, 0)
        guard descriptor >= 0 else { throw ListenError(address, action: "make a socket") }
        var one: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, length)
        do throws(ListenError) {
            if isVersion6 {
                setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, length)
                var name = sockaddr_in6()
                (name.sin6_family, name.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
                guard inet_pton(AF_INET6, host, &name.sin6_addr) == 1 else {
                    throw ListenError(address: address, detail: "'\(host)' is not an IPv6 address")
                }
                try bind(descriptor, &name, address)
                return ListenSocket(descriptor: descriptor, address: chosen(&name, descriptor, host) { $0.sin6_port })
            }
            var name = sockaddr_in()
            (name.sin_family, name.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
            guard inet_pton(AF_INET, host, &name.sin_addr) == 1 else {
                throw ListenError(address: address, detail: "'\(host)' is not an IPv4 address")
            }
            try bind(descriptor, &name, address)
            return ListenSocket(descriptor: descriptor, address: chosen(&name, descriptor, host) { $0.sin_port })
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func unix(_ path: String, _ address: ListenAddress) throws(ListenError) -> ListenSocket {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else {
            throw ListenError(address: address, detail: "the path is longer than a socket's may be")
        }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        try removeStale(path, &name, address)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw ListenError(address, action: "make a socket") }
        // Before bind(2), which gives the file these permissions: nobody else connects in between.
        fchmod(descriptor, 0o600)
        do throws(ListenError) {
            try bind(descriptor, &name, address)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return ListenSocket(descriptor: descriptor, address: address)
    }

    /// Removes a socket that no program listens on. Any other file stays.
    private static func removeStale(
        _ path: String, _ name: inout sockaddr_un, _ address: ListenAddress
    ) throws(ListenError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ListenError(address: address, detail: "there is a file of that name, which is no socket")
        }
        let probe = socket(AF_UNIX, type, 0)
        guard probe >= 0 else { throw ListenError(address, action: "make a socket") }
        defer { Glibc.close(probe) }
        let result = withAddress(&name) { connect(probe, $0, $1) }
        guard result != 0, errno == ECONNREFUSED else {
            throw ListenError(address: address, detail: "another program listens there")
        }
        unlink(path)
    }

    private static func passed(_ address: ListenAddress) throws(ListenError) -> ListenSocket {
        guard getenv("LISTEN_PID").map({ String(cString: $0) }) == String(getpid()),
            let count = getenv("LISTEN_FDS").flatMap({ Int32(String(cString: $0)) }), count > 0
        else {
            throw ListenError(address: address, detail: "systemd passed no socket; it needs a unit vedette.socket")
        }
        // The daemon closes its socket when it ends; a reload that comes back needs it again.
        let descriptor = fcntl(firstPassed, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw ListenError(address, action: "take the socket of systemd") }
        _ = fcntl(firstPassed, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return ListenSocket(descriptor: descriptor, address: address)
    }

    private static func bind<Name>(
        _ descriptor: Int32, _ name: inout Name, _ address: ListenAddress
    ) throws(ListenError) {
        guard withAddress(&name, { Glibc.bind(descriptor, $0, $1) }) == 0, listen(descriptor, SOMAXCONN) == 0 else {
            throw ListenError(address, action: "listen")
        }
    }

    private static func chosen<Name>(
        _ name: inout Name, _ descriptor: Int32, _ host: String, _ port: (Name) -> in_port_t
    ) -> ListenAddress {
        var length = socklen_t(MemoryLayout<Name>.size)
        withUnsafeMutablePointer(to: &name) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return .network(host: host, port: UInt16(bigEndian: port(name)))
    }

    private static func withAddress<Name>(
        _ name: inout Name, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<Name>.size))
            }
        }
    }
}
