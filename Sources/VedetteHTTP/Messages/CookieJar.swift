// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The cookies of one session: RFC 6265 without `Domain`, so that a cookie goes back to the very origin that set it.
struct CookieJar: Sendable {
    struct Cookie: Sendable, Hashable {
        var name: String
        var value: String
        /// RFC 6265 §8.5 lets cookies cross ports and schemes; here they do not, since another port or scheme is
        /// another origin, and a cookie is a credential.
        var origin: String
        var path: String
        var isSecure: Bool
        var expires: Timestamp?
    }

    /// RFC 6265 §6.1 asks for at least 50 per host; an appliance needs two.
    private static let most = 50
    private static let longest = 4096

    private(set) var cookies: [Cookie] = []
    /// Something was set, replaced or removed since this was last made false.
    var isChanged = false

    init() {}

    /// - Parameter cookies: what was kept; more than a jar holds, or too long, is dropped.
    init(_ cookies: [Cookie]) {
        self.cookies = Array(
            cookies.filter {
                CookieJar.isClean($0.name) && CookieJar.isClean($0.value)
                    && $0.name.utf8.count + $0.value.utf8.count <= CookieJar.longest
            }.suffix(CookieJar.most))
    }

    var isEmpty: Bool { cookies.isEmpty }

    /// Takes what a response set.
    mutating func store(_ headers: ResponseHeaders, from url: WebURL, now: Timestamp) {
        for line in headers.all("Set-Cookie") where line.utf8.count <= CookieJar.longest {
            if let cookie = CookieJar.parse(line, url: url, now: now) { put(cookie, now: now) }
        }
    }

    /// A new value keeps the old one's place, as RFC 6265 §5.3 has it keep its creation time.
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
            if cookies.count >= CookieJar.most { cookies.removeFirst() }
            cookies.append(cookie)
        }
        isChanged = true
    }

    private static func parse(_ line: String, url: WebURL, now: Timestamp) -> Cookie? {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed()
        let value = pair[pair.index(after: equals)...].trimmed()
        guard !name.isEmpty, isClean(name), isClean(value) else { return nil }
        var cookie = Cookie(
            name: name, value: value, origin: url.origin, path: defaultPath(url.path), isSecure: false, expires: nil)
        var maxAge: Timestamp?
        for attribute in parts.dropFirst() {
            let pair = attribute.split(separator: "=", maxSplits: 1).map { $0.trimmed() }
            let value = pair.count > 1 ? pair[1] : ""
            switch pair.first?.lowercased() {
            case "path" where value.hasPrefix("/"): cookie.path = value
            case "secure": cookie.isSecure = true
            case "expires": cookie.expires = Timestamp(httpDate: value, now: now)
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

    private static func isClean(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value > 31 && $0.value != 127 && $0 != ";" }
    }

    /// RFC 6265 §5.1.4.
    private static func defaultPath(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The value of the Cookie header for a URL; nil when there is none.
    mutating func header(for url: WebURL, now: Timestamp) -> String? {
        cookies.removeAll { ($0.expires).map { $0 <= now } ?? false }
        let path = url.path.isEmpty ? "/" : url.path
        let origin = url.origin
        let fitting = cookies.enumerated().filter { $0.element.origin == origin && $0.element.covers(path) }
        guard !fitting.isEmpty else { return nil }
        // The longest path first, then the oldest (RFC 6265 §5.4).
        let ordered = fitting.sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return ordered.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }
}

extension CookieJar.Cookie {
    /// RFC 6265 §5.1.4.
    fileprivate func covers(_ asked: String) -> Bool {
        asked == path
            || (asked.hasPrefix(path) && (path.hasSuffix("/") || asked.dropFirst(path.count).first == "/"))
    }
}

/// The form in which a jar is kept.
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

    /// What is no jar is an empty one: cookies come again.
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
