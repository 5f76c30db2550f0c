// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Certificates made by the openssl program: an authority that nobody knows, a server's for 127.0.0.1 and a client's that it
/// signed, and a client's that signed itself.
struct Papers: Sendable {
    let folder: URL

    init(in folder: URL) async throws {
        self.folder = folder
        try await make("ca", "Test Authority", "-addext", "basicConstraints=critical,CA:TRUE")
        try await make("stranger", "stranger")
        try await sign("server", "server", "subjectAltName=IP:127.0.0.1")
        try await sign("client", "watcher", "")
        for name in ["client", "stranger"] {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path("\(name).key"))
        }
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// `sha256//…` of the server's key.
    func pin() async throws -> String {
        let script =
            "openssl x509 -in \(path("server.pem")) -noout -pubkey | openssl pkey -pubin -outform der"
            + " | openssl dgst -sha256 -binary | openssl base64"
        let child = try Child("/bin/sh", ["-c", script])
        guard await child.end() == 0, let line = child.lines(of: .out).first else { throw Trouble("no pin") }
        return "sha256//" + line
    }

    private func make(_ name: String, _ subject: String, _ more: String...) async throws {
        try await openssl(["req", "-x509", "-days", "2"] + key(name, subject) + ["-out", path(name + ".pem")] + more)
    }

    private func sign(_ name: String, _ subject: String, _ extensions: String) async throws {
        try await openssl(["req"] + key(name, subject) + ["-out", path(name + ".csr")])
        try extensions.write(toFile: path(name + ".ext"), atomically: true, encoding: .utf8)
        try await openssl([
            "x509", "-req", "-in", path(name + ".csr"), "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
            "-set_serial", "\(UInt32.random(in: 1..<UInt32.max))", "-days", "2", "-extfile", path(name + ".ext"),
            "-out", path(name + ".pem"),
        ])
    }

    private func key(_ name: String, _ subject: String) -> [String] {
        [
            "-subj", "/CN=\(subject)", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", path(name + ".key"),
        ]
    }

    private func openssl(_ arguments: [String]) async throws {
        let child = try Child("/usr/bin/env", ["openssl"] + arguments)
        guard await child.end() == 0 else { throw Trouble("openssl: \(child.text(of: .err))") }
    }
}

/// A real nginx over TLS that answers every request with 200 and writes down who asked.
final class Nginx: Sendable {
    let port: UInt16
    private let child: Child
    private let log: URL

    /// - Parameter directives: further ones of its server.
    init(_ papers: Papers, _ directives: String) async throws {
        port = try Nginx.freePort()
        log = papers.folder.appending(path: "nginx.log")
        let file = papers.path("nginx.conf")
        try Nginx.configuration(papers, port, directives).write(toFile: file, atomically: true, encoding: .utf8)
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first(where: FileManager.default.isExecutableFile)
        child = try Child(
            "/usr/bin/env", [program ?? "nginx", "-e", "stderr", "-p", papers.folder.path, "-c", file])
        // Said when its sockets listen.
        try await child.wait(for: .err, limit: 60) { $0.contains { $0.contains(" nginx/") } }
    }

    private static func configuration(_ papers: Papers, _ port: UInt16, _ directives: String) -> String {
        let folder = papers.folder.path
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "  \($0)_temp_path \(folder)/nginx-\($0);\n"
        }.joined()
        return """
            daemon off;
            master_process off;
            pid \(folder)/nginx.pid;
            error_log stderr notice;
            events {}
            http {
            \(temporary)  log_format who '$request_method $uri $status $ssl_client_verify $ssl_client_s_dn';
              access_log \(folder)/nginx.log who;
              server {
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate \(papers.path("server.pem"));
                ssl_certificate_key \(papers.path("server.key"));
                \(directives)
                location / { default_type application/json; return 200 '{}'; }
              }
            }
            """
    }

    /// One that was free a moment ago: nginx cannot say which one it was given.
    static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
            }
        }
        guard code == 0 else { throw Trouble("no free port: \(String(cString: strerror(errno)))") }
        return UInt16(bigEndian: address.sin_port)
    }

    var url: String { "https://127.0.0.1:\(port)" }

    /// `POST /hook 200 SUCCESS CN=watcher`
    var requests: [String] {
        ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    func end() async { await child.destroy() }
}
