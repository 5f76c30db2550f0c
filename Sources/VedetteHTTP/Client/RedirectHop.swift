// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// A URL with its origin, which each request needs several times.
struct Target: Sendable {
    let url: WebURL
    let origin: String

    init(_ url: WebURL) {
        self.url = url
        origin = url.origin
    }

    /// Removes a query credential: it is added when the request is sent, so that no error or response shows it.
    func without(_ credentials: Credentials?) -> Target {
        guard case .query = credentials else { return self }
        return Target(url.without(credentials))
    }
}

/// One request of a fetch: the first, or the one that follows a redirect.
///
/// It is a class since several places hold it at once, and a request is large to copy.
final class RedirectHop: Sendable {
    let request: Request
    let target: Target
    let method: String
    let body: [UInt8]?
    let headers: [Header]
    let credentials: Credentials?
    let validators: Validators
    /// Pin, authority and client certificate are for one origin: another origin gets the usual check of chain, name and date.
    let tls: TLSPolicy
    /// Nil for a direct connection.
    let proxy: ProxySelection?
    private let environment: ProxyEnvironment
    /// Whether no connection to a private address may be opened (adversarial case 20).
    let refusesPrivate: Bool
    /// Whether the same request may use this hop again.
    let isRepeatable: Bool
    /// Of a hop that is repeatable, once they are made.
    private let kept = Mutex<TransferSettings?>(nil)

    var url: WebURL { target.url }
    var origin: String { target.origin }

    /// What its connection leads to: the origin, or the proxy, over which requests to all origins go unless it opens a tunnel.
    var server: String {
        guard let proxy, proxy.forwardsRequests, url.scheme == "http" else { return origin }
        return proxy.url
    }

    /// What its connections are kept under.
    var cacheName: ServerCaches.Server { ServerCaches.Server(origin: server, tls: tls, proxy: proxy) }

    /// POST, PUT and PATCH send a body even when it is empty.
    var sendsBody: Bool { body != nil || method == "POST" || method == "PUT" || method == "PATCH" }

    /// - Parameter credentials: have the token in place of a grant.
    /// - Throws: `.configuration` for a request that must not be sent as it is.
    init(_ request: Request, _ target: Target, _ credentials: Credentials?, environment: ProxyEnvironment = .own)
        throws(FetchError)
    {
        (self.request, self.environment) = (request, environment)
        self.target = target.without(credentials)
        (method, body, headers) = (request.method, request.body, request.headers)
        (self.credentials, validators, tls) = (credentials, request.validators, request.tls)
        proxy = ProxySelection(request.proxy, for: target.url, in: environment)
        refusesPrivate = request.reach.refusesPrivate(at: target.url, fromPrivate: nil)
        isRepeatable = request.isRepeatable && credentials == nil
        try validate()
    }

    /// Makes the hop of a redirect from one that was validated.
    private init(
        _ old: RedirectHop, _ target: Target, method: String, body: [UInt8]?, headers: [Header],
        credentials: Credentials?,
        validators: Validators, tls: TLSPolicy, refusesPrivate: Bool
    ) {
        (request, self.target, environment) = (old.request, target, old.environment)
        (self.method, self.body, self.headers) = (method, body, headers)
        (self.credentials, self.validators, self.tls) = (credentials, validators, tls)
        proxy = ProxySelection(old.request.proxy, for: target.url, in: old.environment)
        self.refusesPrivate = refusesPrivate
        isRepeatable = false
    }

    /// Returns what an easy handle gets for the hop.
    ///
    /// - Parameters:
    ///   - cookies: the value of the Cookie header.
    ///   - isFresh: whether the hop needs a connection of its own.
    func settings(cookies: String?, isFresh: Bool) -> TransferSettings {
        // Where the connection is inspected, the hop needs one of its own in any case.
        let isFresh = isFresh && !request.inspectsConnection
        guard isRepeatable, cookies == nil, !isFresh else {
            return TransferSettings(self, cookies: cookies, isFresh: isFresh)
        }
        return kept.withLock { kept in
            if let kept { return kept }
            let settings = TransferSettings(self, cookies: nil, isFresh: false)
            kept = settings
            return settings
        }
    }

    /// The session whose cookies are sent; nil sends none.
    var session: String? { request.cookies == .none ? nil : request.session }

    /// The URL as it is sent, with a query credential.
    var sentURL: String {
        switch credentials {
        case .query(let name, let secret): url.setting([(name, secret.value)])
        case .signature: RedirectHop.sorted(url)
        default: url.text
        }
    }

    /// The URL with the parameters of its query in the order in which they are signed, which libcurl 7.88 leaves to its
    /// caller.
    private static func sorted(_ url: WebURL) -> String {
        let parts = url.text.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return url.text }
        let pairs = parts[1].split(separator: "&").map { pair in
            pair.contains("=") ? String(pair) : "\(pair)="
        }
        return "\(parts[0])?\(pairs.sorted().joined(separator: "&"))"
    }

    /// The keys that libcurl signs with; nil for other credentials.
    var signature: AWSSignature? {
        guard case .signature(let signature) = credentials else { return nil }
        return signature
    }

    /// User and password of digest authentication; nil when the configuration has an Authorization header of its own.
    var digest: (user: String, password: String)? {
        guard case .digest(let user, let password) = credentials,
            !headers.contains(where: { $0.name.lowercased() == "authorization" })
        else { return nil }
        return (user, password.value)
    }

    private func validate() throws(FetchError) {
        for header in headers {
            guard RedirectHop.isToken(header.name), RedirectHop.isOneLine(header.value) else {
                throw FetchError(
                    .configuration,
                    "the header '\(header.name.filter(\.isLetter))' has a line break or an invalid name; nothing was sent"
                )
            }
        }
        for validator in [validators.etag, validators.lastModified] {
            guard validator.map(RedirectHop.isOneLine) ?? true else {
                throw FetchError(.configuration, "a validator has a line break; nothing was sent")
            }
        }
        guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 64 && $0 < 91 || $0 == 45 }) else {
            throw FetchError(.configuration, "the method is not an HTTP method; write it in capital letters")
        }
        if let user = credentials?.user, user.utf8.contains(58) {
            throw FetchError(
                .configuration,
                "the user contains a colon, which basic and digest authentication do not allow (RFC 7617)")
        }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 58 && $0 != 59 }
    }

    private static func isOneLine(_ text: String) -> Bool {
        for byte in text.utf8 where byte == 13 || byte == 10 || byte == 0 { return false }
        return true
    }

    /// Returns the hop that follows a redirect. Another origin gets nothing that could be a credential (RFC 9110 §15.4).
    ///
    /// - Parameter fromPrivate: whether the redirect came from a private address, so that it may lead to one.
    func redirected(status: Int, to target: Target, fromPrivate: Bool) throws(FetchError) -> RedirectHop {
        let becomesGet = status == 303 || (method == "POST" && (status == 301 || status == 302))
        let isElsewhere = target.origin != origin
        guard !isElsewhere || becomesGet || body == nil else {
            throw FetchError(
                .redirect, "\(origin) redirects a request with a body to another origin, which is refused")
        }
        let kept = headers.filter { header in
            if becomesGet, header.name.lowercased().hasPrefix("content-") { return false }
            return !isElsewhere || !(header.isForOneOrigin || RedirectHop.isLikeCredential(header.name))
        }
        // A temporary redirect may lead to another page, such as a login. Its 304 would claim that our document is unchanged.
        let isSameDocument = status == 301 || status == 308
        return RedirectHop(
            self, target, method: becomesGet && method != "HEAD" ? "GET" : method, body: becomesGet ? nil : body,
            headers: kept, credentials: isElsewhere ? nil : credentials,
            validators: isSameDocument ? validators : Validators(), tls: isElsewhere ? tls.forOtherOrigins : tls,
            refusesPrivate: request.reach.refusesPrivate(at: target.url, fromPrivate: fromPrivate))
    }

    /// Whether a header belongs to one origin, or has the name of a credential.
    private static func isLikeCredential(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "host"
            || ["auth", "cookie", "token", "key", "secret", "session", "password", "credential", "signature"]
                .contains { name.contains($0) }
    }

    /// Refuses a private address behind a proxy, as far as the URL tells: the proxy resolves names itself, and the address
    /// of the connection is its own.
    func checkReach(_ isPrivate: (IPAddress) -> Bool) throws(FetchError) {
        if refusesPrivate, proxy != nil, namesPrivate(isPrivate) { throw .privateAddress(origin) }
    }

    /// Whether the host in the URL is a private address in any spelling, or a name of this machine.
    ///
    /// libcurl decodes percent escapes in a host, and the rules for international names make ASCII digits of other ones,
    /// so a host outside ASCII counts as private; `xn--` names need neither.
    func namesPrivate(_ isPrivate: (IPAddress) -> Bool) -> Bool {
        var host = RedirectHop.percentDecoded(url.host).lowercased()
        guard host.utf8.allSatisfy({ $0 < 128 }) else { return true }
        while host.last == "." { host.removeLast() }
        return WebURL.isLoopback(host) || IPAddress(spelled: host).map(isPrivate) ?? false
    }

    private static func percentDecoded(_ host: String) -> String {
        // A plus is no blank in a host.
        FormEncoding.decoded(host.replacing("+", with: "%2B"))
    }

    /// Returns where a response redirects to; nil when it does not.
    func redirect(_ raw: RawResponse) throws(FetchError) -> WebURL? {
        guard let location = raw.location else { return nil }
        guard let target = url.resolving(RedirectHop.escaped(location)) else {
            throw FetchError(.redirect, "\(origin) redirects to something other than an http or https URL")
        }
        if url.scheme == "https", target.scheme == "http" {
            throw FetchError(.redirect, "\(origin) redirects from https to http, which is refused")
        }
        return target.without(request.credentials)
    }

    /// Encodes spaces and bytes outside ASCII, which many servers send in a Location though RFC 3986 §2 forbids it.
    private static func escaped(_ location: String) -> String {
        guard location.utf8.contains(where: { $0 == 32 || $0 > 127 }) else { return location }
        return location.utf8.reduce(into: "") { out, byte in
            if byte == 32 || byte > 127 {
                out += "%" + String(byte, radix: 16, uppercase: true)
            } else {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }
}

/// The response of one hop, as received.
struct RawResponse: Sendable {
    var status: Int
    var headers: ResponseHeaders
    /// The value of Content-Encoding in lower case.
    var encoding: String?
    var setsCookies: Bool
    var body: [UInt8]
    var digest: UInt64
    /// Whether the body has the digest that the request knew.
    var isKnown: Bool
    /// Whether status and headers suffice, so that the body may be cut or damaged.
    var isBodyOptional: Bool
    var received: Int
    var microseconds: Int64
    /// The server's address is private. Behind a proxy only the URL tells.
    var isFromPrivate: Bool
    var certificateExpires: Timestamp?
    /// See `Response.secretsVersion`.
    var secretsVersion: UInt64
    /// See `Response.endsWithConnection`.
    var endsWithConnection = false
    /// The share of the body; nil without one.
    var memory: MemoryShare?
    /// The records that arrive in place of a body; nil for a complete body.
    var records: HTTPRecordStream?

    var location: String? {
        switch status {
        case 301, 302, 303, 307, 308: headers["Location"]
        default: nil
        }
    }
}
