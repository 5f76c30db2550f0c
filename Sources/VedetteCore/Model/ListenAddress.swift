// SPDX-License-Identifier: Apache-2.0

/// Where the page listens.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A numeric address and a port; 0 lets the system choose one.
    case network(host: String, port: UInt16)
    /// A Unix socket.
    case unix(path: String)
    /// The first socket that systemd passes (sd_listen_fds(3)).
    case systemd

    /// Why a text is no address to listen on.
    public struct Problem: Error, Hashable {
        /// What is wrong and what to write.
        public let detail: String
    }

    /// Reads `IP:PORT`, `[IPv6]:PORT`, `localhost:PORT`, `unix:/PATH` or `systemd`.
    public init(_ text: String) throws(Problem) {
        if text == "systemd" {
            self = .systemd
            return
        }
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { throw Problem(detail: "needs an absolute path: unix:/PATH") }
            // sockaddr_un holds 108 bytes with the zero at the end (unix(7)).
            guard path.utf8.count < 108 else { throw Problem(detail: "has a path of more than 107 bytes") }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Problem(detail: "must be IP:PORT, unix:/PATH or systemd")
        }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        let isBracketed = host.first == "[" && host.last == "]"
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard isBracketed ? host.contains(":") && ListenAddress.isVersion6(host) : ListenAddress.isVersion4(host) else {
            throw Problem(
                detail: "must have a numeric address such as 127.0.0.1:8420 or [::1]:8420"
            )
        }
        self = .network(host: host, port: port)
    }

    /// Whether only programs of this machine can reach it. A socket of systemd may be anything.
    public var isLoopback: Bool {
        switch self {
        case .network(let host, _): WebURL.isLoopback(host)
        case .unix: true
        case .systemd: false
        }
    }

    /// As it is written in the configuration.
    public var description: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .systemd: "systemd"
        }
    }

    private static func isVersion4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.allSatisfy(\.isNumber) }
    }

    /// Whether it can be an IPv6 address; inet_pton(3) decides when the socket is opened.
    private static func isVersion6(_ host: String) -> Bool {
        host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
}
