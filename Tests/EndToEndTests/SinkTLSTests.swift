// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("tls: of a sink, at a real nginx", .timeLimit(.minutes(10)))
struct SinkTLSTests {
    /// The sinks that may stand on a server of the user's own, each with the same `tls:`.
    private func configure(_ home: Home, _ url: String, tls: String) throws {
        try home.write(
            """
            sinks:
              hook: {kind: webhook, url: \(url)/hook, tls: \(tls)}
              mattermost: {kind: mattermost, url: {env: MATTERMOST}, tls: \(tls)}
              matrix: {kind: matrix, url: \(url), room: "!r:x", token: {env: TOKEN}, tls: \(tls)}
              gotify: {kind: gotify, url: \(url), token: {env: TOKEN}, tls: \(tls)}
              ntfy: {kind: ntfy, url: \(url), topic: t, tls: \(tls)}
            """)
    }

    private func send(_ home: Home, _ url: String, _ sink: String) async throws -> Program.Result {
        try await home.vedette("send", sink, environment: ["MATTERMOST": url + "/hooks/x", "TOKEN": "t0ken"])
    }

    @Test(
        "a server that asks for a client certificate is shown ours, by the webhook and by each chat of one's own server"
    )
    func clientCertificate() async throws {
        let home = try Home()
        let papers = try await Papers(in: home.directory)
        let nginx = try await Nginx(
            papers, "ssl_verify_client on; ssl_client_certificate \(papers.path("ca.pem"));")
        let ca = "ca: \(papers.path("ca.pem"))"
        let ours = "certificate: \(papers.path("client.pem")), key: \(papers.path("client.key"))"
        try configure(home, nginx.url, tls: "{\(ca), \(ours)}")
        for sink in ["hook", "mattermost", "matrix", "gotify", "ntfy"] {
            let sent = try await send(home, nginx.url, sink)
            #expect(sent.code == 0, "\(sink): \(sent.err)")
            #expect(nginx.requests.last?.hasSuffix(" 200 SUCCESS CN=watcher") == true, "\(sink): \(nginx.requests)")
        }
        #expect(nginx.requests.count == 5)
        try configure(home, nginx.url, tls: "{\(ca)}")
        let bare = try await send(home, nginx.url, "hook")
        #expect(bare.code == 69 && nginx.requests.last == "POST /hook 400 NONE -", "\(bare.err)")
        let stranger = "certificate: \(papers.path("stranger.pem")), key: \(papers.path("stranger.key"))"
        try configure(home, nginx.url, tls: "{\(ca), \(stranger)}")
        let refused = try await send(home, nginx.url, "hook")
        #expect(refused.code == 69 && nginx.requests.last?.contains(" 400 FAILED") == true, "\(refused.err)")
        await nginx.end()
    }

    @Test("an authority of one's own and a pin are heeded, and without them nothing is sent")
    func trust() async throws {
        let home = try Home()
        let papers = try await Papers(in: home.directory)
        let nginx = try await Nginx(papers, "")
        let wrong = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let cases = [
            ("{minimum: 1.2}", 69, "tls-untrusted"), ("{pin: \"\(wrong)\"}", 69, "tls-pin"),
            ("{ca: \(papers.path("ca.pem"))}", 0, "delivered"),
            ("{pin: \"\(try await papers.pin())\"}", 0, "delivered"),
            ("{insecure: true}", 0, "delivered"),
        ]
        for (tls, code, words) in cases {
            try configure(home, nginx.url, tls: tls)
            for sink in ["hook", "ntfy"] {
                let before = nginx.requests.count
                let sent = try await send(home, nginx.url, sink)
                #expect(Int(sent.code) == code && sent.err.contains(words), "\(tls): \(sent.err)")
                #expect(nginx.requests.count == before + (code == 0 ? 1 : 0), "\(tls)")
            }
        }
        await nginx.end()
    }

    @Test(
        "the system's authorities are its file and its directory, and tls.ca replaces both",
        .enabled(if: SystemAuthorities.arePossible, "no bind mount in a user namespace"))
    func systemAuthorities() async throws {
        let home = try Home()
        let papers = try await Papers(in: home.directory)
        let nginx = try await Nginx(papers, "")
        for (name, inFile, inDirectory) in [("file", true, false), ("directory", false, true), ("none", false, false)] {
            let authorities = try await SystemAuthorities(
                papers, in: home.directory.appending(path: name), inFile: inFile, inDirectory: inDirectory)
            for (tls, isOthers) in [("{minimum: 1.2}", false), ("{ca: \(papers.path("stranger.pem"))}", true)] {
                try configure(home, nginx.url, tls: tls)
                let sent = try await authorities.run(["send", "hook"] + home.places)
                let isTrusted = !isOthers && name != "none"
                #expect(sent.code == (isTrusted ? 0 : 69), "\(name), \(tls): \(sent.err)")
                #expect(isTrusted || sent.err.contains("tls-untrusted"), "\(name), \(tls): \(sent.err)")
            }
        }
        await nginx.end()
    }
}

/// What a system trusts, in the place of this system's, for one program in a namespace of its own.
private struct SystemAuthorities {
    let directory: URL
    private static let script = #"mount --rbind "$1" /etc/ssl/certs && shift && exec "$@""#

    static func arguments(_ directory: String, _ command: [String]) -> [String] {
        ["-Urm", "/bin/sh", "-c", script, "sh", directory] + command
    }

    static let arePossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = arguments("/mnt", ["true"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return false }
        return process.waitForEnd() == 0
    }()

    /// Where the authority of the papers is not, a certificate is that signed nothing.
    init(_ papers: Papers, in directory: URL, inFile: Bool, inDirectory: Bool) async throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: papers.path(inFile ? "ca.pem" : "client.pem"),
            toPath: directory.appending(path: "ca-certificates.crt").path)
        guard inDirectory else { return }
        try FileManager.default.copyItem(
            atPath: papers.path("ca.pem"), toPath: directory.appending(path: "ours.pem").path)
        let child = try Child("/usr/bin/env", ["openssl", "rehash", directory.path])
        guard await child.end() == 0 else { throw Trouble("openssl rehash: \(child.text(of: .err))") }
    }

    func run(_ arguments: [String]) async throws -> Program.Result {
        let child = try Child(
            "/usr/bin/unshare", SystemAuthorities.arguments(directory.path, [Program.path] + arguments),
            environment: ["MATTERMOST": "https://localhost/hooks/x", "TOKEN": "t0ken"])
        let code = await child.end()
        return Program.Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }
}
