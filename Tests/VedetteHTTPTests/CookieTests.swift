// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Cookies")
struct CookieTests {
    private let now = Timestamp(milliseconds: 1_790_000_000_000)

    private func url(_ text: String) throws -> WebURL { try #require(WebURL(text)) }

    private func jar(_ cookies: String..., from address: String = "https://a.example/app/login") throws -> CookieJar {
        var jar = CookieJar()
        jar.store(ResponseHeaders(cookies.map { ("Set-Cookie", $0) }), from: try url(address), now: now)
        return jar
    }

    @Test("a cookie is sent only to its origin and path, also where another scheme has the same host")
    func places() throws {
        var jar = try jar("id=1; Path=/", "part=2", "safe=3; Path=/; Secure")
        #expect(jar.header(for: try url("https://a.example/app/x"), now: now) == "part=2; id=1; safe=3")
        #expect(jar.header(for: try url("https://a.example:443/apple"), now: now) == "id=1; safe=3")
        for other in [
            "https://b.example/", "https://x.a.example/", "https://a.example:8443/", "http://a.example/",
            "http://a.example:443/",
        ] {
            #expect(jar.header(for: try url(other), now: now) == nil)
        }
    }

    @Test("a secure cookie is not accepted over http")
    func insecure() throws {
        var jar = try jar("safe=3; Path=/; Secure", "plain=1; Path=/", from: "http://a.example/")
        #expect(jar.header(for: try url("http://a.example/"), now: now) == "plain=1")
    }

    @Test("cookies are sent by path length, then age; a new value keeps the position of the old one")
    func order() throws {
        var jar = try jar("a=1; Path=/", "b=2; Path=/app/x", "c=3; Path=/app", "d=4; Path=/app", "a=5; Path=/")
        #expect(jar.header(for: try url("https://a.example/app/x/y"), now: now) == "b=2; c=3; d=4; a=5")
    }

    @Test("a stored jar is read back unchanged; a damaged one is empty")
    func kept() throws {
        var jar = try jar("a=1; Path=/; Secure; Max-Age=10", "b=\"x y\"; Path=/app")
        var again = CookieJar(json: jar.json.bytes)
        let address = try url("https://a.example/app/x")
        #expect(again.header(for: address, now: now) == "b=\"x y\"; a=1")
        #expect(again.header(for: address, now: now) == jar.header(for: address, now: now))
        #expect(again.header(for: address, now: now.advanced(by: .seconds(11))) == "b=\"x y\"")
        for text in [
            "", "{}", "[1,{}]", #"[{"origin":"https://a.example:443","path":"/","name":"a\r\n","value":"1"}]"#,
        ] {
            var empty = CookieJar(json: Array(text.utf8))
            #expect(empty.isEmpty && empty.header(for: address, now: now) == nil)
        }
    }

    @Test("a cookie ends by its age, its date or a new past date; a new value replaces the old one")
    func ends() throws {
        var jar = try jar(
            "a=1; Path=/; Max-Age=10", "b=1; Path=/; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "c=1; Path=/")
        let address = try url("https://a.example/")
        #expect(jar.header(for: address, now: now) == "a=1; c=1")
        jar.store(ResponseHeaders([("Set-Cookie", "c=2; Path=/")]), from: address, now: now)
        #expect(jar.header(for: address, now: now.advanced(by: .seconds(11))) == "c=2")
        jar.store(ResponseHeaders([("Set-Cookie", "c=; Path=/; Max-Age=0")]), from: address, now: now)
        #expect(jar.header(for: address, now: now.advanced(by: .seconds(11))) == nil)
    }

    @Test(
        "a date of a cookie has its parts in any order and case, and any zone is GMT (RFC 6265 §5.1.1)",
        arguments: [
            ("Thu, 1 Jan 1970 00:00:00 GMT", 0), ("Thu, 01-Jan-70 00:00:10 UTC", 10), ("1 jan 1970 0:1:0 +0000", 60),
            ("THU JAN  1 00:00:00 1970", 0), ("Wed, 21 Oct 2015 07:28:00", 1_445_412_480),
            ("21 Oct 15 07:28:00x", 1_445_412_480), ("Thu, 1 Jan 1970", nil), ("31 Feb 2015 07:28:00", nil),
            ("1 Jan 1600 00:00:00", nil), ("1 Jan 1970 24:00:00", nil), ("", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ seconds: Int64?) {
        #expect(CookieDate.timestamp(text) == seconds.map { Timestamp(milliseconds: $0 * 1000) })
    }

    @Test("a request has one Cookie header: the configuration's cookies, and the server's with other names")
    func oneHeader() {
        #expect(RequestHeaders.cookies([], nil) == nil && RequestHeaders.cookies([], "a=1; b=2") == "a=1; b=2")
        #expect(RequestHeaders.cookies([""], nil) == nil && RequestHeaders.cookies(["", "c=3"], "b=2") == "c=3; b=2")
        #expect(RequestHeaders.cookies(["a=x; c=3"], nil) == "a=x; c=3")
        #expect(RequestHeaders.cookies(["a=x; c=3"], "a=1; b=2; A=4") == "a=x; c=3; b=2; A=4")
    }

    @Test("a jar has at most fifty cookies, and none that is long or has control characters")
    func bounds() throws {
        var jar = CookieJar()
        let address = try url("https://a.example/")
        for n in 0..<80 { jar.store(ResponseHeaders([("Set-Cookie", "c\(n)=1")]), from: address, now: now) }
        #expect(jar.header(for: address, now: now)?.split(separator: ";").count == 50)
        var other = try self.jar("a=\(String(repeating: "x", count: 5000))", "b=x\u{1}y", "noname", "=v")
        #expect(other.header(for: try url("https://a.example/app/"), now: now) == nil)
    }
}
