// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The cookies of one session: RFC 6265 without `Domain`, so that a cookie goes back to the very host that set it.
struct CookieJar {
    private struct Cookie {
        var name: String
        var value: String
        var host: String
        var path: String
        var isSecure: Bool
        var expires: Timestamp?
    }

    /// RFC 6265 §6.1 asks for at least 50 per host; an appliance needs two.
    private static let most = 50
    private static let longest = 4096

    private var cookies: [Cookie] = []

    var isEmpty: Bool { cookies.isEmpty }

    /// Takes what a response set.
    mutating func store(_ headers: ResponseHeaders, from url: WebURL, now: Timestamp) {
        for line in headers.all("Set-Cookie") where line.utf8.count <= CookieJar.longest {
            if let cookie = CookieJar.parse(line, url: url, now: now) { put(cookie, now: now) }
        }
    }

    private mutating func put(_ cookie: Cookie, now: Timestamp) {
        cookies.removeAll { $0.name == cookie.name && $0.host == cookie.host && $0.path == cookie.path }
        if let expires = cookie.expires, expires <= now { return }
        if cookies.count >= CookieJar.most { cookies.removeFirst() }
        cookies.append(cookie)
    }

    private static func parse(_ line: String, url: WebURL, now: Timestamp) -> Cookie? {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed()
        let value = pair[pair.index(after: equals)...].trimmed()
        guard !name.isEmpty, isClean(name), isClean(value) else { return nil }
        var cookie = Cookie(
            name: name, value: value, host: host(url), path: defaultPath(url.path), isSecure: false, expires: nil)
        var maxAge: Timestamp?
        for attribute in parts.dropFirst() {
            let pair = attribute.split(separator: "=", maxSplits: 1).map { $0.trimmed() }
            let value = pair.count > 1 ? pair[1] : ""
            switch pair.first?.lowercased() {
            case "path" where value.hasPrefix("/"): cookie.path = value
            case "secure": cookie.isSecure = true
            case "expires": cookie.expires = Timestamp(httpDate: value.split(separator: "-").joined(separator: " "))
            case "max-age":
                if let seconds = Int64(value) {
                    maxAge = now.advanced(by: .seconds(min(max(seconds, 0), 400 * 86_400)))
                }
            default: break
            }
        }
        cookie.expires = maxAge ?? cookie.expires
        return cookie
    }

    private static func isClean(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value > 31 && $0.value != 127 && $0 != ";" }
    }

    /// RFC 6265 §5.1.4.
    private static func defaultPath(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Cookies ignore ports (RFC 6265 §8.5); here they do not, since another port is another origin.
    private static func host(_ url: WebURL) -> String { url.authority }

    /// The value of the Cookie header for a URL; nil when there is none.
    mutating func header(for url: WebURL, now: Timestamp) -> String? {
        cookies.removeAll { ($0.expires).map { $0 <= now } ?? false }
        let path = url.path.isEmpty ? "/" : url.path
        let fitting = cookies.filter { cookie in
            cookie.host == CookieJar.host(url) && (!cookie.isSecure || url.scheme == "https")
                && (path == cookie.path
                    || (path.hasPrefix(cookie.path)
                        && (cookie.path.hasSuffix("/")
                            || path.dropFirst(cookie.path.count).first == "/")))
        }
        return fitting.isEmpty ? nil : fitting.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
