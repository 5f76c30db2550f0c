// SPDX-License-Identifier: Apache-2.0

import Glibc
// The members of addrinfo are declared there; whole-module builds insist on it.
import SwiftOverlayShims
import VedetteCore
import VedetteHTTP
import VedetteSystem

/// What came of knocking at a door. Nothing is said there: no request, no password, no message.
enum ConnectResult: Sendable, Hashable {
    /// The name leads nowhere, for that reason.
    case unknownName(String)
    case refused(String)
    /// No TLS, or none that both speak.
    case noHandshake(String)
    case late
    /// A TCP connection was made.
    case open
    case shown(Shown)
    /// There was no time left for it.
    case notTried

    /// What a server shows of itself in a TLS handshake.
    struct Shown: Sendable, Hashable {
        /// Of its own key, as `tls.pin` takes it.
        var pin: String
        var validUntil: Timestamp
        /// Why the usual check of chain, date and name fails; empty when it passes.
        var doubts: [String]
    }
}

/// Knocks at many doors at once, within bounds.
struct EndpointProbe {
    static let atOnce = 32
    static let patience = Duration.seconds(5)
    /// After this nobody more is knocked at.
    static let whole = Duration.seconds(7)

    /// In the order of the contacts.
    static func knock(at contacts: [Endpoint]) async -> [ConnectResult] {
        let end = ContinuousClock.now + whole
        return await withTaskGroup(of: (Int, ConnectResult).self) { group in
            var knocks = [ConnectResult](repeating: .notTried, count: contacts.count)
            var next = 0
            func add() {
                guard next < contacts.count, ContinuousClock.now < end else { return }
                let (index, contact) = (next, contacts[next])
                next += 1
                group.addTask { (index, await within(patience) { await EndpointProbe.knock(at: contact) } ?? .late) }
            }
            for _ in 0..<atOnce { add() }
            for await (index, knock) in group {
                knocks[index] = knock
                add()
            }
            return knocks
        }
    }

    private static func knock(at contact: Endpoint) async -> ConnectResult {
        switch contact.kind {
        case .http, .other: return await SystemThread.run { connect(to: contact.host, contact.port) }
        case .tls:
            let host = contact.host.contains(":") ? "[\(contact.host)]" : contact.host
            guard let url = WebURL("https://\(host):\(contact.port)") else {
                return .noHandshake("its address cannot be read")
            }
            do throws(FetchError) {
                let found = try await CertificateProbe(url, ca: contact.tls.ca, proxy: contact.proxy).look()
                guard let own = found.chain.first else { return .noHandshake("\(contact.place) shows no certificate") }
                return .shown(.init(pin: own.pin, validUntil: own.validUntil, doubts: found.doubts))
            } catch {
                return ConnectResult(error)
            }
        }
    }

    /// Tries each address of the host.
    private static func connect(to host: String, _ port: Int) -> ConnectResult {
        var (hints, found) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0 else { return .unknownName(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(found) }
        var (address, problem) = (found, ECONNREFUSED)
        while let now = address?.pointee {
            problem = connect(to: now)
            if problem == 0 { return .open }
            address = now.ai_next
        }
        return problem == ETIMEDOUT ? .late : .refused(String(cString: strerror(problem)))
    }

    /// An errno; 0 once there is a connection, which ends here.
    private static func connect(to address: addrinfo) -> CInt {
        let kind = address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let door = socket(address.ai_family, kind, address.ai_protocol)
        guard door >= 0 else { return errno }
        defer { close(door) }
        if Glibc.connect(door, address.ai_addr, address.ai_addrlen) == 0 { return 0 }
        guard errno == EINPROGRESS else { return errno }
        var wait = pollfd(fd: door, events: Int16(POLLOUT), revents: 0)
        guard poll(&wait, 1, CInt(patience.components.seconds) * 1000) == 1 else { return ETIMEDOUT }
        var (problem, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        getsockopt(door, SOL_SOCKET, SO_ERROR, &problem, &size)
        return problem
    }
}

extension ConnectResult {
    fileprivate init(_ error: FetchError) {
        switch error.failure {
        case .resolve: self = .unknownName("it could not be resolved")
        case .timeout: self = .late
        case .refused: self = .refused("it does not accept connections")
        case .tlsHandshake: self = .noHandshake(error.detail)
        default: self = .refused(error.detail)
        }
    }
}
