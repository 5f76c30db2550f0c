// SPDX-License-Identifier: Apache-2.0

import CCurl
import VedetteCore

/// The header lines of a request, in the form that libcurl takes.
struct RequestHeaders {
    private var list: UnsafeMutablePointer<curl_slist>?
    private var line: [UInt8] = []

    /// Returns the list, which the caller frees.
    static func list(of hop: RedirectHop, cookies: String?) -> UnsafeMutablePointer<curl_slist>? {
        var headers = RequestHeaders()
        headers.build(hop, cookies: cookies)
        return headers.list
    }

    private mutating func build(_ hop: RedirectHop, cookies: String?) {
        var (hasEncoding, hasAgent, hasType) = (false, false, !hop.sendsBody)
        var hasAuthorization = false
        var ownCookies: [String] = []
        for header in hop.headers where !isUnsignable(header, in: hop) {
            if header.name.utf8.count == 6, header.name.lowercased() == "cookie" {
                ownCookies.append(header.value)
                continue
            }
            add(header.name, header.value)
            switch header.name.utf8.count {
            case 10: hasAgent = hasAgent || header.name.lowercased() == "user-agent"
            case 12: hasType = hasType || header.name.lowercased() == "content-type"
            case 13: hasAuthorization = hasAuthorization || header.name.lowercased() == "authorization"
            case 15: hasEncoding = hasEncoding || header.name.lowercased() == "accept-encoding"
            default: break
            }
        }
        if !hasAgent { add("User-Agent", "vedette") }
        // libcurl 7.88 sorts `accept-encoding:` before `accept:` in what it signs, which no server does.
        if !hasEncoding, hop.signature == nil { add("Accept-Encoding", "gzip") }
        if !hasAuthorization, let credentials = hop.credentials { authorize(credentials) }
        if let etag = hop.validators.etag { add("If-None-Match", etag) }
        if let date = hop.validators.lastModified { add("If-Modified-Since", date) }
        if let cookies = RequestHeaders.cookies(ownCookies, cookies) { add("Cookie", cookies) }
        if hop.signature == nil {
            if hop.sendsBody { remove("Expect") }
            // Without this, libcurl declares every body to be a form.
            if !hasType { remove("Content-Type") }
        } else if !hasType {
            // libcurl 7.88 signs a header that it was told not to send.
            add("Content-Type", "application/octet-stream")
        }
    }

    /// Returns the value of the one Cookie header that a request may have (RFC 6265 §5.4); nil for none.
    /// - Parameters:
    ///   - own: the values of the headers of the configuration, whose cookies go before the server's of the same names.
    ///   - jar: the cookies that the server set.
    static func cookies(_ own: [String], _ jar: String?) -> String? {
        let own = own.filter { !$0.isEmpty }
        guard !own.isEmpty else { return jar }
        func name(_ cookie: Substring) -> String { cookie.prefix { $0 != "=" }.trimmed() }
        let names = Set(own.flatMap { $0.split(separator: ";").map(name) })
        let others = (jar ?? "").split(separator: ";").filter { !names.contains(name($0)) }
        return (own + others.map { $0.trimmed() }).joined(separator: "; ")
    }

    /// Whether libcurl would sign a header in the wrong place: Accept beside another one that begins with its name.
    private func isUnsignable(_ header: Header, in hop: RedirectHop) -> Bool {
        guard hop.signature != nil, header.name.lowercased() == "accept" else { return false }
        return hop.headers.contains { $0.name.lowercased().hasPrefix("accept-") }
    }

    /// libcurl answers the challenge of digest authentication, and signs; a query credential is part of the URL.
    private mutating func authorize(_ credentials: Credentials) {
        switch credentials {
        case .basic(let user, let password):
            add("Authorization", "Basic " + Base64.encode("\(user):\(password.value)".utf8))
        case .bearer(let token): add("Authorization", "Bearer " + token.value)
        case .digest, .query, .grant, .signature: break
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        line.removeAll(keepingCapacity: true)
        line.append(contentsOf: name.utf8)
        if value.isEmpty {
            // libcurl sends a header without a value only when it is written with a semicolon.
            line.append(0x3B)
        } else {
            line.append(0x3A)
            line.append(0x20)
            line.append(contentsOf: value.utf8)
        }
        line.append(0)
        let longer = line.withUnsafeBufferPointer { line in
            line.withMemoryRebound(to: CChar.self) { curl_slist_append(list, $0.baseAddress) }
        }
        if let longer { list = longer }
    }

    private mutating func remove(_ name: String) {
        if let longer = curl_slist_append(list, "\(name):") { list = longer }
    }
}
