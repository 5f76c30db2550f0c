// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore
import VedetteTestSupport

/// A receiver that misbehaves as the User-Agent of a request asks: `status-503`, `length`, `huge` … It remembers what came,
/// and how much it could send. It ends when its standard input does.
final class MisbehavingReceiver: Sendable {
    let origin: String
    private let process = Process()
    private let input = Pipe()

    init() throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", MisbehavingReceiver.script]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (input, output)
        try process.runUnblocked()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        origin = "http://127.0.0.1:" + line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitForEnd()
    }

    /// What came to any path for that behaviour: the path, and the bytes of the answer that were sent.
    struct Seen: Decodable {
        var agent: String
        var path: String
        var sent: Int
    }

    func seen(_ fetcher: any Fetcher, agents: [String]) async throws -> [Seen] {
        let agents = Set(agents)
        let response = try await fetcher.fetch(Request(url: origin + "/log"))
        return try JSONDecoder().decode([Seen].self, from: Data(response.body)).filter { agents.contains($0.agent) }
    }

    private static let script = #"""
        import json, socketserver, socket, struct, sys, threading, time

        seen, lock = [], threading.Lock()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try: self.answer()
                except OSError: pass

            def answer(self):
                data = b""
                while b"\r\n\r\n" not in data:
                    more = self.request.recv(65536)
                    if not more: return
                    data += more
                head, _, self.body = data.partition(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                fields = {n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
                while len(self.body) < int(fields.get("content-length", 0)): self.body += self.request.recv(65536)
                path, agent = lines[0].split(" ")[1], fields.get("user-agent", "")
                if path == "/log":
                    with lock: return self.reply(200, json.dumps(seen).encode())
                self.said = [data.decode("latin-1"), *path.replace("?", "/").replace("=", "/").split("/")]
                self.said += [v.split(" ")[-1] for n, v in fields.items() if n in ("authorization", "x-key", "x-gotify-key")]
                if b'"topic"' in self.body: self.said.append(json.loads(self.body)["topic"])
                self.entry = {"agent": agent, "path": path, "sent": 0}
                with lock: seen.append(self.entry)
                if path == "/followed": return self.reply(200, b"{}")
                word, _, number = agent.partition("-")
                getattr(self, word)(*([int(number)] if number else []))

            def send(self, data): self.request.sendall(data)

            def reply(self, status, body, more=""):
                self.send(("HTTP/1.1 %d x\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n" % (status, len(body), more)).encode() + body)

            def status(self, n):
                if n < 200: return self.send(b"HTTP/1.1 %d x\r\n\r\n" % n)
                self.reply(n, b"" if n in (204, 304) else b"{}")

            # What was said, one word of it after another, wherever a service puts its own word.
            def echo(self, n):
                with lock: word = self.said[len(seen) % len(self.said)]
                fields = dict.fromkeys(("errcode", "id", "description", "message"), word)
                self.reply(n, word.encode() if n % 2 else json.dumps({"ok": False, "error": {"code": word, "status": word}, **fields}).encode())
            def redirect(self, n): self.reply(n, b"", "Location: /followed\r\n")
            def silent(self):
                while self.request.recv(65536): pass
            def drip(self):
                for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" * 50: self.send(bytes([byte])); time.sleep(0.05)
            def close(self): pass
            def reset(self): self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); self.request.close()
            def head(self): self.send(b"HTTP/1.1 200 OK\r\nContent-Le")
            def length(self): self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
            def chunked(self): self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
            def garbage(self): self.send(b"\x00\xff\xfe no HTTP at all\r\n\r\n")
            def gzip(self): self.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip.")
            def headers(self): self.flood(b"HTTP/1.1 200 OK\r\n", b"X-Long: " + b"x" * 1000 + b"\r\n")
            def huge(self): self.flood(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n", b"x" * 65536)
            def endless(self): self.flood(b"HTTP/1.1 500 x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n")
            def early(self): self.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"); self.reply(200, b'{"ok":true}')
            def unframed(self): self.send(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"ok":true}')

            def flood(self, start, more):
                self.send(start)
                while self.entry["sent"] < 10 << 30:
                    self.send(more)
                    self.entry["sent"] += len(more)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads, request_queue_size = True, 128

        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        """#
}
