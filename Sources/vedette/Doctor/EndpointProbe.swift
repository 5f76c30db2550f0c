// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteHTTP
import VedetteSystem

/// The result of connecting to an endpoint. No request, password or message is sent.
enum ConnectResult: Sendable, Hashable {
    case unknownName
    case refused(String)
    case noHandshake(String)
    case timeout
    /// A TCP connection was made, to the endpoint or to its proxy.
    case connected
    case handshake(ServerCertificate)
    /// The time for all endpoints was over.
    case notTried

    /// The certificate of a server, from its TLS handshake.
    struct ServerCertificate: Sendable, Hashable {
        /// The pin of its key, as `tls.pin` takes it.
        var pin: String
        var validUntil: Timestamp
        /// Why the check of chain, date and name fails; empty when it passes.
        var problems: [String]
    }
}

/// Connects to many endpoints at once.
enum EndpointProbe {
    static let concurrency = 32
    static let timeout = Duration.seconds(5)
    /// After this no further connection is begun.
    static let totalTimeout = Duration.seconds(7)

    /// Returns the results in the order of the endpoints.
    static func connect(to endpoints: [Endpoint]) async -> [ConnectResult] {
        let end = ContinuousClock.now + totalTimeout
        return await withTaskGroup(of: (Int, ConnectResult).self) { group in
            var results = [ConnectResult](repeating: .notTried, count: endpoints.count)
            var next = 0
            func add() {
                guard next < endpoints.count, ContinuousClock.now < end else { return }
                let (index, endpoint) = (next, endpoints[next])
                next += 1
                group.addTask { (index, await within(timeout) { await connect(to: endpoint) } ?? .timeout) }
            }
            for _ in 0..<concurrency { add() }
            for await (index, result) in group {
                results[index] = result
                add()
            }
            return results
        }
    }

    private static func connect(to endpoint: Endpoint) async -> ConnectResult {
        do throws(FetchError) {
            let probe = CertificateProbe(endpoint.target, ca: endpoint.tls.ca, proxy: endpoint.proxy)
            let found = try await probe.look()
            guard let own = found.chain.first else { return .connected }
            return .handshake(.init(pin: own.pin, validUntil: own.validUntil, problems: found.doubts))
        } catch {
            return switch error.failure {
            case .resolve: .unknownName
            case .timeout: .timeout
            case .tlsHandshake: .noHandshake(error.detail)
            default: .refused(error.detail)
            }
        }
    }
}
