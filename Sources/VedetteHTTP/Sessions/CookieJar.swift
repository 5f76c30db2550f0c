// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The cookies of one session: RFC 6265 without `Domain`, so that a cookie is sent to the origin that set it and to no other.
struct CookieJar: Sendable {
    struct Cookie: Sendable, Hashable {
        var name: String
        var value: String
        /// RFC 6265 §8.5 shares cookies over ports and schemes. Here they are not shared: another port or scheme is another
        /// origin, and a cookie is a credential.
        var origin: String
        var path: String
        var isSecure: Bool
        var expires: Timestamp?
    }

    /// RFC 6265 §6.1 asks for at least 50 per host.
    private static let maximumCookies = 50
    /// Bytes of a Set-Cookie line.
    private static let maximumLength = 4096

    private(set) var cookies: [Cookie] = []
    /// Whether a cookie was set, replaced or removed since this was last set to false.
    var isChanged = false

    init() {}

    /// - Parameter cookies: stored cookies; those beyond the limits are dropped.
    init(_ cookies: [Cookie]) {
        self.cookies = Array(
            cookies.filter {
                CookieJar.isPlain($0.name) && CookieJar.isPlain($0.value)
                    && $0.name.utf8.count + $0.value.utf8.count <= CookieJar.maximumLength
            }.suffix(CookieJar.maximumCookies))
    }

    var isEmpty: Bool { cookies.isEmpty }

    /// Stores the cookies that a response sets.
    mutating func store(_ headers: ResponseHeaders, from url: WebURL, now: Timestamp) {
        for line in headers.all("Set-Cookie") where line.utf8.count <= CookieJar.maximumLength {
            if let cookie = CookieJar.parse(line, url: url, now: now) { put(cookie, now: now) }
        }
    }

    /// A new value keeps the position of the old one, as RFC 6265 §5.3 keeps its creation time.
    private mutating func put(_ cookie: Cookie, now: Timestamp) {
        let at = cookies.firstIndex {
            $0.name == cookie.name && $0.origin == cookie.origin && $0.path == cookie.path
        }
        if let expires = cookie.expires, expires <= now {
            guard let at else { return }
            cookies.remove(at: at)
        } else if let at {
            guard cookies[at] != cookie else { return }
            cookies[at] = cookie
        } else {
            if cookies.count >= CookieJar.maximumCookies { cookies.removeFirst() }
            cookies.append(cookie)
        }
        isChanged = true
    }

    private static func parse(_ line: String, url: WebURL, now: Timestamp) -> Cookie? {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed()
        let value = pair[pair.index(after: equals)...].trimmed()
        guard !name.isEmpty, isPlain(name), isPlain(value) else { return nil }
        var cookie = Cookie(
            name: name, value: value, origin: url.origin, path: defaultPath(url.path), isSecure: false, expires: nil)
        var maxAge: Timestamp?
        for attribute in parts.dropFirst() {
            let pair = attribute.split(separator: "=", maxSplits: 1).map { $0.trimmed() }
            let value = pair.count > 1 ? pair[1] : ""
            switch pair.first?.lowercased() {
            case "path" where value.hasPrefix("/"): cookie.path = value
            case "secure": cookie.isSecure = true
            case "expires": cookie.expires = CookieDate.timestamp(value)
            case "max-age":
                if let seconds = Int64(value) {
                    maxAge = now.advanced(by: .seconds(min(max(seconds, 0), 400 * 86_400)))
                }
            default: break
            }
        }
        cookie.expires = maxAge ?? cookie.expires
        return cookie.isSecure && url.scheme != "https" ? nil : cookie
    }

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value > 31 && $0.value != 127 && $0 != ";" }
    }

    /// RFC 6265 §5.1.4.
    private static func defaultPath(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns the value of the Cookie header for a URL; nil without a cookie.
    mutating func header(for url: WebURL, now: Timestamp) -> String? {
        cookies.removeAll { ($0.expires).map { $0 <= now } ?? false }
        let path = url.path.isEmpty ? "/" : url.path
        let origin = url.origin
        let matching = cookies.enumerated().filter { $0.element.origin == origin && $0.element.covers(path) }
        guard !matching.isEmpty else { return nil }
        // The longest path first, then the oldest (RFC 6265 §5.4).
        let ordered = matching.sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return ordered.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }
}

extension CookieJar.Cookie {
    /// RFC 6265 §5.1.4.
    fileprivate func covers(_ requestPath: String) -> Bool {
        requestPath == path
            || (requestPath.hasPrefix(path) && (path.hasSuffix("/") || requestPath.dropFirst(path.count).first == "/"))
    }
}

/// The form in which a jar is stored.
extension CookieJar {
    var json: JSON {
        .array(
            cookies.map { cookie in
                .members([
                    "origin": .string(cookie.origin), "path": .string(cookie.path), "name": .string(cookie.name),
                    "value": .string(cookie.value), "secure": .bool(cookie.isSecure),
                    "expires": cookie.expires.map { .number($0.milliseconds) },
                ])
            })
    }

    /// Reads a stored jar. A damaged one becomes an empty jar: servers set their cookies again.
    init(json bytes: [UInt8]) {
        let list = (try? JSON(parsing: bytes))?.array ?? []
        self.init(
            list.compactMap { entry in
                guard let origin = entry["origin"]?.string, let path = entry["path"]?.string,
                    let name = entry["name"]?.string, let value = entry["value"]?.string
                else { return nil }
                let expires = entry["expires"]?.int64.map { Timestamp(milliseconds: $0) }
                return Cookie(
                    name: name, value: value, origin: origin, path: path, isSecure: entry["secure"] == .bool(true),
                    expires: expires)
            })
    }
}
