# SPDX-License-Identifier: Apache-2.0
"""A server whose path selects how it misbehaves. README.md lists the paths."""
from __future__ import annotations

import base64
import gzip
import json
import threading
import time
import zlib

from wire import Recorder, Reply, Routes, chunk, chunks, head, http_date, json_reply

JSON = [("Content-Type", "application/json")]
LOGIN = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form></form></body></html>\n"


class Faults:
    def __init__(self):
        self.requests, self.lock, self.changes = Recorder(10_000), threading.Lock(), {}
        self.routes = Routes({"GET /raw-requests": self.requests.wait, "POST /etag/change": self.change,
                              "POST /lastmodified/change": self.change})
        self.paths = {"/" + name[3:].replace("__", "/").replace("_", "-"): getattr(self, name)
                      for name in dir(self) if name.startswith("do_")}

    def __call__(self, request, connection):
        if "%s %s" % (request.method, request.path) in self.routes.table:
            return self.routes(request, connection)
        self.requests.add({"method": request.method, "target": request.target, "secure": connection.secure,
                           "raw": request.head.decode("latin-1"), "body": request.body.decode("latin-1")})
        answer = self.paths.get(request.path)
        return answer(request, connection) if answer else json_reply({"paths": sorted(self.paths)}, 404)

    # Time

    def do_hang(self, request, connection):
        connection.hold(request.number("seconds", 3600))

    def do_slow(self, request, connection):
        if connection.hold(request.number("first_byte", 1)):
            return None
        return self.do_json(request, connection)

    def do_drip(self, request, connection):
        rate = request.number("bytes_per_s", 1)
        body = items(request)
        connection.write(head(200, JSON + [("Content-Length", str(len(body)))]))
        for byte in body:
            connection.write(bytes([byte]))
            if connection.hold(1 / rate):
                return

    # Size

    def do_endless(self, request, connection):
        connection.write(head(200, JSON + [("Transfer-Encoding", "chunked")]) + chunk(b"["))
        while True:
            connection.write(chunk(b'{"id": 1},' * 6000))

    def do_big(self, request, connection):
        left = request.count("bytes", 100_000_000)
        known = request.query.get("length", "1") != "0"
        connection.write(head(200, JSON + [("Content-Length", str(left)) if known else ("Connection", "close")]))
        while left > 0:
            connection.write(b" " * min(left, 65536))
            left -= 65536

    def do_gzipbomb(self, request, connection):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        connection.write(head(200, JSON + [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]))
        for _ in range(request.count("mb", 200)):
            data = packer.compress(b" " * (1 << 20))
            if data:
                connection.write(chunk(data))
        connection.write(chunk(packer.flush()) + b"0\r\n\r\n")

    def do_headers(self, request, connection):
        return Reply(200, items(request), headers=[("X-Long", "x" * (1024 * request.count("kb", 400)))])

    def do_manyheaders(self, request, connection):
        return Reply(200, items(request), headers=[("X-%d" % n, "x") for n in range(request.count("n", 10_000))])

    # Framing

    def do_cut__length(self, request, connection):
        body = items(request)
        connection.write(head(200, JSON + [("Content-Length", str(len(body)))]) + body[:len(body) // 2])

    def do_cut__chunked(self, request, connection):
        body = items(request)
        connection.write(head(200, JSON + [("Transfer-Encoding", "chunked")]) + chunk(body[:len(body) // 2]))

    def do_cut__gzip(self, request, connection):
        """The length is right for what is sent, but the stream ends `bytes` too early."""
        packed = gzip.compress(items(request))
        packed = packed[:-request.count("bytes", len(packed) // 3)]
        return Reply(200, packed, headers=[("Content-Encoding", "gzip")])

    def do_cut__close(self, request, connection):
        body = items(request)
        connection.write(head(200, JSON + [("Connection", "close")]) + body[:len(body) // 2])

    def do_two_lengths(self, request, connection):
        body = items(request)
        lengths = [("Content-Length", str(len(body))), ("Content-Length", str(len(body) // 2))]
        connection.write(head(200, JSON + lengths) + body)

    def do_cl_te(self, request, connection):
        body = items(request)
        both = [("Content-Length", str(len(body) // 2)), ("Transfer-Encoding", "chunked")]
        connection.write(head(200, JSON + both) + chunks(body))

    def do_close(self, request, connection):
        return None

    def do_reset(self, request, connection):
        connection.reset()

    def do_garbage(self, request, connection):
        connection.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    # Redirects

    def do_redirect(self, request, connection):
        return moved(request.query["to"], request.count("status", 302))

    def do_redirect__loop(self, request, connection):
        return moved("/redirect/loop", 302)

    def do_redirect__n(self, request, connection):
        left = request.count("n", 6)
        return moved("/redirect/n?n=%d" % (left - 1) if left > 1 else "/json", 302)

    # Status and validators

    def do_status(self, request, connection):
        again = request.query.get("retry_after")
        return Reply(request.count("code", 503), '{"error": "told to"}\n',
                     headers=[] if again is None else [("Retry-After", again)])

    def do_auth(self, request, connection):
        expected = "%s:%s" % (request.query.get("user", "lamato"), request.query.get("password", "s3cret-lab"))
        if request.header("Authorization") == "Basic " + base64.b64encode(expected.encode()).decode():
            return self.do_json(request, connection)
        return Reply(401, LOGIN, "text/html", [("WWW-Authenticate", 'Basic realm="lab"')])

    def do_cookie(self, request, connection):
        reply = self.do_echo(request, connection)
        reply.headers.append(("Set-Cookie", "%s=%s; Path=/" % (request.query.get("name", "lab"), request.query.get("value", "1"))))
        return reply

    def do_etag(self, request, connection):
        """`name` makes an own resource, so that tests running at once do not meet."""
        generation = self.generation(request)
        return self.conditional(request, [("ETag", 'W/"lab, %d"' % generation)], "If-None-Match", generation)

    def do_lastmodified(self, request, connection):
        generation = self.generation(request)
        stamp = http_date(1_794_000_000 + generation)
        return self.conditional(request, [("Last-Modified", stamp)], "If-Modified-Since", generation)

    def conditional(self, request, validators, header, generation):
        if request.header(header) == validators[0][1]:
            return Reply(304, headers=validators)
        return Reply(200, json.dumps([{"id": n, "name": "item %d" % n, "state": "ok"} for n in range(generation + 1)]),
                     headers=validators)

    def do_304_always(self, request, connection):
        return Reply(304, headers=[("ETag", '"always"')])

    def generation(self, request):
        with self.lock:
            return self.changes.get(request.query.get("name", ""), 0)

    def change(self, name=""):
        with self.lock:
            self.changes[name] = self.changes.get(name, 0) + 1
            return {"generation": self.changes[name]}

    # Bodies

    def do_json(self, request, connection):
        return Reply(200, items(request))

    def do_chunked(self, request, connection):
        return Reply(200, items(request), chunked=True)

    def do_gzip(self, request, connection):
        """`members` splits the body over several gzip members, `trailing` adds garbage behind."""
        body, members = items(request), request.count("members", 1)
        size = -(-len(body) // members)
        packed = b"".join(gzip.compress(body[at:at + size]) for at in range(0, len(body), size))
        packed += b"\xffgarbage" if "trailing" in request.query else b""
        return Reply(200, packed, headers=[("Content-Encoding", "gzip")])

    def do_deflate(self, request, connection):
        """As RFC 9110 says (zlib), or with `raw` as some servers do."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15 if "raw" in request.query else 15)
        packed = packer.compress(items(request)) + packer.flush()
        return Reply(200, packed, headers=[("Content-Encoding", "deflate")])

    def do_badgzip(self, request, connection):
        return Reply(200, items(request), headers=[("Content-Encoding", "gzip")])

    def do_empty(self, request, connection):
        return Reply(200, b"")

    def do_html(self, request, connection):
        return Reply(200, LOGIN, "text/html;charset=UTF-8")

    def do_echo(self, request, connection):
        return json_reply({"method": request.method, "path": request.path, "target": request.target,
                           "headers": [list(pair) for pair in request.headers], "body": request.body.decode("latin-1"),
                           "secure": connection.secure, "time": time.time()})


def items(request):
    count = request.count("n", 100)
    return json.dumps([{"id": n, "name": "item %d" % n, "state": "ok"} for n in range(count)], indent=1).encode()


def moved(to, status):
    return Reply(status, "", "text/plain", [("Location", to)])
