# SPDX-License-Identifier: Apache-2.0
"""Row 12: the memory that 72 hostile servers take from the watcher at once, each on an address of its own."""
from __future__ import annotations

import gzip
import os
import socket
import threading
import time

from parts import Trouble, end, resident, start_notified, wait_until

COUNT = 72
ROWS = b",".join(b'{"id":%d,"title":"row %d","text":"%s"}' % (n, n, b"x" * 900) for n in range(16_000))
LIST = b"[" + ROWS + b"]"  # 15 MB: within every limit
BOMB = gzip.compress(b"[" + b" " * (64 << 20) + b"]", 9)  # 64 KB on the wire, twice the limit when decoded
PACKED = gzip.compress(LIST, 1)
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Hostile:
    """Servers in six manners, twelve of each. Each answers every request in its own manner, and counts it."""

    def __init__(self):
        self.asked, self.lock, self.listeners = [0] * COUNT, threading.Lock(), []
        for n in range(COUNT):
            self.listeners.append(socket.create_server(("127.0.2.%d" % (n + 1), 0), backlog=64))
            threading.Thread(target=self.serve, args=(n,), daemon=True).start()

    def url(self, n):
        return "http://%s:%d/" % self.listeners[n].getsockname()

    def serve(self, n):
        while True:
            try:
                client, _ = self.listeners[n].accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(n, client), daemon=True).start()

    def answer(self, n, client):
        try:
            with client:
                while b"\r\n\r\n" not in client.recv(65536):
                    pass
                with self.lock:
                    self.asked[n] += 1
                MANNERS[n % len(MANNERS)](client)
        except OSError:
            pass  # the watcher had enough

    def close(self):
        for listener in self.listeners:
            listener.close()


def whole(client):
    client.sendall(PLAIN + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(LIST) + LIST)


def packed(client):
    client.sendall(PLAIN + b"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED)


def bomb(client):
    client.sendall(PLAIN + b"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB)


def endless(client):
    client.sendall(PLAIN + b"Connection: close\r\n\r\n[")
    while True:
        client.sendall(ROWS[:1 << 20])


def unfinished(client):
    """Nearly all of a large body, then silence."""
    client.sendall(PLAIN + b"Content-Length: %d\r\n\r\n" % len(LIST) + LIST[:-100])
    time.sleep(60)


def moving(client):
    """A large list in which everything is new each time."""
    body = LIST.replace(b'"id":', b'"id":%d' % (time.monotonic_ns() % 1_000_000 + 1))
    client.sendall(PLAIN + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


MANNERS = (whole, packed, bomb, endless, unfinished, moving)


class Growth:
    def __init__(self, before, most, after, polls):
        self.before, self.most, self.after, self.polls = before, most, after, polls


def measure(vedette, work, seconds=40):
    """Resident memory with no such server, at most with all of them, and when they are gone."""
    servers = Hostile()
    quiet = "sources:\n  quiet: {kind: json, url: \"http://127.0.0.1:9/\", every: 1h}\n"
    sources = "".join("  h%02d: {kind: json, url: \"%s\", every: 5s, fields: {text: text}}\n" % (n, servers.url(n)) for n in range(COUNT))
    rest = "sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, limit: {count: 1, per: 1h}, notify: [out]}\n"
    process, ready = start_notified(vedette, work, "hostile", quiet + rest)
    try:
        ready(30)
        time.sleep(3)
        before = resident(process.pid, "VmRSS:")
        with open(os.path.join(work, "hostile", "config", "bench.yaml"), "w") as file:
            file.write(quiet + sources + rest)
        wait_until(lambda: all(servers.asked), 60, "a request to each hostile server")
        begin, most = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            if process.poll() is not None:
                raise Trouble("the watcher ended with %d" % process.returncode)
            most = max(most, resident(process.pid, "VmRSS:"))
            time.sleep(0.05)
        most = max(most, resident(process.pid, "VmHWM:"))
        with open(os.path.join(work, "hostile", "config", "bench.yaml"), "w") as file:
            file.write(quiet + rest)
        time.sleep(15)
        return Growth(before, most, resident(process.pid, "VmRSS:"), sum(servers.asked))
    finally:
        servers.close()
        end(process)
