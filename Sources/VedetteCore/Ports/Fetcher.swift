// SPDX-License-Identifier: Apache-2.0

/// Carries one request at a time per call; the only way out to the network, for polls and deliveries alike.
public protocol Fetcher: Sendable {
    /// Cancelling the calling task ends the transfer with `.cancelled`; cancelling a finished fetch does nothing.
    func fetch(_ request: Request) async throws(FetchError) -> Response
}

/// Which requests wait for which: a lane has its own places, so that one kind of slowness delays no other (I7).
public enum Lane: Sendable, Hashable, CaseIterable {
    /// Polls of hosts that answer.
    case polls
    /// Polls of hosts whose last attempt timed out.
    case slowHosts
    case deliveries
}

public struct Request: Sendable {
    public var method: String
    /// Absolute, `http` or `https`.
    public var url: String
    public var headers: [Header]
    public var body: [UInt8]?
    public var credentials: Credentials?
    public var tls: TLSPolicy
    /// The cookie jar: requests of one session share cookies, nil keeps none.
    public var session: String?
    public var lane: Lane
    /// For `deliveries`: whose places are counted (at most 4 in flight each).
    public var group: String?
    public var limits: FetchLimits
    /// Sent as If-None-Match and If-Modified-Since, byte for byte (RFC 9110 §13.1).
    public var validators: Validators
    /// The digest of the last good body as received: an equal body comes back `isUnchanged`, neither inflated nor copied.
    public var knownDigest: UInt64?
    /// 0: a redirect is returned as the response that it is.
    public var redirects: Int
    public var proxy: Proxy
    public var cookies: CookiePolicy
    public var originLimits: OriginLimits
    /// Which addresses its redirects, or all of it, may lead to.
    public var reach: Reach
    /// On a connection of its own, so that `elapsed` and `certificateExpires` of the response are about one.
    public var inspectsConnection: Bool

    /// A server on the internet must not make us ask a machine of our own network (adversarial case 20).
    public enum Reach: Sendable, Hashable {
        /// The address as configured may be private; a redirect to a private address is followed only from a private one.
        case likeTheFirst
        /// No private address at all: a public server named this address.
        case publicOnly
        /// The user allows it.
        case anywhere
    }

    public init(
        method: String = "GET", url: String, headers: [Header] = [], body: [UInt8]? = nil,
        credentials: Credentials? = nil, tls: TLSPolicy = .init(), session: String? = nil, lane: Lane = .polls,
        group: String? = nil, limits: FetchLimits = .init(), validators: Validators = .init(),
        knownDigest: UInt64? = nil, redirects: Int = 5, proxy: Proxy = .environment, cookies: CookiePolicy = .memory,
        originLimits: OriginLimits = .init(), reach: Reach = .likeTheFirst, inspectsConnection: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.credentials, self.tls, self.session) = (credentials, tls, session)
        (self.lane, self.group, self.limits) = (lane, group, limits)
        (self.validators, self.knownDigest, self.redirects) = (validators, knownDigest, redirects)
        (self.proxy, self.cookies, self.originLimits) = (proxy, cookies, originLimits)
        (self.reach, self.inspectsConnection) = (reach, inspectsConnection)
    }
}

/// The limits of I8 on one transfer.
public struct FetchLimits: Sendable, Hashable {
    /// Bytes of the body as received.
    public var received = 16 << 20
    /// Bytes of the body once inflated.
    public var inflated = 32 << 20
    /// Bytes of all response headers of one response.
    public var headers = 64 << 10
    public var connect = Duration.seconds(10)
    public var firstByte = Duration.seconds(30)
    /// Below 64 bytes a second for this long ends the transfer.
    public var lowSpeed = Duration.seconds(20)
    public var total = Duration.seconds(120)

    public init() {}
}

/// What a conditional request carries, as the server wrote it.
public struct Validators: Sendable, Hashable {
    public var etag: String?
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }
}

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
    /// It came from a loopback, link-local or private address (RFC 6890), or through a proxy.
    public var isFromPrivate = false

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

/// The header lines of a response as received; a value is looked for only when somebody asks.
public struct ResponseHeaders: Sendable, Hashable {
    private var lines: [UInt8]

    /// - Parameter lines: `Name: value` lines, each ended by LF or CR LF.
    public init(lines: [UInt8] = []) { self.lines = lines }

    public init(_ pairs: [(String, String)]) {
        lines = pairs.flatMap { Array("\($0): \($1)\n".utf8) }
    }

    /// The first value of that name, in any case, without surrounding white space.
    public subscript(name: String) -> String? { values(name, most: 1).first }

    public func all(_ name: String) -> [String] { values(name, most: .max) }

    /// One walk over the bytes: this is asked several times for every poll.
    private func values(_ name: String, most: Int) -> [String] {
        var (name, found) = (name, [String]())
        name.withUTF8 { wanted in
            lines.withUnsafeBufferPointer { bytes in
                var start = 0
                while start < bytes.count, found.count < most {
                    let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
                    if let value = ResponseHeaders.value(of: wanted, in: bytes[start..<end]) { found.append(value) }
                    start = end + 1
                }
            }
        }
        return found
    }

    private static func value(of wanted: UnsafeBufferPointer<UInt8>, in line: Slice<UnsafeBufferPointer<UInt8>>)
        -> String?
    {
        guard line.count > wanted.count, line[line.startIndex + wanted.count] == 58 else { return nil }
        for i in 0..<wanted.count where line[line.startIndex + i] | 0x20 != wanted[i] | 0x20 { return nil }
        var value = line[(line.startIndex + wanted.count + 1)...]
        while let last = value.last, last <= 32 { value.removeLast() }
        while let first = value.first, first <= 32 { value.removeFirst() }
        return String(decoding: value, as: UTF8.self)
    }

    /// `type/subtype` in lower case, without parameters.
    public var mediaType: String? {
        self["Content-Type"]?.split(separator: ";").first.map { $0.lowercased().trimmed() }
    }

    /// The `charset` parameter of Content-Type, unquoted.
    public var charset: String? {
        guard let type = self["Content-Type"] else { return nil }
        for parameter in type.split(separator: ";").dropFirst() {
            let text = String(parameter).trimmed()
            guard text.lowercased().hasPrefix("charset=") else { continue }
            return String(text.dropFirst(8).filter { $0 != "\"" }).trimmed()
        }
        return nil
    }
}

/// A transfer that brought no usable response.
public struct FetchError: Error, Sendable, Hashable {
    public var failure: Failure
    /// One clear sentence; it names the origin at most, never a path, query, header or credential.
    public var detail: String
    /// True when no byte of a response was seen before a deadline: the host's next poll runs in the suspects' lane.
    public var timedOut: Bool

    public init(_ failure: Failure, _ detail: String, timedOut: Bool = false) {
        (self.failure, self.detail, self.timedOut) = (failure, detail, timedOut)
    }
}
