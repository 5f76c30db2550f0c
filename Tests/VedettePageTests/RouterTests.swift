// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedettePage

@Suite("Requests and routes")
struct RouterTests {
    private func answer(_ method: PageRequest.Method, _ target: String) async throws -> (Int, String) {
        let router = Router([
            Route(.get, "/") { _ in .text("home") },
            Route(.get, "/items/{source}/{key}") { request in
                .text("\(request.parameters["source"] ?? "") \(request.parameters["key"] ?? "")")
            },
            Route(.post, "/items/{source}/poll") { _ in .text("polled") },
        ])
        let response = await router.respond(to: try #require(PageRequest(method, target)))
        guard case .bytes(let bytes) = response.body else { return (response.status, "") }
        return (response.status, String(decoding: bytes, as: UTF8.self))
    }

    @Test("a route takes the segments of a path, and a key may hold a slash, a plus and a percent sign")
    func parameters() async throws {
        #expect(try await answer(.get, "/") == (200, "home"))
        #expect(try await answer(.get, "/items/lab/59") == (200, "lab 59"))
        #expect(try await answer(.get, "/items/lab/59/") == (200, "lab 59"))
        #expect(try await answer(.get, "/items/lab/a%2Fb+c%25%20d") == (200, "lab a/b+c% d"))
    }

    @Test("HEAD is served by the handler of GET, and a wrong method names those that there are")
    func methods() async throws {
        #expect(try await answer(.head, "/") == (200, "home"))
        #expect(try await answer(.post, "/items/lab/poll") == (200, "polled"))
        #expect(try await answer(.post, "/").0 == 405)
        #expect(try await answer(.get, "/nothing").0 == 404)
        #expect(try await answer(.other, "/") == (405, "This address takes GET, HEAD.\n"))
        #expect(try await answer(.other, "/nothing").0 == 404)
        #expect(["GET", "HEAD", "POST"].map { PageRequest.Method($0) } == [.get, .head, .post])
        // Names of methods are in upper case.
        #expect(["get", "TRACE", "GETS"].allSatisfy { PageRequest.Method($0) == .other })
    }

    @Test(
        "a target that leaves the tree, or that is no path, is no request",
        arguments: ["", "x", "http://evil/", "*", "/../etc", "/a/../b", "/a/%2e%2e/b", "/a//b", "/a/%00", "/a b", "/é"])
    func malformed(target: String) {
        #expect(PageRequest(.get, target) == nil)
    }

    @Test("the values of a query and of a form are decoded once, and the first of a name counts")
    func values() throws {
        let request = try #require(
            PageRequest(.post, "/p?a=1%252B1&b=x+y&a=2&flag", body: Array("note=%3Cb%3E&empty=".utf8)))
        #expect(request.query["a"] == "1%2B1")
        #expect(request.query.all("a") == ["1%2B1", "2"])
        #expect(request.query["b"] == "x y")
        #expect(request.query["flag"] == "")
        #expect(request.query["none"] == nil)
        #expect(request.form["note"] == "<b>")
        #expect(request.form["empty"] == "")
    }

    @Test("a header that occurs twice has no value, and cookies are found among others")
    func headers() throws {
        let request = try #require(
            PageRequest(
                .get, "/",
                headers: [
                    HeaderField("Origin", "a"), HeaderField("origin", "b"), HeaderField("HOST", "c"),
                    HeaderField("Cookie", "x=1; page=abc==; y"),
                ]))
        #expect(request.header("Origin") == nil)
        #expect(request.header("host") == "c")
        #expect(request.cookie("page") == "abc==")
        #expect(request.cookie("y") == nil)
    }
}

@Suite("The end of a request")
struct RequestFramingTests {
    private func status(_ method: String, _ headers: [(String, String)], host: Bool = true) -> Int? {
        var fields = headers.map { HeaderField($0.0, $0.1) }
        if host { fields.append(HeaderField("Host", "localhost")) }
        guard case .failure(let refusal) = RequestFraming.check(method: method, fields, bodyLimit: 1000) else {
            return nil
        }
        return refusal.status
    }

    @Test("plain requests are read")
    func plain() {
        #expect(status("GET", []) == nil)
        #expect(status("HEAD", [("Content-Length", "0")]) == nil)
        #expect(status("POST", [("content-length", "1000")]) == nil)
    }

    @Test("a request whose end a proxy may see elsewhere is refused")
    func ambiguous() {
        #expect(status("POST", [("Transfer-Encoding", "chunked")]) == 411)
        #expect(status("POST", [("Content-Length", "3"), ("Transfer-Encoding", "chunked")]) == 411)
        #expect(status("POST", [("Content-Length", "3"), ("Content-Length", "3")]) == 400)
        #expect(status("POST", [("Content-Length", "+3")]) == 400)
        #expect(status("POST", [("Content-Length", "")]) == 400)
        #expect(status("POST", [("Content-Length ", "3")]) == 400)
        #expect(status("POST", [("Content-Length", "99999999999999999999")]) == 413)
        #expect(status("POST", [("Content-Length", "1001")]) == 413)
        #expect(status("GET", [("Content-Length", "3")]) == 400)
        #expect(status("PUT", [("Content-Length", "3")]) == nil)
    }

    @Test("a request without one host, and one with a malformed method, are refused")
    func hostAndMethod() {
        #expect(status("GET", [], host: false) == 400)
        #expect(status("GET", [("host", "evil.example.com")]) == 400)
        #expect(status("G(T", []) == 400)
    }
}
