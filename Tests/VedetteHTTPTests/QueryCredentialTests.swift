// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

/// A server may repeat the query of a request, which then becomes a field and a row of the journal (I9).
@Suite("A query credential in a response")
struct QueryCredentialTests {
    private static let secret = "s3cr&t/1"
    private static let credentials = Credentials.query(name: "key", value: Secret(secret))

    @Test("a query credential is removed from headers with a URL, and other bytes stay")
    func headers() async throws {
        let lines = [
            "Location: /a/?x=1&key=s3cr%26t%2F1#top", "content-location: /a?key=s3cr%26t/1",
            "LINK: </a?key=s3cr%26t%2F1&page=2>; rel=\"next\", <https://h.example/b?key=other>; rel=last",
            "Link: </c?next=%2Fd%3Fkey%3Ds3cr%2526t%252F1&y>; rel=up", "X-Other: ?key=mine", "ETag: \"?key=1\"",
        ]
        let server = try WireServer(.reply("301 Moved Permanently", "", lines))
        defer { server.close() }
        let response = try await withClient { client in
            let request = Request.get(server.url("/a?x=1")) { ($0.credentials, $0.redirects) = (Self.credentials, 0) }
            return try await client.fetch(request)
        }
        #expect(server.requests[0].target == "/a?x=1&key=s3cr%26t%2F1")
        #expect(response.headers["Location"] == "/a/?x=1#top")
        #expect(response.headers["Content-Location"] == "/a")
        #expect(
            response.headers.all("Link") == [
                "</a?page=2>; rel=\"next\", <https://h.example/b?key=other>; rel=last", "</c?y>; rel=up",
            ])
        #expect(response.headers["X-Other"] == "?key=mine" && response.headers["ETag"] == "\"?key=1\"")
        #expect(response.url == server.url("/a?x=1"))
    }

    @Test("a query credential is removed from the return URL of a login")
    func nested() async throws {
        let login = "/login?to=%2Fa%3Fkey%3Ds3cr%2526t%252F1"
        let server = try WireServer { $0.target.hasPrefix("/login") ? .ok("login") : .redirect(302, to: login) }
        defer { server.close() }
        let response = try await withClient { client in
            try await client.fetch(.get(server.url("/a")) { $0.credentials = Self.credentials })
        }
        #expect(response.url == server.url("/login"))
    }

    @Test("an escape has two digits, unlike `%+1`")
    func escapes() {
        let url = WebURL("http://h/?key=%+1&a=b")
        #expect(url?.without(.query(name: "key", value: Secret("\u{1}"))).text == url?.text)
        #expect(url?.without(.query(name: "key", value: Secret("% 1"))).text == "http://h/?a=b")
    }
}
