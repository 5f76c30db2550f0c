// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("Names of sessions")
struct SessionNameTests {
    private func session(_ change: (inout Server) -> Void) -> String {
        var server = Server(name: "panel")
        change(&server)
        return source("a", server: server).session
    }

    @Test("another user has other cookies; another password has the same ones, and so has a server without a user")
    func users() {
        let makers: [(String, String) -> (inout Server) -> Void] = [
            { user, password in { $0.credentials = Credentials(user: user, password: Secret(password)) } },
            { user, password in
                {
                    let fields = [
                        LoginForm.Field("user", .plain(user)), LoginForm.Field("word", .secret(Secret(password))),
                    ]
                    $0.login = LoginForm(url: "https://a.example/login", fields: fields)
                }
            },
            { user, password in
                {
                    var login = TokenLogin(url: "https://a.example/login")
                    login.body = .json([.plain(#"{"user":"\#(user)","word":"#), .secret(Secret(password))])
                    $0.tokenLogin = login
                }
            },
        ]
        for make in makers {
            let ann = session(make("ann", "1"))
            #expect(ann.hasPrefix("panel ") && ann == session(make("ann", "2")) && ann != session(make("bob", "1")))
        }
        #expect(session { $0.credentials = .bearer(Secret("t")) } == "panel" && session { _ in } == "panel")
    }
}
