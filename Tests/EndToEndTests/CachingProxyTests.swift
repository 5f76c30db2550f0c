// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server of the file that its argument names, without cache headers. It prints its port and ends with its input.
private let origin = #"""
    import sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *arguments): pass
        def do_GET(self):
            body = open(sys.argv[1], "rb").read()
            self.send_response(200)
            # A cache may call this fresh for a tenth of its age: years.
            self.send_header("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")
            self.send_header("ETag", '"%d"' % len(body))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

/// A real squid that caches in memory.
private struct Squid {
    let child: Child
    let port: UInt16

    init(in folder: URL) async throws {
        port = try Nginx.freePort()
        // It refuses to run as root.
        let own = try #require(getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) })
        let user = own == "root" ? "nobody" : own
        let file = folder.appending(path: "squid.conf").path
        try """
        http_port 127.0.0.1:\(port)
        http_access allow all
        cache_mem 8 MB
        cache_effective_user \(user)
        pid_filename none
        access_log none
        cache_store_log none
        cache_log /dev/null
        coredump_dir /
        netdb_filename none
        pinger_enable off
        icp_port 0
        htcp_port 0
        shutdown_lifetime 0 seconds
        """.write(toFile: file, atomically: true, encoding: .utf8)
        child = try Child("/usr/sbin/squid", ["-N", "-d", "1", "-n", "v\(port)", "-f", file])
        try await child.wait(for: .err, limit: 60) { $0.contains { $0.contains("Accepting HTTP Socket connections") } }
    }
}

@Suite("Behind a caching proxy", .timeLimit(.minutes(10)))
struct CachingProxyTests {
    @Test(
        "a change is seen behind a cache that calls the old answer fresh, unless a header of one's own asks otherwise")
    func revalidates() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        try "[{\"id\": 1}]".write(to: list, atomically: true, encoding: .utf8)
        let server = try Child("/usr/bin/env", ["python3", "-c", origin, list.path])
        let port = try await server.wait { !$0.isEmpty }[0]
        let squid = try await Squid(in: home.directory)
        let url = "http://127.0.0.1:\(port)/"
        try home.write(
            """
            servers:
              plain: {url: "\(url)", proxy: "http://127.0.0.1:\(squid.port)"}
              own: {url: "\(url)", proxy: "http://127.0.0.1:\(squid.port)", headers: {Cache-Control: max-stale}}
            sources:
              asks: {kind: json, server: plain, path: asks}
              trusts: {kind: json, server: own, path: trusts}
            """)
        #expect(try await home.vedette("run", "--once").code == 0)
        try "[{\"id\": 1}, {\"id\": 2}]".write(to: list, atomically: true, encoding: .utf8)
        let second = try await home.vedette("run", "--once")
        #expect(second.code == 0, "\(second.err)")
        #expect(try await home.vedette("list", "asks", "--json").json.count == 2)
        #expect(try await home.vedette("list", "trusts", "--json").json.count == 1)
        await squid.child.destroy()
        await server.destroy()
    }
}
