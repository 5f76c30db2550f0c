# SPDX-License-Identifier: Apache-2.0
"""Row 13: 11,000 changes a second for a sink that is down, against the bound of its queue."""
from __future__ import annotations

import json
import os
import sqlite3
import statistics
import time

from parts import JSONServer, Trouble, end, resident, run, start_notified

SOURCES, ROWS, BOUND = 110, 100, 250_000
BODIES = [json.dumps([{"id": n, "title": "row %d" % n, "state": state} for n in range(ROWS)]).encode() for state in ("on", "off")]


class Server(JSONServer):
    """A list of a hundred rows whose states are other ones at each request."""

    def __init__(self):
        self.turns = {}
        super().__init__()

    def body(self, path):
        self.turns[path] = self.turns.get(path, 0) + 1
        return BODIES[self.turns[path] % 2]


class Flood:
    """What was seen: changes a second, the most that was pending, memory, and the wall seconds of two commands."""

    def __init__(self):
        self.changes, self.pending, self.most, self.commands = 0, [], 0, {"status": [], "outbox": []}

    @property
    def is_met(self):
        slowest = max(statistics.median(times) for times in self.commands.values())
        return max(self.pending) <= BOUND and slowest < 0.1


def configuration(server):
    """Every list once a second, for a sink that is down."""
    host, port = server.server_address
    return "sources:\n" + "".join(
        "  l%03d: {kind: json, url: \"http://%s:%d/%d\", every: 1s, state: state}\n" % (n, host, port, n) for n in range(SOURCES)) + (
        "sinks:\n  down: {kind: webhook, url: \"http://127.0.0.1:9/\"}\n"
        "rules:\n  - {name: any, when: {field: state}, notify: [down]}\n")


def measure(vedette, work, seconds=60):
    """Until the bound was reached and for `seconds` more, at most five minutes."""
    server = Server()
    process, ready = start_notified(vedette, work, "flood", configuration(server))
    flood, places = Flood(), ["--config", os.path.join(work, "flood", "config"), "--state", os.path.join(work, "flood", "state")]
    try:
        ready(30)
        begin, full, first = time.monotonic(), None, None
        while full is None or time.monotonic() - full < seconds:
            if process.poll() is not None:
                raise Trouble("the watcher ended with %d" % process.returncode)
            if time.monotonic() - begin > 300:
                raise Trouble("only %d messages are pending after 300 s" % max(flood.pending))
            time.sleep(1)
            now, (events, pending) = time.monotonic(), counts(work)
            if first and now > first[0]:
                flood.changes = (events - first[1]) / (now - first[0])
            elif events > 0:
                first = (now, events)
            flood.pending.append(pending)
            flood.most = max(flood.most, resident(process.pid))
            if full is None and pending >= BOUND * 0.99:
                full = now
            if len(flood.pending) % 5 == 0:
                for command, times in flood.commands.items():
                    times.append(run([vedette, command] + places, 60)[2])
        return flood
    finally:
        end(process)
        server.shutdown()
        server.server_close()


def counts(work):
    """The last event's number and what is pending, read beside the watcher."""
    path = os.path.join(work, "flood", "state", "journal.db")
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=10) as journal:
        events = journal.execute("select coalesce(max(seq), 0) from event").fetchone()[0]
        pending = journal.execute("select coalesce(sum(count), 0) from queue_total where state != 'dead'").fetchone()[0]
    return events, pending
