// SPDX-License-Identifier: Apache-2.0

/// The part of a request that the kind determines. The server adds credentials, TLS and its headers, which replace the kind's.
public struct RequestTemplate: Sendable {
    /// The method.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The headers.
    public var headers: [Header]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// Redirects to follow; with 0 a redirect is the response.
    public var redirects: Int
    /// See `Request.inspectsConnection`.
    public var inspectsConnection: Bool
    /// Changes when the same body has to be read again, for a kind whose items depend on the time of day.
    public var period: UInt64 = 0

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil,
        redirects: Int = FetchLimits.redirects,
        inspectsConnection: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.redirects, self.inspectsConnection) = (redirects, inspectsConnection)
    }
}
