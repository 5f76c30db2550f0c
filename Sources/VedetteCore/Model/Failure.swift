// SPDX-License-Identifier: Apache-2.0

/// Why a poll or a request failed. The raw values are in events (`data.error.class`) and never change.
public enum Failure: String, Sendable, Hashable, CaseIterable {
    // The network
    case resolve
    case refused
    case timeout
    case closed
    case network
    // TLS (RFC 8446); a pin is checked in the handshake, before any request is sent
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
    /// A public server's redirect or link leads into a private network (RFC 6890); no request was sent there.
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
    /// A success without a complete representation: 202, 204, 206 and others.
    case incomplete
    case serverError = "server-error"
    // The document
    case empty
    case wrongType = "wrong-type"
    case malformed
    case shape
    /// The body reports an error, whatever the HTTP status.
    case bodyStatus = "body-status"
    // The reading
    case pageGap = "page-gap"
    /// Every key is new, and nothing tells which item is which.
    case keysChanged = "keys-changed"
    /// The command of a source failed, by its exit status, by a signal or at a limit; or it or jq could not be started now.
    case command
    // The watcher
    case configuration
    /// The journal refused what the poll read, so that the snapshot is the last one's.
    case notStored = "not-stored"
    /// This program has no memory left, for a response body (I8) or a transfer.
    case memory

    /// Whether it lies in this program, so that it tells nothing about the host.
    public var isOwn: Bool {
        switch self {
        case .cancelled, .configuration, .notStored, .memory: true
        default: false
        }
    }

    /// Whether only a person can end it, so that one failed poll makes the source `failing`.
    public var needsPerson: Bool {
        switch self {
        case .unauthorized, .forbidden, .gone, .tlsPin: true
        default: false
        }
    }

    /// Classifies an HTTP status; returns nil for a complete representation.
    ///
    /// Complete are 200 and 203 (RFC 9110 §15.3), of a POST also 201, of PROPFIND and REPORT also 207 (RFC 4918 §9.1,
    /// RFC 3253 §3.6). Any other success may hold fewer items than there are.
    public init?(status: Int, method: String = "GET") {
        switch status {
        case 200, 203: return nil
        case 201 where method == "POST": return nil
        case 207 where method == "PROPFIND" || method == "REPORT": return nil
        case 200..<300: self = .incomplete
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
