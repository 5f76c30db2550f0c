// SPDX-License-Identifier: Apache-2.0

/// The final response of a fetch.
public struct Response: Sendable {
    /// The status.
    public var status: Int
    /// The headers of the final response.
    public var headers: ResponseHeaders
    /// The decoded body; empty when `isUnchanged`. Its capacity has 64 spare bytes for a JSON reader.
    public var body: [UInt8]
    /// The digest of the body as received, before decoding.
    public var digest: UInt64
    /// Whether it is a 304 to a request with validators, or has the digest that the request knew.
    public var isUnchanged: Bool
    /// The URL after redirects.
    public var url: String
    /// The new URL when all redirects were permanent (301, 308).
    public var movedTo: String?
    /// Bytes of the body as received.
    public var received: Int
    /// The time from the start of the request to its last byte, without the time in the queue.
    public var elapsed: Duration
    /// When the server's certificate expires; only for a request that `inspectsConnection`, over TLS.
    public var certificateExpires: Timestamp?
    /// Whether it came from a loopback, link-local or private address (RFC 6890). Behind a proxy only an address that is
    /// written in the URL tells; a name counts as public.
    public var isFromPrivate = false
    /// Whether only the end of the connection ended the body (RFC 9112 §6.3), so that a cut one looks whole.
    public var endsWithConnection = false
    /// The granted token that the request carried (of OAuth 2 or a session), which the server may repeat.
    public var token: Secret?
    /// The values of the session's cookies, which the server may repeat; only of a refusal (a status of 400 or more).
    public var cookies: [Secret] = []
    /// The version of the request's secrets when it was sent: a later one may be accepted where this one was refused.
    public var secretsVersion: UInt64 = 0
    /// The records that the server pushes, in place of a body; nil for a complete body.
    public var records: (any RecordStream)?
    /// Keeps the body's share of the memory for responses (I8) until the response is released.
    public var memory: (any Sendable)?

    /// Creates a response.
    public init(
        status: Int, headers: ResponseHeaders = .init(), body: [UInt8] = [], digest: UInt64 = 0,
        isUnchanged: Bool = false, url: String = "", movedTo: String? = nil, received: Int = 0,
        elapsed: Duration = .zero
    ) {
        (self.status, self.headers, self.body, self.digest) = (status, headers, body, digest)
        (self.isUnchanged, self.url, self.movedTo) = (isUnchanged, url, movedTo)
        (self.received, self.elapsed) = (received, elapsed)
    }

    /// Creates the response of a file or a command: all of its bytes, unless the request knows them.
    public init(_ bytes: [UInt8], to request: Request) {
        let digest = StableHash.of(bytes)
        let isUnchanged = digest == request.knownDigest
        self.init(
            status: 200, body: isUnchanged ? [] : bytes, digest: digest, isUnchanged: isUnchanged, url: request.url,
            received: bytes.count)
    }

    /// Moves the body out, so that the caller is its only holder.
    public mutating func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }
}
