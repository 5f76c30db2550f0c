# SPDX-License-Identifier: Apache-2.0
"""Row 17: readers of the event stream, and far more connections than fit, beside a watcher that commits 1,000 events a second."""
from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import time

import flood
from pages import address_of_page
from parts import end, lateness, resident, start_notified

LISTS, READERS, CONNECTIONS = 10, 200, 10_000  # 100 rows of each list change every second
SECONDS = 20
LATEST = 60


class Reader(asyncio.Protocol):
    """Counts the events of a stream, whose ids are consecutive numbers."""

    def __init__(self):
        self.count, self.first, self.last, self.tail, self.is_closed = 0, None, 0, b"", False

    def connection_made(self, transport):
        self.transport = transport
        transport.write(b"GET /api/v1/events HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")

    def data_received(self, data):
        data = self.tail + data
        # A part of an id waits for the rest.
        end = data.rfind(b"\n") + 1
        self.tail, data = data[end:], data[:end]
        self.count += data.count(b"\nid: ") + data.startswith(b"id: ")
        if self.first is None:
            found = re.search(rb"^id: (\d+)$", data, re.M)
            self.first = int(found[1]) if found else None
        start = data.rfind(b"id: ", 0)
        if start >= 0:
            self.last = int(data[start + 4:data.index(b"\n", start)])

    def connection_lost(self, _):
        self.is_closed = True

    @property
    def is_gapless(self):
        return self.first is not None and self.count == self.last - self.first + 1


class Knocker(asyncio.Protocol):
    """A connection that asks for nothing, so that the page closes it after 15 s."""

    def __init__(self):
        self.text, self.lasted = b"", None

    def connection_made(self, transport):
        self.transport, self.opened = transport, time.monotonic()

    def data_received(self, data):
        self.text += data

    def connection_lost(self, _):
        self.lasted = time.monotonic() - self.opened

    @property
    def is_kept(self):
        return self.lasted is None or not self.text and self.lasted > 10


class Streams:
    def __init__(self):
        self.calm = self.late = self.crowded = None
        self.complete = self.cut = self.wrong = self.behind = self.events = 0
        self.open = self.refused = self.unanswered = 0
        self.memory = [0, 0, 0]


def measure(options, nginx):
    server, seen = flood.Server(), Streams()
    host, port = server.server_address
    text = "settings: {listen: \"127.0.0.1:0\"}\nsources:\n" + "".join(
        "  l%02d: {kind: json, url: \"http://%s:%d/%d\", key: id, title: title, state: state, every: 1s}\n" % (n, host, port, n) for n in range(LISTS))
    text += "".join("  p%02d: {kind: feed, url: \"%s\", every: 1s}\n" % (n, url) for n, url in enumerate(nginx.logged("still", 50)))
    process, ready = start_notified(options.vedette, options.work, "streams", text)
    try:
        ready(30)
        page = address_of_page(os.path.join(options.work, "streams", "log"))
        time.sleep(5)
        seen.calm, seen.memory[0] = late(nginx, lambda: time.sleep(SECONDS)), resident(process.pid)
        path = os.path.join(options.work, "streams", "state", "journal.db")
        asyncio.run(read(seen, page, nginx, path, process))
        asyncio.run(crowd(seen, page, nginx, process))
    finally:
        end(process)
        server.shutdown()
        server.server_close()
    return seen


def late(nginx, wait):
    offset = nginx.log_size()
    wait()
    return lateness(nginx.times(offset), 1.0)


def last_event(path):
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=10) as journal:
        return journal.execute("select coalesce(max(seq), 0) from event").fetchone()[0]


async def read(seen, page, nginx, path, process):
    loop = asyncio.get_running_loop()
    readers = [(await loop.create_connection(Reader, "127.0.0.1", page))[1] for _ in range(READERS)]
    await asyncio.sleep(2)
    begin, offset = last_event(path), nginx.log_size()
    await asyncio.sleep(SECONDS)
    seen.late, seen.memory[1] = lateness(nginx.times(offset), 1.0), resident(process.pid)
    target, deadline = last_event(path), loop.time() + LATEST
    seen.events = (target - begin) / SECONDS
    while loop.time() < deadline and not all(reader.is_closed or reader.last >= target for reader in readers):
        await asyncio.sleep(0.1)
    seen.behind = LATEST - (deadline - loop.time())
    for reader in readers:
        seen.complete += reader.is_gapless and not reader.is_closed and reader.last >= target
        seen.cut += reader.is_gapless and reader.is_closed
        seen.wrong += not reader.is_gapless or not reader.is_closed and reader.last < target
        reader.transport.abort()


async def crowd(seen, page, nginx, process):
    """Connections stay open until the last one was tried; this process may have as many descriptors."""
    loop, offset, knockers = asyncio.get_running_loop(), nginx.log_size(), []
    for _ in range(CONNECTIONS):
        knockers.append((await loop.create_connection(Knocker, "127.0.0.1", page))[1])
    await asyncio.sleep(5)
    seen.crowded, seen.memory[2] = lateness(nginx.times(offset), 1.0), resident(process.pid)
    for knocker in knockers:
        seen.open += knocker.is_kept
        seen.refused += b" 503 " in knocker.text
        seen.unanswered += not knocker.is_kept and b" 503 " not in knocker.text
        knocker.transport.abort()
