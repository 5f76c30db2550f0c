// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// An address with its origin, which is asked for several times per request.
struct Target: Sendable {
    let url: WebURL
    let origin: String

    init(_ url: WebURL) {
        self.url = url
        origin = url.origin
    }
}

/// One request of a fetch: the first, or what a redirect made of it.
/// A class, since it stands in several places at once and a request is large to copy.
final class Hop: Sendable {
    let request: Request
    let target: Target
    let method: String
    let body: [UInt8]?
    let headers: [Header]
    let credentials: Credentials?
    let validators: Validators
    /// It speaks of the origin that it was given for: on another one chain, name and date are checked.
    let tls: TLSPolicy

    var url: WebURL { target.url }
    var origin: String { target.origin }

    /// These methods have a body even where it is empty.
    var sendsBody: Bool { body != nil || method == "POST" || method == "PUT" || method == "PATCH" }

    /// - Throws: `.configuration` for what must not be sent as it is.
    init(_ request: Request, _ target: Target) throws(FetchError) {
        (self.request, self.target) = (request, target)
        (method, body, headers) = (request.method, request.body, request.headers)
        (credentials, validators, tls) = (request.credentials, request.validators, request.tls)
        try check()
    }

    /// A redirect's, made of what was checked.
    private init(
        _ old: Hop, _ target: Target, method: String, body: [UInt8]?, headers: [Header], credentials: Credentials?,
        validators: Validators, tls: TLSPolicy
    ) {
        (request, self.target) = (old.request, target)
        (self.method, self.body, self.headers) = (method, body, headers)
        (self.credentials, self.validators, self.tls) = (credentials, validators, tls)
    }

    private func check() throws(FetchError) {
        for header in headers {
            guard Hop.isToken(header.name), Hop.isOneLine(header.value) else {
                throw FetchError(
                    .configuration,
                    "the header '\(header.name.filter(\.isLetter))' has a line break or a bad name; nothing was sent")
            }
        }
        for validator in [validators.etag, validators.lastModified] {
            guard validator.map(Hop.isOneLine) ?? true else {
                throw FetchError(.configuration, "a validator has a line break; nothing was sent")
            }
        }
        guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 64 && $0 < 91 || $0 == 45 }) else {
            throw FetchError(.configuration, "the method is no HTTP method; it is written in capital letters")
        }
        if case .basic(let user, _) = credentials, user.utf8.contains(58) {
            throw FetchError(.configuration, "the user has a colon, which basic authentication cannot carry (RFC 7617)")
        }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 58 && $0 != 59 }
    }

    private static func isOneLine(_ text: String) -> Bool {
        for byte in text.utf8 where byte == 13 || byte == 10 || byte == 0 { return false }
        return true
    }

    /// Follows a redirect. On another origin nothing goes along that could be a credential (RFC 9110 §15.4).
    func redirected(status: Int, to target: Target) throws(FetchError) -> Hop {
        let becomesGet = status == 303 || (method == "POST" && (status == 301 || status == 302))
        let isElsewhere = target.origin != origin
        guard !isElsewhere || becomesGet || body == nil else {
            throw FetchError(
                .redirect, "\(origin) redirects a request with a body to another origin, which is refused")
        }
        let own = ["authorization", "cookie", "host", "proxy-authorization"]
        let kept = headers.filter { header in
            let name = header.name.lowercased()
            if becomesGet, name.hasPrefix("content-") { return false }
            return !isElsewhere || !(header.isSecret || own.contains(name))
        }
        // A page that only happens to be asked for (a login page) may be older than our document: its 304 would say
        // that the document is unchanged.
        let isSameDocument = status == 301 || status == 308
        return Hop(
            self, target, method: becomesGet && method != "HEAD" ? "GET" : method, body: becomesGet ? nil : body,
            headers: kept, credentials: isElsewhere ? nil : credentials,
            validators: isSameDocument ? validators : Validators(), tls: isElsewhere ? TLSPolicy() : tls)
    }

    /// Where a response redirects to; nil when it does not.
    func redirect(_ raw: RawResponse) throws(FetchError) -> WebURL? {
        guard let location = raw.location else { return nil }
        guard let target = url.resolving(Hop.escaped(location)) else {
            throw FetchError(.redirect, "\(origin) redirects to what is no http or https address")
        }
        if url.scheme == "https", target.scheme == "http" {
            throw FetchError(.redirect, "\(origin) redirects from https to http, which is refused")
        }
        return target
    }

    /// Spaces and bytes beyond ASCII stand in many a Location, though they must not (RFC 3986 §2).
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

/// What one hop brought, as received.
struct RawResponse: Sendable {
    var status: Int
    var headers: ResponseHeaders
    /// Content-Encoding in lower case.
    var encoding: String?
    var setsCookies: Bool
    var body: [UInt8]
    var digest: UInt64
    /// The body is the one that the request knew.
    var isKnown: Bool
    /// Status and headers say all that matters; the body may be cut or garbled.
    var isBodyOptional: Bool
    var received: Int
    var microseconds: Int64

    var location: String? {
        switch status {
        case 301, 302, 303, 307, 308: headers["Location"]
        default: nil
        }
    }
}
