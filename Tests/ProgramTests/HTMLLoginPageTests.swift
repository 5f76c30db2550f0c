// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import vedette

@Suite("Login forms")
struct HTMLLoginPageTests {
    private func page(_ html: String, type: String = "text/html; charset=utf-8") -> LoginPage? {
        var response = Response(status: 200, body: Array(html.utf8), url: "https://panel.example.org/app/login?next=/")
        response.headers = ResponseHeaders([("Content-Type", type)])
        return HTMLLoginPage().loginPage(in: response)
    }

    @Test("the first form with a password is found, with its action and the fields that the page fills in")
    func form() {
        let found = page(
            """
            <html><body><form action="/search"><input type="hidden" name="q" value="x"></form>
            <form method=post action="do?a=1&amp;b=2"><input type="HIDDEN" name="csrf" value="t&amp;k"><input type=hidden name=empty>
            <input name=user><input type="Password" name=pw></form>
            <form action="/other"><input type=hidden name=no value=1><input type=password></form></body></html>
            """)
        #expect(
            found
                == LoginPage(
                    action: "https://panel.example.org/app/do?a=1&b=2",
                    hidden: [.init("csrf", "t&k"), .init("empty", "")]))
    }

    @Test("a form without an action is sent to its own page; a page without a password, or of another type, has none")
    func none() {
        #expect(page("<form><input type=password></form>")?.action == "https://panel.example.org/app/login?next=/")
        #expect(page("<form><input type=text name=q></form>") == nil)
        #expect(page("<form><input type=password></form>", type: "text/plain") == nil)
    }
}
