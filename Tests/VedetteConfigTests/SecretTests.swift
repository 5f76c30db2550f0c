// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteConfig

struct SecretTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The password that the text reads, and all that is said.
    func read(
        _ password: String, isPrivate: Bool = false, environment: [String: String] = [:]
    ) -> (secret: Secret?, said: [String]) {
        let text = "servers: {h: {url: 'https://h', user: u, password: \(password)}}"
        let file = ConfigurationFile(path: directory.path + "/a.yaml", text: text, isPrivate: isPrivate)
        let loaded = loader(environment).load([file])
        let said = loaded.problems.map { $0.description.replacing(directory.path, with: "DIR") }
        for line in said { #expect(!line.contains("hunter2"), "a secret was printed") }
        return (loaded.configuration?.servers.first?.credentials?.password, said)
    }

    @Test("a secret is read from the environment")
    func environment() {
        #expect(read("{env: PW}", environment: ["PW": "hunter2"]).secret?.value == "hunter2")
        #expect(
            read("{env: PW}").said == [
                "DIR/a.yaml:1:52: the environment variable 'PW' is not set; export it"
            ])
        #expect(
            read("{env: PW}", environment: ["PW": ""]).said == [
                "DIR/a.yaml:1:52: the environment variable 'PW' is empty"
            ])
        #expect(
            read("{env: PW}", environment: ["PW": "hunter2\nX: y"]).said == [
                "DIR/a.yaml:1:52: the environment variable 'PW' holds a line end or NUL; a secret is one line of text"
            ])
    }

    @Test("a literal is taken from a private file alone")
    func literal() {
        #expect(read("hunter2", isPrivate: true).secret?.value == "hunter2")
        #expect(
            read("hunter2").said == [
                "DIR/a.yaml:1:52: 'password' stands in a file that others can read; "
                    + "write 'chmod 600 DIR/a.yaml', or {env: NAME} here"
            ])
        #expect(
            read(#""hunter2\nX""#, isPrivate: true).said == ["DIR/a.yaml:1:52: 'password' must be one line of text"])
    }

    @Test(
        "whether a file is private is its mode on disk",
        arguments: [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)])
    func modes(mode: Int, isPrivate: Bool) throws {
        try directory.write("servers: {h: {url: 'https://h', user: u, password: hunter2}}", to: "a.yaml", mode: mode)
        let loaded = loader(directory: directory.path).load()
        #expect((loaded.configuration != nil) == isPrivate)
        #expect(!loaded.diagnostics.description.contains("hunter2"))
    }

    @Test("a secret file is refused when everybody can read it, and doubted when its group can")
    func file() throws {
        try directory.write("hunter2\r\n", to: "pw", mode: 0o600)
        let good = read("{file: pw}")
        #expect(good.secret?.value == "hunter2" && good.said.isEmpty)
        #expect(read("{file: \(directory.path)/pw}").secret?.value == "hunter2")
        #expect(read("{file: ~/pw}", environment: ["HOME": directory.path]).secret?.value == "hunter2")
        try directory.write("hunter2\n", to: "pw", mode: 0o640)
        let shared = read("{file: pw}")
        #expect(shared.secret?.value == "hunter2")
        #expect(
            shared.said == [
                "DIR/a.yaml:1:52: warning: the secret file 'DIR/pw' can be read by its group; write 'chmod 600 DIR/pw'"
            ])
        try directory.write("hunter2\n", to: "pw", mode: 0o644)
        #expect(
            read("{file: pw}").said == [
                "DIR/a.yaml:1:52: the secret file 'DIR/pw' can be read or changed by everybody; "
                    + "write 'chmod 600 DIR/pw'"
            ])
    }

    @Test("a secret file that holds no secret is an error that does not show what it holds")
    func badFile() throws {
        #expect(
            read("{file: nowhere}").said == [
                "DIR/a.yaml:1:52: the secret file 'DIR/nowhere' cannot be used: this file does not exist"
            ])
        try directory.write("\n", to: "pw", mode: 0o600)
        #expect(read("{file: pw}").said == ["DIR/a.yaml:1:52: the secret file 'DIR/pw' is empty"])
        try directory.write("hunter2\nhunter2\n", to: "pw", mode: 0o600)
        #expect(
            read("{file: pw}").said == [
                "DIR/a.yaml:1:52: the secret file 'DIR/pw' holds a line end or NUL; a secret is one line of text"
            ])
        try directory.write([0x68, 0xFF], to: "pw", mode: 0o600)
        #expect(
            read("{file: pw}").said == [
                "DIR/a.yaml:1:52: the secret file 'DIR/pw' is not UTF-8; save it as UTF-8"
            ])
        try directory.write(Array(repeating: 0x61, count: 65 << 10), to: "pw", mode: 0o600)
        #expect(read("{file: pw}").said.first?.contains("larger than 65536 bytes") == true)
        #expect(read("{file: .}").said.first?.contains("not a regular file") == true)
    }

    @Test("a credential is a file of the service manager")
    func credential() throws {
        try directory.write("hunter2", to: "lab", mode: 0o644)
        #expect(
            read("{credential: lab}", environment: ["CREDENTIALS_DIRECTORY": directory.path]).secret?.value == "hunter2"
        )
        #expect(
            read("{credential: lab}").said == [
                "DIR/a.yaml:1:52: the credential 'lab' is not stored; `vedette login lab` stores it, "
                    + "and LoadCredential=lab:FILE gives it to a systemd unit"
            ])
        #expect(
            read("{credential: db}", environment: ["CREDENTIALS_DIRECTORY": directory.path]).said == [
                "DIR/a.yaml:1:52: the credential 'db' does not exist: DIR/db is missing; "
                    + "write LoadCredential=db:FILE into the unit"
            ])
        #expect(
            read("{credential: ../lab}", environment: ["CREDENTIALS_DIRECTORY": directory.path]).said == [
                "DIR/a.yaml:1:65: 'credential' is a name without '/'; write {file: PATH} for a path"
            ])
    }

    @Test("a credential that systemd does not give is a private file of this user")
    func ownCredential() throws {
        let environment = ["XDG_CONFIG_HOME": directory.path]
        let store = CredentialStore(environment)
        #expect(store.place(of: "lab") == nil)
        let place = try store.store("hunter2", as: "lab")
        let path = directory.path + "/vedette/credentials/lab"
        #expect(place == .file(path) && store.place(of: "lab") == place)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(read("{credential: lab}", environment: environment).secret?.value == "hunter2")
        #expect(try store.store("hunter3", as: "lab") == place)
        #expect(read("{credential: lab}", environment: environment).secret?.value == "hunter3")
        // systemd's file comes first, and is not ours to write.
        try directory.write("hunter4", to: "lab", mode: 0o600)
        let unit = environment.merging(["CREDENTIALS_DIRECTORY": directory.path]) { $1 }
        #expect(read("{credential: lab}", environment: unit).secret?.value == "hunter4")
        #expect(throws: CredentialStore.Problem.self) { try CredentialStore(unit).store("x", as: "lab") }
    }

    @Test("where the desktop has a Secret Service, a credential is kept there and read from there")
    func secretService() throws {
        // A stand-in for secret-tool, which keeps what it reads from standard input in a file.
        try directory.write(
            """
            #!/bin/sh
            case $1 in
            lookup) cat "\(directory.path)/keyring-$5" ;;
            store) cat > "\(directory.path)/keyring-$6" ;;
            esac
            """, to: "secret-tool", mode: 0o700)
        let environment = [
            "PATH": directory.path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "XDG_CONFIG_HOME": directory.path,
        ]
        let store = CredentialStore(environment)
        #expect(read("{credential: lab}", environment: environment).said.count == 1)
        #expect(try store.store("hunter2", as: "lab") == .secretService)
        #expect(store.place(of: "lab") == .secretService)
        #expect(read("{credential: lab}", environment: environment).secret?.value == "hunter2")
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/vedette"))
        // Without a bus, the program is not started.
        let alone = CredentialStore(environment.merging(["DBUS_SESSION_BUS_ADDRESS": ""]) { $1 })
        #expect(alone.place(of: "lab") == nil)
        // A keyring that cannot be used is no reason to lose the password.
        try directory.write("#!/bin/sh\nexit 1\n", to: "secret-tool", mode: 0o700)
        #expect(try store.store("hunter2", as: "lab") == .file(directory.path + "/vedette/credentials/lab"))
    }

    @Test("the place of a server's secret is found although the configuration has errors")
    func serverSecret() throws {
        func place(_ words: String) throws -> ServerSecret? {
            try directory.write("servers: {h: {url: 'https://h', \(words)}, broken: 7}", to: "a.yaml", mode: 0o600)
            return ConfigurationLoader(directory: directory.path, sourceKinds: [], sinkKinds: [], environment: [:])
                .secret(ofServer: "h")
        }
        #expect(try place("password: {credential: lab}") == .credential("lab"))
        #expect(try place("token: {file: t}") == .file(directory.path + "/t"))
        #expect(try place("oauth2: {client_secret: {credential: c}}") == .credential("c"))
        #expect(try place("query: {key: {credential: q}}") == .credential("q"))
        #expect(try place("user: u") == ServerSecret.none(place: directory.path + "/a.yaml:1"))
        let line = directory.path + "/a.yaml:1"
        #expect(try place("password: {env: PW}") == .environment("PW", place: line))
        #expect(try place("password: {command: [pass, show, lab]}") == .command(place: line))
        #expect(try place("password: hunter2") == .literal(place: line))
        let fields = "{user: {env: ME}, password: {credential: panel}}"
        #expect(try place("session: {login: /login, fields: \(fields)}") == .credential("panel"))
        #expect(try place("session: {post: /in, json: {a: [{p: {credential: nova}}]}}") == .credential("nova"))
        #expect(try place("headers: {X-Key: {env: KEY}}") == .environment("KEY", place: line))
        #expect(try place("user: u, <<: {password: {credential: base}}") == .credential("base"))
    }

    @Test("the credentials of servers, sources and sinks are found although the configuration has errors")
    func credentials() throws {
        try directory.write(
            """
            servers: {a: {password: {credential: one}}, broken: 7}
            sources: {s: {headers: {Authorization: {credential: two}}, command: [credential, none]}}
            sinks: {t: {url: {credential: three}, <<: {token: {credential: four}}}}
            """, to: "a.yaml", mode: 0o600)
        let loader = ConfigurationLoader(directory: directory.path, sourceKinds: [], sinkKinds: [], environment: [:])
        #expect(loader.credentials() == ["one", "two", "three", "four"])
    }

    @Test("the servers that share a credential are found although the configuration has errors")
    func serversWithCredential() throws {
        try directory.write(
            "servers: {a: {password: {credential: one}}, b: {token: {credential: two}}, broken: 7}", to: "a.yaml",
            mode: 0o600)
        try directory.write(
            "servers: {one: {user: u}, c: {session: {login: /l, fields: {p: {credential: one}}}}}", to: "b.yaml",
            mode: 0o600)
        let loader = ConfigurationLoader(directory: directory.path, sourceKinds: [], sinkKinds: [], environment: [:])
        #expect(loader.servers(withCredential: "one") == ["a", "c"])
        #expect(loader.servers(withCredential: "three") == [])
    }

    @Test("a command's first line is the secret; no shell reads its words")
    func command() {
        #expect(read(#"{command: [printf, "hunter2\nmore\n"]}"#).secret?.value == "hunter2")
        #expect(read(#"{command: [echo, "$HOME", ";", "*"]}"#).secret?.value == "$HOME ; *")
        #expect(
            read("{command: [sh, -c, 'echo hunter2; exit 3']}").said == [
                "DIR/a.yaml:1:52: the command 'sh' failed with exit status 3; run it by hand"
            ])
        #expect(
            read("{command: [sh, -c, 'kill -9 $$']}").said == [
                "DIR/a.yaml:1:52: the command 'sh' failed with signal 9; run it by hand"
            ])
        #expect(
            read("{command: [/nowhere/pass]}").said == [
                "DIR/a.yaml:1:52: the command '/nowhere/pass' cannot be run: No such file or directory; "
                    + "check its path and mode"
            ])
        #expect(read("{command: ['true']}").said == ["DIR/a.yaml:1:52: what the command 'true' printed is empty"])
        #expect(
            read("{command: pass show lab}").said == [
                "DIR/a.yaml:1:62: 'command' is a list of program and arguments, as [pass, show, lab]; no shell reads it"
            ])
        #expect(
            read("{command: []}").said == ["DIR/a.yaml:1:62: 'command' must begin with a program"])
    }

    @Test("a command that hangs or never stops printing is ended, its children too", .timeLimit(.minutes(10)))
    func endless() {
        for script in ["sleep 600 & wait", "exec >&-; sleep 600", "yes hunter2"] {
            let problem = #expect(throws: SecretOrigin.Problem.self) {
                try SecretCommand.firstLine(of: ["sh", "-c", script], within: .milliseconds(200))
            }
            #expect(problem?.detail.contains("did not end within") == true)
        }
    }

    @Test("a secret has exactly one origin")
    func origins() {
        let oneOf = "'password' takes one of 'env', 'file', 'credential', 'command'"
        #expect(read("{env: A, file: b}").said == ["DIR/a.yaml:1:52: " + oneOf])
        #expect(read("{}").said == ["DIR/a.yaml:1:52: " + oneOf])
        #expect(
            read("{evn: A}").said == ["DIR/a.yaml:1:53: unknown key 'evn' in 'password'; did you mean 'env'?"])
        #expect(
            read("[a]").said == [
                "DIR/a.yaml:1:52: 'password' must be a text, not a list; quote a text that begins with '['"
            ])
    }

    @Test("a secret is read again from where it came, and never describes itself", .tags(.I9))
    func refresh() async throws {
        try directory.write("hunter2", to: "pw", mode: 0o600)
        let secret = try #require(read("{file: pw}").secret)
        #expect(await !secret.refresh())
        try directory.write("hunter3", to: "pw", mode: 0o600)
        #expect(await secret.refresh() && secret.value == "hunter3")
        try directory.write("", to: "pw", mode: 0o600)
        #expect(await !secret.refresh() && secret.value == "hunter3")
        #expect(!"\(secret)".contains("hunter3"))
    }

    @Test("secrets in files can be watched: of a file, a credential in a file and a netrc file, each once")
    func watched() throws {
        try directory.write("hunter2", to: "pw", mode: 0o600)
        try directory.write("machine a.example login me password hunter3", to: "netrc", mode: 0o600)
        try directory.write("hunter4", to: "xdg/vedette/credentials/lab", mode: 0o600)
        let text = """
            servers:
              a: {url: "https://a.example", netrc: netrc}
              b: {url: "https://b.example", user: me, password: {file: pw}}
              c: {url: "https://c.example", token: {credential: lab}}
              d: {url: "https://d.example", token: {env: TOKEN}}
              e: {url: "https://e.example", user: you, password: {file: pw}}
            sinks: {team: {kind: slack, url: {file: pw}}}
            """
        let file = ConfigurationFile(path: directory.path + "/a.yaml", text: text, isPrivate: false)
        let environment = ["TOKEN": "t", "XDG_CONFIG_HOME": directory.path + "/xdg"]
        let configuration = try #require(loader(environment).load([file]).configuration)
        let watched = configuration.watchedSecrets
        #expect(watched.map(\.name) == ["netrc", "pw", "lab"])
        #expect(watched.map(\.secret.value) == ["hunter3", "hunter2", "hunter4"])
        #expect(
            watched.map(\.directory)
                == [directory.path, directory.path, directory.path + "/xdg/vedette/credentials"])
        #expect(configuration.sinks.first?.secrets.contains { $0 === watched[1].secret } == true)
    }

    @Test("no diagnostic of a broken file shows a secret that stands in it", .tags(.I9))
    func noLeak() {
        let text = """
            servers: {h: {url: 'https://u:hunter2@h/', user: 'a:b', password: hunter2, headers: {Authorization: [hunter2], X-Api-Key: "hunter2\\n"}}}
            sinks: {t: {kind: slack, url: hunter2}, u: {kind: slack, url: {env: A}, urll: 1}}
            sources: {s: {kind: json, url: 'https://hunter2@h', password: hunter2}}
            """
        for isPrivate in [false, true] {
            let said = problems(text, isPrivate: isPrivate)
            #expect(said.count >= 6)
            #expect(!said.joined().contains("hunter2"))
        }
    }

    @Test("the programs of secrets run at the same time, with one deadline, and cancelling them ends them")
    func parallel() async throws {
        // Each waits for a line that another one writes: one after another they would never end.
        let gates = (0..<8).map { directory.path + "/gate\($0)" }
        for gate in gates { #expect(mkfifo(gate, 0o600) == 0) }
        let commands = (0..<8).map { n in
            let (own, next) = (gates[n], gates[(n + 1) % 8])
            return ["sh", "-c", "echo x > '\(next)' & read line < '\(own)'; wait; echo hunter\(n)"]
        }
        let answers = SecretCommands().run(commands)
        #expect(commands.indices.allSatisfy { (try? answers[commands[$0]]?.get()) == "hunter\($0)" })
        let hung = SecretCommands()
        let gate = directory.path + "/gate0"
        let run = Task.detached { hung.run((0..<20).map { ["sh", "-c", "read line < '\(gate)'; echo \($0)"] }) }
        hung.cancel()
        let ended = await run.value
        #expect(ended.count == 20 && ended.values.allSatisfy { (try? $0.get()) == nil })
        let late = SecretCommands(limit: .milliseconds(50)).run([["sh", "-c", "read line < '\(gate)'"]])
        #expect(throws: SecretOrigin.Problem.self) { try late.values.first?.get() }
    }

    @Test("a program of a secret is run once per reading of the configuration")
    func once() throws {
        let log = directory.path + "/log"
        let text = """
            servers: {h: {url: 'https://h', user: u, password: {command: [sh, -c, "echo . >> \(log); echo hunter2"]}}}
            """
        let loaded = loader([:]).load([ConfigurationFile(path: directory.path + "/a.yaml", text: text, isPrivate: true)]
        )
        #expect(loaded.configuration?.servers.first?.credentials?.password.value == "hunter2")
        #expect(try String(contentsOfFile: log, encoding: .utf8) == ".\n")
    }

    @Test("a request's headers in a kind that compares a response's are told by their names alone", .tags(.I9))
    func comparedHeaders() {
        let kind = SourceKindEntry(
            name: "response", summary: "A response.",
            options: [OptionSpec("headers", .map(.text), "Compared headers.")],
            make: { _ throws(OptionProblem) in StandInKind(fieldNames: []) })
        func said(_ headers: String) -> [String] {
            let text = "sources: {s: {kind: response, url: 'https://h/', headers: {\(headers)}}}"
            return ConfigurationLoader(sourceKinds: [kind], sinkKinds: [], environment: [:])
                .load([ConfigurationFile(path: "a.yaml", text: text, isPrivate: false)]).diagnostics
                .map { $0.description.replacing("a.yaml:1:", with: "") }
        }
        func sentence(_ name: String) -> String {
            "'\(name)' is sent with no request: 'headers' of this kind are response headers to compare, field to header's name; write a request's header under 'headers' of a server, and name that with 'server'"
        }
        #expect(said("version: X-Version, cookie: Set-Cookie, host: X-Served-By").isEmpty)
        #expect(said("Authorization: 'Bearer hunter2'") == ["75: " + sentence("Authorization")])
        #expect(said("Authorization: hunter2") == ["60: warning: " + sentence("Authorization")])
        #expect(said("X-Api-Key: {env: KEY}") == ["71: " + sentence("X-Api-Key")])
        #expect(said("Accept: json") == ["60: warning: " + sentence("Accept")])
    }
}
