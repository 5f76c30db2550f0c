# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 by hand: the lab must see requests byte for byte and answer wrongly on purpose, which http.server resists."""
from __future__ import annotations

import gzip
import json
import select
import socket
import struct
import sys
import threading
import time
from collections import deque
from urllib.parse import parse_qsl, unquote, urlsplit

REASONS = {100: "Continue", 200: "OK", 201: "Created", 204: "No Content", 301: "Moved Permanently", 302: "Found",
           303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
           400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
           410: "Gone", 413: "Content Too Large", 422: "Unprocessable Content", 429: "Too Many Requests",
           500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout"}


class Request:
    """One request as received. `head` is its raw head, without the empty line."""

    def __init__(self, head, body):
        self.head, self.body = head, body
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, self.version = (lines[0].split(" ") + ["", ""])[:3]
        self.headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
        parts = urlsplit(self.target)
        self.path = unquote(parts.path)
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))

    def header(self, name, default=""):
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), default)

    def number(self, name, default):
        return float(self.query.get(name, default))

    def count(self, name, default):
        return int(self.query.get(name, default))

    @property
    def wants_gzip(self):
        return "gzip" in self.header("Accept-Encoding")

    @property
    def base(self):
        return "http://" + self.header("Host", "127.0.0.1")

    def as_json(self):
        return {"method": self.method, "target": self.target, "headers": [list(pair) for pair in self.headers]}


class Reply:
    """One well-formed answer. A server that wants a malformed one writes to the connection itself."""

    def __init__(self, status=200, body=b"", type="application/json", headers=(), chunked=False, close=False):
        self.status, self.type, self.headers = status, type, list(headers)
        self.body = body.encode() if isinstance(body, str) else body
        self.chunked, self.close = chunked, close

    def compressed(self):
        self.body = gzip.compress(self.body, 6)
        self.headers += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
        return self

    def encode(self, method="GET"):
        headers = [("Date", http_date(time.time())), ("Server", "lab")] + self.headers
        bodyless = self.status in (204, 304)
        if not bodyless:
            headers.append(("Content-Type", self.type))
            headers.append(("Transfer-Encoding", "chunked") if self.chunked else ("Content-Length", str(len(self.body))))
        if self.close:
            headers.append(("Connection", "close"))
        if bodyless or method == "HEAD":
            return head(self.status, headers)
        return head(self.status, headers) + (chunks(self.body) if self.chunked else self.body)


def head(status, headers):
    lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, "Status"))] + ["%s: %s" % pair for pair in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def chunks(data, size=8192):
    return b"".join(chunk(data[at:at + size]) for at in range(0, len(data), size)) + b"0\r\n\r\n"


def http_date(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))


def json_reply(value, status=200):
    return Reply(status, json.dumps(value, ensure_ascii=False) + "\n")


class Connection:
    """The socket of one client, for servers that misbehave."""

    def __init__(self, sock, secure):
        self.sock, self.secure = sock, secure

    def write(self, data):
        self.sock.sendall(data)

    def hold(self, seconds=None):
        """Says nothing until the client leaves or the seconds are over. True when the client left."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))

    def reset(self):
        """Closes with a TCP reset instead of an orderly end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Server:
    """A loopback server, or one of a private network, with a thread per connection. `app(request, connection)` returns a Reply,
    or None when it wrote to the connection itself: then the connection ends."""

    def __init__(self, name, app, port=0, tls=None, verbose=False, host="127.0.0.1"):
        self.name, self.app, self.tls, self.verbose = name, app, tls, verbose
        self.accepted, self.closing = 0, False
        self.socket = socket.create_server((host, port), backlog=1024)
        self.port = self.socket.getsockname()[1]
        self.url = "%s://%s:%d" % ("https" if tls else "http", host, self.port)
        self.acceptor = threading.Thread(target=self._accept, daemon=True)
        self.acceptor.start()

    def close(self):
        """Accepts no more connections; those that are there go on until their clients leave."""
        self.closing = True
        self.socket.shutdown(socket.SHUT_RDWR)
        # An accept that the kernel restarts would take the connections of whoever has the number of the descriptor by then.
        self.acceptor.join()
        self.socket.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError as error:
                if self.closing:
                    return
                # Out of file descriptors: they come back when clients leave.
                self.note("accept: %s" % error)
                time.sleep(0.01)
                continue
            self.accepted += 1
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        # The handshake belongs here: in the accept thread one silent client would stop all others.
        try:
            with sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if not self.tls:
                    return self._converse(sock)
                sock.settimeout(30)
                with self.tls.wrap_socket(sock, server_side=True) as secured:
                    secured.settimeout(None)
                    self._converse(secured)
                    secured.settimeout(0)
                    secured.unwrap()
        except (OSError, ValueError) as error:  # the client left, or speaks no HTTP
            self.note(repr(error))

    def _converse(self, sock):
        connection = Connection(sock, bool(self.tls))
        with sock.makefile("rb") as stream:
            while True:
                request = read_request(stream, sock)
                if request is None:
                    return
                self.note("%s %s" % (request.method, request.target))
                try:
                    reply = self.app(request, connection)
                except (ValueError, LookupError, TypeError) as error:
                    reply = json_reply({"error": "%s: %s" % (type(error).__name__, error)}, 400)
                if reply is None:
                    return
                sock.sendall(reply.encode(request.method))
                if reply.close or request.header("Connection").lower() == "close" or request.version == "HTTP/1.0":
                    return

    def note(self, text):
        if self.verbose:
            print("%s: %s" % (self.name, text), file=sys.stderr, flush=True)


def read_request(stream, sock):
    """The next request, or None when the client is done or talks no HTTP."""
    lines = []
    while True:
        line = stream.readline(1 << 20)
        if not line.endswith(b"\n"):
            return None
        line = line.rstrip(b"\r\n")
        if line:
            lines.append(line)
        elif lines:
            break
    request = Request(b"\r\n".join(lines), b"")
    if request.header("Expect").lower() == "100-continue":
        sock.sendall(head(100, []))
    if request.header("Transfer-Encoding").lower() == "chunked":
        request.body = read_chunked(stream)
    else:
        request.body = stream.read(int(request.header("Content-Length", "0")))
    return request


def read_chunked(stream):
    parts = []
    while True:
        size = int(stream.readline().split(b";")[0], 16)
        if size == 0:
            while stream.readline().strip():
                pass
            return b"".join(parts)
        parts.append(stream.read(size))
        stream.readline()


class Recorder:
    """A log that a test can wait on: entries get `seq` 1, 2, 3 …; the newest `keep` are held."""

    def __init__(self, keep=100_000):
        self.entries, self.total, self.changed = deque(maxlen=keep), 0, threading.Condition()

    def add(self, entry):
        with self.changed:
            self.total += 1
            self.entries.append(dict(entry, seq=self.total, time=time.time()))
            self.changed.notify_all()
            return self.total

    def wait(self, min=0, timeout=10, after=0):
        """The entries after `after`, as soon as there are `min` of these, or when the time is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.total - int(after) >= int(min), float(timeout))
            return [entry for entry in self.entries if entry["seq"] > int(after)]


class Routes:
    """Control calls: "METHOD /path" to a function. Arguments are the query of a GET, the JSON object of a POST;
    a name the function does not know is answered with 400, so a typo in a test cannot pass unseen."""

    def __init__(self, table):
        self.table = table

    def __call__(self, request, connection):
        function = self.table.get("%s %s" % (request.method, request.path))
        if function is None:
            return json_reply({"error": "no such call", "calls": sorted(self.table)}, 404)
        arguments = dict(request.query)
        if request.body:
            arguments.update(json.loads(request.body))
        return json_reply(function(**arguments))
