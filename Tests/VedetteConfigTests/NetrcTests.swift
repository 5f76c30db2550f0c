// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteConfig

struct NetrcTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "the grammar of curl and of GNU inetutils is read",
        arguments: [
            ("machine h login u password p", "u p"), ("machine\nh\nlogin\tu\r\npassword  p\n", "u p"),
            ("machine H password p login u", "u p"),
            ("machine x login a password b machine h login u password p", "u p"),
            ("default login u password p", "u p"), ("default login u password p machine h login a password b", "u p"),
            ("machine h login u password p\ndefault login a password b", "u p"),
            ("machine h login u account a password p", "u p"),
            ("# a comment\nmachine h # another\nlogin u password #p", "u #p"),
            (#"machine "h" login "u v" password "p\"\\\t""#, "u v p\"\\\t"),
            ("machine h login u\\v password p\"q", "u\\v p\"q"),
            (
                "machine x login a password b macdef init\ncd /\n machine h login no password no\n\nmachine h login u password p",
                "u p"
            ),
            ("machine h login u password p macdef init\nput", "u p"),
            ("machine h login machine password default", "machine default"),
            ("machine h login u password p machine h login a password b", "u p"),
        ])
    func grammar(text: String, expected: String) throws {
        let login = try #require(try Netrc(text).login(for: "h"))
        #expect("\(login.user ?? "-") \(login.password ?? "-")" == expected)
    }

    @Test("a host without an entry has none")
    func unknown() throws {
        #expect(try Netrc("machine h login u password p").login(for: "h.example.com") == nil)
        #expect(try Netrc("").login(for: "h") == nil)
    }

    @Test(
        "what is no netrc is said with its line, and without a word of the file",
        arguments: [
            (
                "machine h\nlogin u s3cret", 2,
                "a word is none of 'machine', 'default', 'login', 'password', 'account', 'macdef'; quote a value that holds blanks"
            ),
            ("login s3cret", 1, "'login' comes before the first 'machine'"),
            ("machine h\nlogin u\npassword", 3, "'password' has no value"),
            ("machine h\npassword \"s3cret\nx\"", 2, "a quote is not closed on its line"),
            ("machine", 1, "'machine' has no value"),
        ])
    func wrong(text: String, line: Int, detail: String) {
        #expect(throws: Netrc.Problem(line: line, detail: detail)) { try Netrc(text) }
    }

    func read(_ words: String, environment: [String: String] = [:], url: String = "https://api.example.com:8443/v1")
        -> (server: Server?, said: [String])
    {
        let file = ConfigurationFile(
            path: directory.path + "/a.yaml", text: "servers: {h: {url: '\(url)', \(words)}}", isPrivate: false)
        let loaded = loader(environment).load([file])
        let said = loaded.problems.map { $0.description.replacing(directory.path, with: "DIR") }
        for line in said { #expect(!line.contains("s3cret"), "a secret was printed") }
        return (loaded.configuration?.servers.first, said)
    }

    @Test("user and password come from ~/.netrc or the named file, and are read again when it changes")
    func server() async throws {
        try directory.write("machine api.example.com login joe password s3cret-1", to: ".netrc", mode: 0o600)
        let home = read("netrc: true", environment: ["HOME": directory.path])
        #expect(home.said == [])
        guard case .basic("joe", let password) = home.server?.credentials else { throw Miss("basic") }
        #expect(password.value == "s3cret-1")
        try directory.write("machine api.example.com login joe password s3cret-2", to: ".netrc", mode: 0o600)
        #expect(await password.refresh() && password.value == "s3cret-2")
        guard case .digest("joe", _) = read("auth: digest, netrc: .netrc").server?.credentials else {
            throw Miss("digest")
        }
        try directory.write("machine ::1 login six password s3cret", to: ".netrc", mode: 0o600)
        #expect(read("netrc: .netrc", url: "http://[::1]:80/").server?.credentials?.user == "six")
    }

    @Test("a bad netrc file is an error with the remedy")
    func errors() throws {
        let place = "DIR/a.yaml:1:62: "
        func said(_ text: String, mode: Int = 0o600) throws -> [String] {
            try directory.write(text, to: "n", mode: mode)
            return read("netrc: n").said
        }
        #expect(
            try said("machine other login u password s3cret") == [
                place + "the netrc file 'DIR/n' has no entry for 'api.example.com'; "
                    + "add 'machine api.example.com login NAME password SECRET' to it"
            ])
        #expect(
            try said("default login u") == [
                place + "the netrc file 'DIR/n' lacks 'password' for 'api.example.com'; add it"
            ])
        #expect(
            try said("default password s3cret") == [
                place + "the netrc file 'DIR/n' lacks 'login' for 'api.example.com'; add it"
            ])
        #expect(
            try said("default\nlogn u") == [
                place
                    + "the netrc file 'DIR/n' cannot be used: line 2: a word is none of 'machine', 'default', 'login', "
                    + "'password', 'account', 'macdef'; quote a value that holds blanks"
            ])
        #expect(
            try said(#"default login "a:b" password s3cret"#) == [
                place + "the netrc file 'DIR/n' has a login or password for 'api.example.com' that is empty, "
                    + "holds a line end, or a login with ':' (RFC 7617)"
            ])
        #expect(
            try said("default login u password s3cret", mode: 0o644) == [
                place + "the netrc file 'DIR/n' can be read or changed by everybody; write 'chmod 600 DIR/n'"
            ])
        #expect(
            try said("default login u password s3cret", mode: 0o640) == [
                place + "warning: the netrc file 'DIR/n' can be read by its group; write 'chmod 600 DIR/n'"
            ])
    }
}
