# SPDX-License-Identifier: Apache-2.0
"""Row 15: the same load with the journal in SQLite, on PostgreSQL, and on PostgreSQL with three watchers."""
from __future__ import annotations

import os
import sqlite3
import subprocess
import tempfile
import time

import flood
from parts import Trouble, cpu_clock, end, start_notified, wait_until

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "lab")
SECONDS = 10.0
SOURCES, EVERY = 2000, 0.1


class SQLite:
    name, watchers = "SQLite", 1

    def __init__(self, work):
        self.work = work

    def state(self, name):
        return os.path.join(self.work, name + "-0", "state")

    def last_event(self, name):
        try:
            with sqlite3.connect("file:%s/journal.db?mode=ro" % self.state(name), uri=True, timeout=10) as journal:
                return journal.execute("select coalesce(max(seq), 0) from event").fetchone()[0]
        except sqlite3.Error:  # there is no journal yet
            return 0

    def is_divided(self, _):
        return True

    def close(self):
        pass


class Postgres:
    """A server with the settings of its package, fsync included, and a schema for each watcher. It runs as nobody for root, and so stands
    beside the directory of the others, which only their owner can enter."""

    name, watchers = "PostgreSQL", 1

    def __init__(self, work, options=()):
        self.work = work
        self.directory = os.path.join(tempfile.gettempdir(), "vedette-bench-pg.%d" % os.getpid())
        self.process = subprocess.Popen(
            [os.path.join(LAB, "postgres"), self.directory, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            raise Trouble("Tests/lab/postgres did not start")

    def state(self, name):
        self.ask("create schema if not exists %s" % name)
        return "postgres://vedette@/postgres?host=%s&options=-csearch_path%%3D%s" % (self.directory, name)

    def last_event(self, name):
        try:
            return int(self.ask("select last_seq from %s.journal" % name))
        except Trouble:  # there is no journal yet
            return 0

    def is_divided(self, name):
        """Whether every watcher has its part of the sources."""
        query = "select count(distinct watcher) from %s.lease where kind = 'source'" % name
        return int(self.ask(query)) == self.watchers

    def ask(self, query):
        command = ["psql", "host=%s user=vedette dbname=postgres" % self.directory, "-qAtc", query]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise Trouble(answer.stderr.strip())
        return answer.stdout.strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class SharedPostgres(Postgres):
    """The same with three watchers on one journal."""

    name, watchers = "PostgreSQL, 3 watchers", 3


class Rates:
    """Per second, and the CPU of the watchers for one, in seconds. The server's own is not in it."""

    def __init__(self, count, wall, cpu):
        self.rate, self.cpu = count / wall, cpu / max(1, count)


def measured(vedette, store, name, text, count, is_ready):
    processes = []
    try:
        for number in range(store.watchers):
            own = "settings: {watcher: w%d}\n" % number
            process, ready = start_notified(vedette, store.work, "%s-%d" % (name, number), own + text, store.state(name))
            processes.append(process)
            ready(60)

        def alive():
            for process in processes:
                if process.poll() is not None:
                    raise Trouble("the watcher ended with %d" % process.returncode)
            return True

        wait_until(lambda: alive() and is_ready() and store.is_divided(name), 60, "%s: the first of what is counted" % name)
        time.sleep(2)
        begin, cpu, first = time.monotonic(), sum(cpu_clock(p.pid) for p in processes), count()
        time.sleep(SECONDS)
        alive()
        return Rates(count() - first, time.monotonic() - begin, sum(cpu_clock(p.pid) for p in processes) - cpu)
    finally:
        for process in processes:
            end(process)


def changes(vedette, store):
    """Events committed, each with a message for a sink that is down: 11,000 a second are asked for."""
    server, name = flood.Server(), "changes"
    try:
        return measured(vedette, store, name, flood.configuration(server), lambda: store.last_event(name),
                        lambda: store.last_event(name) > 0)
    finally:
        server.shutdown()
        server.server_close()


def polls(vedette, store, nginx, urls):
    """Polls of lists that did not change, by nginx's count: 20,000 a second are asked for."""
    text = "sources:\n" + "".join("  f%05d: {kind: feed, url: \"%s\", every: %dms}\n" % (i, url, EVERY * 1000) for i, url in enumerate(urls))
    before = nginx.requests()
    return measured(vedette, store, "polls", text, nginx.requests, lambda: nginx.requests() - before > len(urls))
