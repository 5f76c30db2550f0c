# SPDX-License-Identifier: Apache-2.0
"""Row 19: what one more source costs, of 1,000, 10,000 and 100,000 that are polled as often in all, in SQLite and on PostgreSQL."""
from __future__ import annotations

import os
import sqlite3
import time

from parts import Trouble, cpu_clock, end, resident, start_notified, wait_until
from stores import Postgres, SQLite

COUNTS = [1_000, 10_000, 100_000]
RATE = 2000  # polls per second of all sources together
SECONDS = 20  # or one interval, where that is longer: the first polls come together, and so do those after them
LATEST = 120  # seconds for the first poll of every source


class Cost:
    """Seconds to READY=1, also of CPU, and to the last first poll; bytes of memory then; polls and CPU seconds per second after it; bytes
    of the journal."""

    def __init__(self):
        self.ready = self.starting = self.polled = self.memory = self.polls = self.cpu = self.bytes = 0


def measure(vedette, nginx, store, count):
    name, cost = "sources_%d" % count, Cost()
    path = os.path.join(os.path.dirname(nginx.access_log), "one.json")
    with open(path, "w") as file:
        file.write('[{"id": 1, "title": "a row", "state": "on"}]\n')
    urls = [url.replace("/still/0.xml", "/one.json") for url in nginx.urls("still", 1, copies=count)]
    every = count / RATE
    directory = os.path.join(store.work, name, "config")
    os.makedirs(directory, exist_ok=True)
    # A file of the configuration has at most 4 MiB.
    for start in range(0, count, 10_000):
        with open(os.path.join(directory, "sources-%d.yaml" % start), "w") as file:
            file.write("sources:\n" + "".join(
                "  s%06d: {kind: json, url: \"%s\", key: id, title: title, state: state, every: %dms}\n" % (n, urls[n], every * 1000)
                for n in range(start, min(start + 10_000, count))))
    text = ("settings: {watcher: w0}\nsinks:\n  out: {kind: stdout, watcher: w0}\n"
            "rules:\n  - {name: any, when: {field: state}, notify: [out]}\n")
    begin = time.monotonic()
    process, ready = start_notified(vedette, store.work, name, text, store.state(name))
    try:
        ready(LATEST)
        cost.ready, cost.starting = time.monotonic() - begin, cpu_clock(process.pid)
        wait_until(lambda: process.poll() is None and polled(store, name) >= count, LATEST, "the first polls of %d sources" % count, 0.5)
        cost.polled = time.monotonic() - begin
        cost.memory = resident(process.pid)
        served, used, since = nginx.requests(), cpu_clock(process.pid), time.monotonic()
        time.sleep(max(SECONDS, every))
        seconds = time.monotonic() - since
        cost.polls, cost.cpu = (nginx.requests() - served) / seconds, (cpu_clock(process.pid) - used) / seconds
        cost.bytes = size(store, name)
        if process.poll() is not None:
            raise Trouble("the watcher ended with %d" % process.returncode)
    finally:
        end(process, 30)
    return cost


def polled(store, name):
    if isinstance(store, Postgres):
        return int(store.ask("select count(*) from %s.source where polled_at is not null" % name))
    try:
        with sqlite3.connect("file:%s/journal.db?mode=ro" % store.state(name), uri=True, timeout=10) as journal:
            return journal.execute("select count(*) from source where polled_at is not null").fetchone()[0]
    except sqlite3.Error:  # there is no journal yet
        return 0


def size(store, name):
    if isinstance(store, Postgres):
        return int(store.ask("select sum(pg_total_relation_size(relid)) from pg_stat_user_tables where schemaname = '%s'" % name))
    return sum(entry.stat().st_size for entry in os.scandir(store.state(name)) if entry.name.startswith("journal.db"))
