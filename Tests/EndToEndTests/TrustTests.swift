// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("trust: a server's certificates, and its pin", .timeLimit(.minutes(10)))
struct TrustTests {
    @Test("it shows the chain and the pin of a self-signed server, and sends neither a request nor a password")
    func shows() async throws {
        let world = try await Appliance()
        let result = try await world.home.vedette("trust", "lab")
        #expect(result.code == 0, "\(result.err)")
        for words in [
            world.lab["appliance"], "certificate  1 of 1", "CN=127.0.0.1, O=Vedette lab", "itself", "DNS:localhost",
            world.lab["pin"], "The usual check fails: it is signed only by itself.",
            "The server 'lab' has this key pinned, so it is trusted.",
        ] {
            #expect(result.out.contains(words), "\(words): \(result.out)")
        }
        #expect(!result.out.contains("tls: {pin"), "there is nothing to write")
        let stats = try await world.lab.get("control", "/lab/stats") as? [String: Any]
        #expect(stats?["requests"] as? Int == 0)
        #expect(!(result.out + result.err).contains(Lab.password))
        let json = try await world.home.vedette("trust", "systems", "--json").json.first
        #expect(json?.text("pin") == world.lab["pin"] && json?["trusted"] as? Bool == false)
        #expect(json?["pinned"] as? Bool == true && (json?["chain"] as? [Any])?.count == 1)
    }

    @Test("the line that it prints is the one that makes the server trusted, and --write puts it into the file")
    func write() async throws {
        let world = try await Appliance()
        let file = world.home.config.appending(path: "vedette.yaml")
        let pinned = try String(contentsOf: file, encoding: .utf8)
        let line = "    tls: {pin: \"\(world.lab["pin"])\"}"
        #expect(pinned.contains(line))
        try world.home.write(pinned.replacing(line + "\n", with: "").replacing("lab:\n", with: "lab:  # ours\n"))
        let before = try await world.home.vedette("list", "systems", "--fresh")
        #expect(before.code == 69 && before.err.contains("tls-untrusted"), "\(before.err)")
        let shown = try await world.home.vedette("trust", world.lab["appliance"])
        #expect(shown.lines.contains(line), "\(shown.out)")
        let written = try await world.home.vedette("trust", "lab", "--write")
        #expect(written.code == 0 && written.err.contains("vedette.yaml:3"), "\(written.err)")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(line) && text.contains("lab:  # ours"))
        #expect(try await world.home.vedette("list", "systems", "--fresh").code == 0)
    }

    @Test("another key than the pinned one is an error that stands out, and --write prints what it replaced")
    func changed() async throws {
        let old = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let world = try await Appliance(pin: old)
        #expect(try await world.home.vedette("trust", "lab").out.contains("has ANOTHER key pinned"))
        let written = try await world.home.vedette("trust", "lab", "--write")
        #expect(written.code == 0 && written.err.contains("(before: \(old))"), "\(written.err)")
        #expect(try await world.home.vedette("list", "systems", "--fresh").code == 0)
    }

    @Test("what is not simple to write is left alone with 65; a usage error is 64, a closed port 69")
    func refusals() async throws {
        let world = try await Appliance()
        let text = "servers:\n  lab: {url: \"\(world.lab["appliance"])\", tls: {insecure: true}}\n"
        try world.home.write(text)
        let kept = try await world.home.vedette("trust", "lab", "--write")
        #expect(kept.code == 65 && kept.err.contains("write the line by hand"), "\(kept.err)")
        let file = world.home.config.appending(path: "vedette.yaml")
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
        for (arguments, code, words) in [
            (["trust", "http://127.0.0.1:1/"], 64, "only https:// has"), (["trust", "lav"], 64, "did you mean 'lab'?"),
            (["trust", world.lab["appliance"], "--write"], 64, "--write needs a server"),
            (["trust", "https://127.0.0.1:1/"], 69, "refused"),
        ] {
            let result = try await Program.run(arguments + world.home.places)
            #expect(result.code == code && result.err.contains(words), "\(arguments): \(result.code): \(result.err)")
        }
    }

    @Test("an expired certificate is reported as expired")
    func expired() async throws {
        let lab = try await Lab("appliance", "--expired")
        let result = try await Program.run(["trust", lab["appliance"]])
        #expect(result.code == 0 && result.out.contains("The usual check fails: "))
        #expect(result.out.contains("expired") || result.out.contains("only by itself"), "\(result.out)")
        await lab.end()
    }
}
