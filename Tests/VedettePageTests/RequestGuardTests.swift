// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedettePage

@Suite("Who may use the page")
struct RequestGuardTests {
    private func status(
        _ access: PageAccess = PageAccess(), _ method: PageRequest.Method = .get, host: String = "localhost:8420",
        headers: [(String, String)] = [], form: String = "", isOpen: Bool = false
    ) throws -> Int {
        var fields = headers.map { HeaderField($0.0, $0.1) }
        fields.append(HeaderField("Host", host))
        let request = try #require(PageRequest(method, "/", headers: fields, body: Array(form.utf8)))
        do throws(RequestGuard.Refusal) {
            try RequestGuard(access: access, formToken: "f0rm").check(request, isOpen: isOpen)
            return 200
        } catch {
            return error.status
        }
    }

    @Test(
        "an address and localhost are hosts of the page, with and without a port",
        arguments: ["localhost", "LOCALHOST:8420", "127.0.0.1:8420", "192.168.1.7", "[::1]:8420", "[fe80::1]"])
    func addresses(host: String) throws {
        #expect(try status(host: host) == 200)
    }

    @Test(
        "a name that another site can make point here is refused",
        arguments: [
            "evil.example.com", "evil.example.com:8420", "localhost.evil.example.com", "127.0.0.1.evil.example.com", "",
            "1.2.3", "256.1.1.1", "[evil]", "::1",
        ])
    func rebinding(host: String) throws {
        #expect(try status(host: host) == 421)
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
        let cookie = RequestGuard.cookie("0123456789abcdef", isSecure: false).value
        let pair = Base64.encode("any:0123456789abcdef".utf8)
        #expect(try status(access) == 401)
        #expect(try status(access, isOpen: true) == 200)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdef")]) == 200)
        #expect(try status(access, headers: [("Authorization", "bearer  0123456789abcdef")]) == 200)
        #expect(try status(access, headers: [("Authorization", "Basic \(pair)")]) == 200)
        #expect(try status(access, headers: [("Cookie", String(cookie.prefix { $0 != ";" }))]) == 200)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdeg")]) == 401)
        #expect(try status(access, headers: [("Authorization", "Bearer 0123456789abcdef0")]) == 401)
        #expect(try status(access, headers: [("Authorization", "Bearer ")]) == 401)
        #expect(try status(access, headers: [("Cookie", "vedette=MDEyMw==")]) == 401)
        // A token that could not be read lets in nobody.
        #expect(try status(PageAccess(token: Secret("")), headers: [("Authorization", "Bearer x")]) == 401)
    }

    @Test("the cookie is kept from scripts and other sites, and from plain HTTP where the page has TLS")
    func cookie() {
        let value = RequestGuard.cookie("secret; Domain=x", isSecure: true).value
        #expect(value.hasSuffix("; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict; Secure"))
        #expect(!value.contains("Domain"))
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
