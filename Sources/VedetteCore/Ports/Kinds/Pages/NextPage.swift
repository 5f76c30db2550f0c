// SPDX-License-Identifier: Apache-2.0

/// The request for the next page.
public struct NextPage: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The absolute address.
    public var url: String
    /// The body with the next cursor; nil repeats the first page's body.
    public var body: [UInt8]?

    /// Creates a request.
    public init(_ url: String, body: [UInt8]? = nil) { (self.url, self.body) = (url, body) }
    /// A page without a body of its own.
    public init(stringLiteral url: String) { self.init(url) }
}
