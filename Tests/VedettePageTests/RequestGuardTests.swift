// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedettePage

@Suite("Who may use the page")
struct RequestGuardTests {
    private func status(
        _ access: PageAccess = PageAccess(), _ method: PageRequest.Method = .get, host: String = "localhost:8420",
        headers: [(String, String)] = [], form: String = "", isOpen: Bool = false,
        otherSites: Route.OtherSites = .links, at seconds: Int64 = 0
    ) throws -> Int {
        var fields = headers.map { HeaderField($0.0, $0.1) }
        fields.append(HeaderField("Host", host))
        let request = try #require(PageRequest(method, "/", headers: fields, body: Array(form.utf8)))
        do throws(RequestGuard.Refusal) {
            var route = Route(method, "/", isOpen: isOpen) { _ in .text("") }
            route.otherSites = otherSites
            try RequestGuard(
                access: access, formToken: "f0rm", cookie: Self.cookie,
                now: Timestamp(milliseconds: seconds * 1000)
            ).check(request, route)
            return 200
        } catch {
            return error.status
        }
    }

    /// Signs with what depends on the message and the key.
    private static let cookie = SessionCookie { message, key in
        Array(String(StableHash.of(message + [0] + key)).utf8)
    }

    private static func value(of header: HeaderField?) throws -> (String, String) {
        ("Cookie", String(try #require(header).value.prefix { $0 != ";" }))
    }

    @Test(
        "an address and localhost are hosts of the page, with and without a port",
        arguments: [
            "localhost", "LOCALHOST:8420", "127.0.0.1:8420", "192.168.1.7", "[::1]:8420", "[fe80::1]",
            "localhost:",
        ])
    func addresses(host: String) throws {
        #expect(try status(host: host) == 200)
    }

    @Test(
        "a name that another site can make point here is refused",
        arguments: [
            "evil.example.com", "evil.example.com:8420", "localhost.evil.example.com", "127.0.0.1.evil.example.com",
            "1.2.3", "256.1.1.1", "%6Cocalhost", "+127.0.0.1",
        ])
    func rebinding(host: String) throws {
        #expect(try status(host: host) == 421)
    }

    @Test(
        "a Host that is no host and port is refused: a proxy may read it in another way",
        arguments: [
            "", "[evil]", "::1", "[::1", "[::1].evil.example.com", "[::1]8420", "localhost:80:90",
            "localhost:x",
            "localhost:99999", "localhost:+80", "me@localhost", "localhost/", "local host", "localhost%",
            "localhost%zz",
            "localhost\\evil", ":8420",
        ])
    func malformedHosts(host: String) throws {
        #expect(try status(host: host) == 400)
    }

    @Test("a name that is configured is a host of the page")
    func configuredNames() throws {
        let access = PageAccess(hosts: ["watch.example.com"])
        #expect(try status(access, host: "Watch.example.com") == 200)
        #expect(try status(access, host: "other.example.com") == 421)
    }

    @Test("the token is a bearer token, the password of the basic scheme, or a cookie")
    func tokens() throws {
        let access = PageAccess(token: Secret("0123456789abcdef"))
        let pair = Base64.encode("any:0123456789abcdef".utf8)
        #expect(try status(access) == 401)
        #expect(try status(access, isOpen: true) == 200)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdef")]) == 200)
        #expect(try status(access, headers: [("Authorization", "bearer  0123456789abcdef")]) == 200)
        #expect(try status(access, headers: [("Authorization", "Basic \(pair)")]) == 200)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdeg")]) == 401)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdef0")]) == 401)
        #expect(try status(access, headers: [("Authorization", "Bearer ")]) == 401)
        // A token that could not be read lets in nobody, and neither does one that was cut in its file.
        #expect(try status(PageAccess(token: Secret("")), headers: [("Authorization", "Bearer x")]) == 401)
        let short = Secret("0123456789abcde")
        #expect(try status(PageAccess(token: short), headers: [("Authorization", "Bearer \(short.value)")]) == 401)
        let cookie = Self.cookie.header(for: short, at: Timestamp(milliseconds: 0), isSecure: false)
        #expect(try status(PageAccess(token: short), headers: [Self.value(of: cookie)]) == 401)
    }

    @Test(
        "the cookie is kept from scripts and other sites, and from plain HTTP where the page has TLS; the token is not in it"
    )
    func cookieHeader() throws {
        let header = Self.cookie.header(
            for: Secret("secret; Domain=x"), at: Timestamp(milliseconds: 0), isSecure: true)
        let value = try #require(header?.value)
        #expect(value.hasSuffix("; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict; Secure"))
        #expect(
            !value.contains("Domain") && !value.contains(Base64.encode("secret; Domain=x".utf8).prefix(8))
        )
    }

    @Test(
        "a cookie ends after 90 days and with its token, and cannot be made or prolonged without the token"
    )
    func cookies() throws {
        let access = PageAccess(token: Secret("0123456789abcdef"))
        let token = Secret("0123456789abcdef")
        let made = try Self.value(
            of: Self.cookie.header(for: token, at: Timestamp(milliseconds: 0), isSecure: false))
        let day: Int64 = 86_400
        #expect(try status(access, headers: [made]) == 200)
        #expect(try status(access, headers: [made], at: 90 * day - 1) == 200)
        #expect(try status(access, headers: [made], at: 90 * day) == 401)
        #expect(try status(PageAccess(token: Secret("another-token-of-it")), headers: [made]) == 401)
        let prolonged = made.1.replacing("=7776000.", with: "=7776001.")
        #expect(prolonged != made.1)
        #expect(try status(access, headers: [("Cookie", prolonged)]) == 401)
        for value in [
            "0123456789abcdef", Base64.encode("0123456789abcdef".utf8), "7776000.", ".", "", "9.9",
            "-1.x",
        ] {
            #expect(try status(access, headers: [("Cookie", "vedette=\(value)")]) == 401)
        }
        // A token that could not be read has no cookie.
        #expect(
            Self.cookie.header(for: Secret(""), at: Timestamp(milliseconds: 0), isSecure: false) == nil)
    }

    @Test(
        "a page of another site may link to this one, and only show what is meant for it",
        arguments: [
            (nil, nil, nil, true, true, true), ("none", "navigate", "document", true, true, true),
            ("same-origin", "cors", "empty", true, true, true),
            ("cross-site", "navigate", "document", false, true, true),
            ("same-site", "navigate", "document", false, true, true),
            ("cross-site", "navigate", "iframe", false, false, true),
            ("cross-site", "no-cors", "image", false, false, true),
            ("same-site", "cors", "empty", false, false, true),
            ("cross-site", nil, nil, false, false, true),
        ] as [(String?, String?, String?, Bool, Bool, Bool)])
    func otherSites(
        site: String?, mode: String?, destination: String?, nothing: Bool, links: Bool, everything: Bool
    ) throws {
        let all = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination)]
        let headers = all.compactMap { name, value in value.map { (name, $0) } }
        #expect(try status(headers: headers, otherSites: .nothing) == (nothing ? 200 : 403))
        #expect(try status(headers: headers, otherSites: .links) == (links ? 200 : 403))
        #expect(try status(headers: headers, otherSites: .everything) == (everything ? 200 : 403))
    }

    @Test("a form needs the origin of the page and its token")
    func forms() throws {
        let own = [("Origin", "http://localhost:8420")]
        #expect(try status(.init(), .post, headers: own, form: "form=f0rm") == 200)
        #expect(try status(.init(), .post, headers: [("Origin", "https://localhost:8420")], form: "form=f0rm") == 200)
        #expect(try status(.init(), .post, headers: [("Sec-Fetch-Site", "same-origin")], form: "form=f0rm") == 200)
        #expect(try status(.init(), .post, headers: own, form: "form=other") == 403)
        #expect(try status(.init(), .post, headers: own) == 403)
        #expect(try status(.init(), .post, form: "form=f0rm") == 403)
        #expect(try status(.init(), .post, headers: [("Origin", "null")], form: "form=f0rm") == 403)
        #expect(try status(.init(), .post, headers: [("Origin", "http://evil.example.com")], form: "form=f0rm") == 403)
        #expect(try status(.init(), .post, headers: [("Origin", "http://localhost")], form: "form=f0rm") == 403)
        #expect(
            try status(.init(), .post, headers: own + [("Sec-Fetch-Site", "cross-site")], form: "form=f0rm") == 403)
        #expect(try status(.init(), .post, headers: own, isOpen: true) == 200, "the form that asks for the token")
    }
}
