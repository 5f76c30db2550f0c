// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Serves the files of a folder, which may change between two requests: `/plain/NAME` with its length, `/validated/NAME` in chunks
/// with an ETag, `/gzip/NAME` compressed. `/stream/NAME` stays open and sends what is posted to `/push/NAME`; after a post to
/// `/refuse/NAME` its next request is answered by 503. It prints its port, then each stream that is opened, and ends with its
/// input.
private let server = #"""
    import gzip, json, mimetypes, os, queue, sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    folder, streams, refused, lock = sys.argv[1], {}, set(), threading.Lock()

    # One write for a line: another thread's may come between two.
    def say(**values): print(json.dumps(values) + "\n", end="", flush=True)

    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", -1
        def log_message(self, *arguments): pass

        def do_GET(self):
            way, name = self.path.split("?")[0].split("/")[1:3]
            if way == "stream": return self.stream(name)
            try:
                with open(os.path.join(folder, name), "rb") as file: body = file.read()
            except FileNotFoundError:
                return self.answer(404, b"")
            headers = {"Content-Type": mimetypes.guess_type(name)[0]}
            if way == "validated":
                headers["ETag"] = '"%x"' % hash(body)
                if self.headers["If-None-Match"] == headers["ETag"]: return self.answer(304, None, headers)
                headers["Transfer-Encoding"] = "chunked"
            if way == "gzip": body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
            self.answer(200, body, headers)

        def answer(self, status, body, headers={}):
            self.send_response(status)
            for header in headers.items(): self.send_header(*header)
            is_chunked = "Transfer-Encoding" in headers
            if body is not None and not is_chunked: self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if body is None: pass
            elif is_chunked:
                for start in range(0, len(body), 65536): self.chunk(body[start:start + 65536])
                self.chunk(b"")
            else: self.wfile.write(body)
            self.wfile.flush()

        def chunk(self, data): self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def stream(self, name):
            with lock:
                if name in refused:
                    refused.remove(name)
                    return self.answer(503, b"")
                # A connection that the client closed ends when the next one is opened.
                if name in streams: streams[name].put(None)
                records = streams[name] = queue.Queue()
            kind = "text/event-stream" if name.endswith("-events") else "application/octet-stream"
            self.answer(200, None, {"Content-Type": kind, "Transfer-Encoding": "chunked"})
            say(opened=name)
            self.close_connection = True
            while record := records.get():
                self.chunk(record)
                self.wfile.flush()

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            order, name = self.path.split("/")[1:3]
            with lock:
                if order == "push": streams[name].put(body)
                else: refused.add(name)
            self.answer(200, b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # A client that closes a connection early is no error here.
    server.daemon_threads, server.handle_error = True, lambda *arguments: None
    say(port=server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

/// Serves the bodies of a folder over HTTP, and the records of streams.
struct BodyServer {
    let url: String
    private let child: Child

    init(_ folder: URL) async throws {
        child = try Child("/usr/bin/env", ["python3", "-c", server, folder.path])
        let line = try await child.wait { !$0.isEmpty }[0]
        guard let port = Program.object(line)?["port"] as? Int else { throw Trouble("the server printed: \(line)") }
        url = "http://127.0.0.1:\(port)"
    }

    /// Sends a record to the open connection of a stream.
    func push(_ record: String, to stream: String) async throws {
        let framed = stream.hasSuffix("-events") ? "data: \(record)\n\n" : record + "\n"
        _ = try await Wire.call("POST", "\(url)/push/\(stream)", Data(framed.utf8))
    }

    /// Answers the next request of a stream by 503.
    func refuse(_ stream: String) async throws {
        _ = try await Wire.call("POST", "\(url)/refuse/\(stream)", Data())
    }

    /// Waits until each of these streams was opened so many times.
    func opened(_ streams: [String], times: Int) async throws {
        try await child.wait { lines in
            let opened = lines.compactMap { Program.object($0)?.text("opened") }
            return streams.allSatisfy { stream in opened.count { $0 == stream } >= times }
        }
    }

    func end() async { await child.destroy() }
}
