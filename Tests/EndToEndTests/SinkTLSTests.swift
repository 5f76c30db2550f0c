// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

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
}
