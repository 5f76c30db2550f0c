// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Refusals")
struct RefusalTests {
    private func detail(_ status: Int, _ server: Server, words: String? = nil) -> String {
        Failure(status: status).map { ReadError(status: status, $0, server: server, words: words).detail } ?? ""
    }

    @Test("the words of a server are one line of at most 300 bytes, without secrets and control characters")
    func words() {
        let redactor = SecretRedactor([Secret("correct-horse")])
        #expect(ServerWords.shown(" a\r\n\tb\u{1B}[31m c\u{202E}d\u{0} ", nil) == #"a b [31m c\u202ed"#)
        #expect(ServerWords.shown(" \n\u{85} ", nil) == nil)
        #expect(ServerWords.shown("GET / HTTP/1.1\nCookie: sid=1", nil) == nil, "it repeats the request")
        #expect(ServerWords.shown("no correct-horse here", redactor) == "no [secret] here")
        let long = ServerWords.shown(String(repeating: "ä", count: 400), nil) ?? ""
        #expect(long.utf8.count <= 300 && long.utf8.count > 295 && long.hasSuffix("ä…"))
        // A secret that the cut would divide.
        let cut = ServerWords.shown(String(repeating: "x", count: 290) + "correct-horse", redactor) ?? ""
        #expect(!cut.contains("corr") && cut.utf8.count <= 300)
        #expect(ServerWords.shown(String(repeating: "x", count: 300), nil)?.utf8.count == 300)
    }

    @Test("an empty file is called that, and a redirect without a target tells nobody to write one down")
    func absent() {
        func detail(_ status: Int, _ url: String, _ headers: [(String, String)] = []) -> String? {
            let response = Response(
                status: status, headers: ResponseHeaders(headers), body: [], digest: 0, url: url, received: 0)
            return ReadError(response, method: "GET", server: Server(name: ""), words: nil, mayBeEmpty: false)?.detail
        }
        #expect(detail(200, "file:///tmp/a") == "the file is empty")
        #expect(detail(200, "https://a.example/")?.contains("User-Agent") == true)
        #expect(detail(302, "https://a.example/") == "the server answered 302; it names no address to go to")
        let target = [("Location", "https://b.example/")]
        #expect(detail(302, "https://a.example/", target)?.contains("write the new address") == true)
    }

    @Test("a refusal names what was sent and refused: a user and password only where there are any")
    func remedies() {
        let secret = Secret("s")
        #expect(
            detail(401, Server(name: "", credentials: Credentials(user: "u", password: secret)))
                == "the server answered 401; check user and password")
        #expect(
            detail(401, Server(name: "", headers: [Header("X-Auth-Token", secret)]))
                == "the server answered 401; check the value of the header 'X-Auth-Token'")
        #expect(detail(401, Server(name: "", credentials: .bearer(secret))).hasSuffix("; check the token"))
        #expect(
            detail(401, Server(name: "", credentials: .query(name: "key", value: secret)))
                .hasSuffix("; check the value of the parameter 'key'"))
        #expect(
            detail(401, Server(name: ""))
                == "the server answered 401; it wants credentials, and none were sent: write a server with 'user' and 'password', 'token', 'session' or a header under 'servers', and name it with 'server' in place of 'url'"
        )
        #expect(detail(401, Server(name: "lab")).hasSuffix("or a header of the server 'lab'"))
        var session = Server(name: "lab")
        session.tokenLogin = TokenLogin(url: "https://h/")
        #expect(
            detail(401, session)
                == "the server answered 401; check what 'post' of the session sends")
        let forbidden = detail(403, Server(name: "", headers: [Header("Accept-Language", "en")]))
        #expect(forbidden.contains("'user_agent'") && !forbidden.contains("these credentials"))
        #expect(
            detail(403, Server(name: "", credentials: .bearer(secret)))
                == "the server answered 403; these credentials may not read it")
    }

    @Test("what the server says stands before the remedy")
    func order() {
        #expect(
            detail(404, Server(name: ""), words: "No such list.")
                == #"the server answered 404: "No such list."; check the path"#)
        #expect(detail(500, Server(name: ""), words: "later") == #"the server answered 500: "later""#)
        #expect(
            detail(206, Server(name: ""))
                == "the server answered 206 (partial content, though no range was asked for); it is not read as a "
                + "complete list")
    }
}
