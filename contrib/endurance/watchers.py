# SPDX-License-Identifier: Apache-2.0
"""Three watchers that share one PostgreSQL, each with a way to it of its own that can be cut. The journal is read with psql and
written to SQLite for the verdict; nothing of Vedette is used."""
from __future__ import annotations

import csv
import glob
import io
import os
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

from world import Trouble, World, wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Database:
    """A PostgreSQL of its own in a directory."""

    def __init__(self, directory):
        self.directory = directory
        self.psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1:]
        self.process = subprocess.Popen([os.path.join(ROOT, "contrib/lab/postgres"), directory], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise Trouble("contrib/lab/postgres did not start a server")

    @property
    def socket(self):
        return os.path.join(self.directory, ".s.PGSQL.5432")

    def rows(self, query):
        done = subprocess.run(self.psql + ["-h", self.directory, "-U", "vedette", "postgres", "--csv", "-t", "-c", query],
                              capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise Trouble("psql: %s" % done.stderr.strip())
        return list(csv.reader(io.StringIO(done.stdout)))

    def crash(self):
        """Kills a backend: the server ends all of them, and recovers as after a crash."""
        for (pid,) in self.rows("select pid from pg_stat_activity where application_name = 'vedette' limit 1"):
            os.kill(int(pid), signal.SIGKILL)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Way:
    """A TCP port that leads to the database's socket, until it is cut: then nothing comes through, and nobody is told."""

    def __init__(self, target):
        self.target, self.open = target, threading.Event()
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self.target)
            except OSError:
                near.close()
                far.close()
                continue
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, source, target):
        try:
            while data := source.recv(65536):
                self.open.wait()
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.open.set()
        self.listener.close()


class Processes:
    """The processes of all watchers, as World knows the one of a single watcher."""

    def __init__(self, world):
        self.world = world

    def send_signal(self, number):
        for process in self.world.processes.values():
            if process.poll() is None:
                process.send_signal(number)


class SharedWorld(World):
    """One configuration, and three watchers that have it."""

    NAMES = ("north", "south", "west")

    def __init__(self, vedette, work, faults=None):
        # PostgreSQL runs as another user where this is root, and must reach its directory.
        for directory in (work, os.path.dirname(work)):
            os.chmod(directory, 0o711)
        self.database = Database(os.path.join(work, "pg"))
        self.ways = {name: Way(self.database.socket) for name in self.NAMES}
        self.processes, self.killed_names, self.takeovers = {}, set(), []
        super().__init__(vedette, work, faults=faults)

    def configure(self, variant=0):
        super().configure(variant)
        with open(os.path.join(self.config, "world.yaml")) as file:
            text = file.read()
        for name in self.NAMES:
            own = 'watcher: %s, journal: {postgres: "host=127.0.0.1 port=%d user=vedette dbname=postgres sslmode=disable gssencmode=disable"}, ' % (
                name, self.ways[name].port)
            os.makedirs(self.place(name), exist_ok=True)
            path = os.path.join(self.place(name), "world.yaml")
            with open(path + ".new", "w") as file:
                file.write(text.replace("settings: {", "settings: {" + own))
            os.replace(path + ".new", path)

    def place(self, name):
        return self.config + "-" + name

    def command(self, verb, *arguments, seconds=30):
        done = subprocess.run([self.vedette, *verb.split(), "--config", self.place(self.NAMES[0]), *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
        return done.returncode, done.stdout, done.stderr

    def retry(self, sink):
        self.revived.update(int(id) for (id,) in self.database.rows("select id from delivery where state = 'dead' and sink = '%s'" % sink))
        self.command("outbox retry", "--sink", sink)

    # The processes.

    def is_alive(self, name):
        process = self.processes.get(name)
        return process is not None and process.poll() is None

    @property
    def alive(self):
        return all(self.is_alive(name) for name in self.NAMES)

    @property
    def process(self):
        return Processes(self) if self.processes else None

    @process.setter
    def process(self, _):
        pass

    def start(self):
        """Starts those that do not run."""
        for name in self.NAMES:
            if not self.is_alive(name):
                self.collect_one(name)
                with open(self.log, "a") as log:
                    self.processes[name] = subprocess.Popen(
                        [self.vedette, "run", "--config", self.place(name)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)

    def collect_one(self, name):
        process = self.processes.pop(name, None)
        if process is None:
            return None
        code = process.wait()
        if code > 0:
            self.odd_code(code)
        elif code < 0 and name not in self.killed_names:
            self.odd.append("the watcher %s ended by signal %d" % (name, -code))
        self.killed_names.discard(name)
        return code

    def collect(self, may_be_killed=False):
        for name in self.NAMES:
            if not self.is_alive(name):
                self.collect_one(name)

    def kill_one(self, name):
        """kill -9, and the time until nobody has a lease of it any more."""
        held = self.database.rows("select number from watcher where name = '%s'" % name)
        self.killed_names.add(name)
        self.processes[name].kill()
        self.collect_one(name)
        if not held:
            return
        begin = time.monotonic()
        if not wait_until(lambda: not self.database.rows("select 1 from lease where watcher = %s limit 1" % held[0][0]), 20, pause=0.2):
            self.odd.append("nobody took over from a killed watcher within 20 s")
        self.takeovers.append(round(time.monotonic() - begin, 1))

    def stop_one(self, name):
        """SIGTERM; I10 promises an end within 10 s."""
        process = self.processes.get(name)
        if process is None:
            return 0
        process.terminate()
        try:
            process.wait(12)
        except subprocess.TimeoutExpired:
            self.odd.append("SIGTERM did not end the watcher %s within 12 s" % name)
            self.killed_names.add(name)
            process.kill()
        return self.collect_one(name)

    def stop(self, seconds=12):
        codes = [self.stop_one(name) for name in self.NAMES]
        self.dump()
        # The last fault may have cost one its registration, which ends it just now.
        return next((code for code in codes if code not in (0, 75)), 0)

    def dump(self):
        """Writes what the verdict reads to SQLite."""
        tables = {"event": "seq, id, type, source, key, body",
                  "delivery": "id, message, source, sink, rule, event, state, reason, ended_at, bytes",
                  "queue_total": "sink, state, count, bytes"}
        numbers = {"seq", "count", "bytes", "event", "ended_at"}
        with closing(sqlite3.connect(self.journal)) as journal, journal:
            for table, columns in tables.items():
                names = columns.split(", ")
                journal.execute("create table %s (%s)" % (table, columns))
                for row in self.database.rows("select %s from %s" % (columns, table)):
                    values = [None if not value else int(value) if name in numbers or (table, name) == ("delivery", "id") else value
                              for name, value in zip(names, row)]
                    journal.execute("insert into %s values (%s)" % (table, ", ".join("?" * len(values))), values)

    def close(self):
        for name, process in self.processes.items():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        for way in self.ways.values():
            way.close()
        for server in (self.source_server, self.sink_server):
            server.socket.close()
        self.database.close()


def live(run):
    """kill -9, SIGSTOP past the registration, a cut way to the database, a crash of the server and SIGTERM, at random."""
    world = run.world
    run.start()
    while run.time_left > 0:
        for _ in range(run.dice.randrange(1, 5)):
            run.advance()
            if run.dice.random() < 0.3:
                run.outage()
            time.sleep(run.dice.uniform(0, 0.5))
        name, fault = run.dice.choice(world.NAMES), run.dice.randrange(5)
        run.faults += 1
        if fault == 0 and world.is_alive(name):
            world.kill_one(name)
        elif fault == 1 and world.is_alive(name):
            world.processes[name].send_signal(signal.SIGSTOP)
            pause(run, run.dice.choice((2, 8, 20)))
            world.processes[name].send_signal(signal.SIGCONT)
        elif fault == 2:
            world.ways[name].open.clear()
            pause(run, run.dice.choice((2, 8, 20)))
            world.ways[name].open.set()
        elif fault == 3:
            world.database.crash()
            wait_until(lambda: answers(world.database), 30)
        elif world.is_alive(name) and world.stop_one(name) != 0:
            world.odd.append("SIGTERM did not end the watcher %s with 0" % name)
        time.sleep(run.dice.uniform(0, 2))
        run.ensure_alive()
    run.notes["slowest_recovery"] = max(world.takeovers, default=0)


def pause(run, seconds):
    """Time passes, and the lists change."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        run.advance()
        time.sleep(0.5)


def answers(database):
    try:
        return bool(database.rows("select 1"))
    except Trouble:
        return False
