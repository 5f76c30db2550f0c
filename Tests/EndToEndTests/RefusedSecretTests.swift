// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("A password that was changed is no reason to restart", .timeLimit(.minutes(10)))
struct RefusedSecretTests {
    /// An appliance whose password is a credential, and is polled once an hour unless a command asks.
    private struct World {
        let lab: Lab
        let home: Home
        var environment: [String: String] { ["XDG_CONFIG_HOME": home.directory.path, "XDG_RUNTIME_DIR": "/none"] }

        init(_ secret: String) async throws {
            lab = try await Lab("appliance")
            home = try Home(lab)
            try home.write(
                """
                servers:
                  lab: {url: "\(lab["appliance"])", user: lamato, password: \(secret), tls: {pin: "\(lab["pin"])"}, cookies: none}
                sources:
                  systems: {kind: cloudburst, server: lab, every: 1h}
                """)
        }

        func store(_ password: String, in file: String) throws {
            let path = home.directory.appending(path: file)
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("\(password)\n".utf8).write(to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path)
        }

        func watcher() async throws -> Child {
            let child = try Child(Program.path, ["run", "-v"] + home.places, environment: environment)
            try await child.wait(for: .err) { $0.contains { $0.contains("baseline") } }
            return child
        }

        func change(_ password: String) async throws {
            try await lab.post("control", "/lab/password", ["password": password])
        }

        func unauthorized() async throws -> Int {
            (try await lab.get("control", "/lab/stats") as? [String: Any])?["unauthorized"] as? Int ?? 0
        }
    }

    @Test("a rotated file is read in the poll that the server refuses, which then succeeds: nothing failed")
    func rotated() async throws {
        let world = try await World("{file: ../pw}")
        try world.store(Lab.password, in: "pw")
        let watcher = try await world.watcher()
        try world.store("another-pass", in: "pw")
        try await world.change("another-pass")
        let before = try await world.unauthorized()
        #expect(try await world.home.vedette("poll", "systems", environment: world.environment).code == 0)
        // On a busy machine the watch of the file comes first, and then nothing is refused.
        for _ in 0..<5000 where try await world.unauthorized() == before {}
        try await watcher.wait(for: .err) { $0.filter { $0.contains("systems: ") }.count > 1 }
        #expect(try await world.home.status("systems")["health"] as? String == "ok")
        #expect(!watcher.text(of: .err).contains("401"))
        #expect(try await world.unauthorized() <= before + 1)
        #expect(await watcher.stop() == 0)
    }

    @Test(
        "a source that was refused is polled when the file of its password changes, although its next poll is far off")
    func watched() async throws {
        let world = try await World("{file: ../pw}")
        try world.store(Lab.password, in: "pw")
        let watcher = try await world.watcher()
        try await world.change("another-pass")
        #expect(try await world.home.vedette("poll", "systems", environment: world.environment).code == 0)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("401") } }
        try world.store("another-pass", in: "pw")
        try await watcher.wait(for: .err) { $0.contains { $0.contains("systems: answers again") } }
        #expect(watcher.text(of: .err).contains("read 1 secret again, whose file changed"))
        #expect(await watcher.stop() == 0)
    }

    @Test(
        "after `login --replace` the watcher polls the sources of the server that were refused, with the new password")
    func login() async throws {
        let world = try await World("{credential: lab}")
        try world.store(Lab.password, in: "vedette/credentials/lab")
        let watcher = try await world.watcher()
        try await world.change("another-pass")
        #expect(try await world.home.vedette("poll", "systems", environment: world.environment).code == 0)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("401") } }
        let shell = try Child(
            "/bin/sh",
            ["-c", "echo another-pass | \"$0\" \"$@\"", Program.path, "login", "lab", "--replace"]
                + world.home.places, environment: world.environment)
        #expect(await shell.end(within: 60) == 0)
        #expect(shell.text(of: .err).contains("the watcher polls systems now"), "\(shell.text(of: .err))")
        try await watcher.wait(for: .err) { $0.contains { $0.contains("systems: answers again") } }
        #expect(await watcher.stop() == 0)
        #expect(!watcher.text(of: .err).contains("another-pass") && !shell.text(of: .err).contains("another-pass"))
    }
}
