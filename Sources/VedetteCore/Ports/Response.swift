// SPDX-License-Identifier: Apache-2.0

public struct Response: Sendable {
    public var status: Int
    public var headers: ResponseHeaders
    /// Inflated. Empty when `isUnchanged`. Its capacity has 64 spare bytes, which a JSON reader wants.
    public var body: [UInt8]
    /// Of the body as received, before inflating.
    public var digest: UInt64
    /// A 304, or a body with the digest that the request knew.
    public var isUnchanged: Bool
    /// After redirects.
    public var url: String
    /// The new address when every redirect on the way was permanent (301, 308).
    public var movedTo: String?
    /// Bytes of the body as received.
    public var received: Int
    /// From the request's start to the last byte, queueing apart.
    public var elapsed: Duration
    /// When the server's certificate expires; only of a request that `inspectsConnection`, over TLS.
    public var certificateExpires: Timestamp?
    /// Whether it came from a loopback, link-local or private address (RFC 6890). Behind a proxy only an address that is
    /// written in the URL tells; a name counts as public.
    public var isFromPrivate = false
    /// Keeps the body's share of the memory for responses (I8) until the response is released.
    public var memory: (any Sendable)?

    public init(
        status: Int, headers: ResponseHeaders = .init(), body: [UInt8] = [], digest: UInt64 = 0,
        isUnchanged: Bool = false, url: String = "", movedTo: String? = nil, received: Int = 0,
        elapsed: Duration = .zero
    ) {
        (self.status, self.headers, self.body, self.digest) = (status, headers, body, digest)
        (self.isUnchanged, self.url, self.movedTo) = (isUnchanged, url, movedTo)
        (self.received, self.elapsed) = (received, elapsed)
    }
}
