// SPDX-License-Identifier: Apache-2.0

/// Why a poll failed or a request came to nothing. The names are part of the events (`data.error`) and never change.
public enum Failure: String, Sendable, Hashable, CaseIterable {
    // The network
    case resolve
    case refused
    case timeout
    case closed
    case network
    // TLS (RFC 8446); a pin is judged in the handshake, before any request is sent
    case tlsUntrusted = "tls-untrusted"
    case tlsPin = "tls-pin"
    case tlsExpired = "tls-expired"
    case tlsName = "tls-name"
    case tlsHandshake = "tls-handshake"
    case tlsClientCertificate = "tls-client-certificate"
    // The transfer
    case truncated
    case encoding
    case tooLarge = "too-large"
    case redirect
    /// A stranger's address leads into a private network (RFC 6890); nothing was sent there.
    case privateAddress = "private-address"
    case `protocol`
    case cancelled
    // HTTP statuses
    case unauthorized
    case forbidden
    case notFound = "not-found"
    case gone
    case rateLimited = "rate-limited"
    case clientError = "client-error"
    case serverError = "server-error"
    // The document
    case empty
    case wrongType = "wrong-type"
    case malformed
    case shape
    /// The body itself says that the request failed, whatever the HTTP status.
    case bodyStatus = "body-status"
    // The reading
    case pageGap = "page-gap"
    /// Every key is another than before, and nothing else says which item is which.
    case keysChanged = "keys-changed"
    // Ourselves
    case configuration
    /// The memory for response bodies is used up (I8).
    case memory

    /// Failures that will not mend by waiting: one is enough to say `failing`.
    public var needsAPerson: Bool {
        switch self {
        case .unauthorized, .forbidden, .tlsPin: true
        default: false
        }
    }

    /// The failure that a status stands for; nil for a success.
    public init?(status: Int) {
        switch status {
        case 200..<300: return nil
        case 401, 407: self = .unauthorized
        case 403: self = .forbidden
        case 404: self = .notFound
        case 410: self = .gone
        case 429: self = .rateLimited
        case 400..<500: self = .clientError
        case 500..<600: self = .serverError
        case 300..<400: self = .redirect
        default: self = .protocol
        }
    }
}
