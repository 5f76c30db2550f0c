# SPDX-License-Identifier: Apache-2.0
"""Three watchers that share one PostgreSQL, each on a machine of its own where network namespaces can be made, and with a way to the
database that can be cut. The journal is read with psql and written to SQLite for the verdict; nothing of Vedette is used."""
from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

from databases import Cluster, Database
from namespaces import ADDRESS, Network
from world import Trouble, World, wait_until

TAKEOVER = 20  # seconds in which the others have the part of a watcher that is lost


class Way:
    """A TCP port that leads to the database's socket, until it is cut: then nothing comes through, and nobody is told."""

    def __init__(self, target, address):
        self.target, self.open = target, threading.Event()
        self.open.set()
        self.listener = socket.create_server((address, 0))
        self.port = self.listener.getsockname()[1]
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

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
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
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
    # One that lost its registration to the last fault notices that only when it can write again; then its unit starts it again.
    LATE_ENDS = len(NAMES)
    OF_MACHINE = ", watcher: " + NAMES[0]

    def __init__(self, vedette, work, faults=None):
        # PostgreSQL runs as another user where this is root, and must reach its directory.
        for directory in (work, os.path.dirname(work)):
            os.chmod(directory, 0o711)
        self.network = Network(self.NAMES) if Network.is_possible else None
        self.database, self.ways = None, {}
        try:
            self.open_database(os.path.join(work, "pg"))
        except Exception:
            self.close_database()
            raise
        self.processes, self.asked_of, self.takeovers = {}, {}, []
        super().__init__(vedette, work, faults=faults, address=self.address)

    @property
    def address(self):
        """The address of this process for the watchers."""
        return ADDRESS if self.network else "127.0.0.1"

    def open_database(self, directory):
        self.database = Database(directory)
        self.ways = {name: Way(self.database.socket, self.address) for name in self.NAMES}

    def server(self, name):
        """Where a watcher finds the database."""
        return "host=%s port=%d sslmode=disable gssencmode=disable" % (self.address, self.ways[name].port)

    def configure(self, variant=0):
        super().configure(variant)
        with open(os.path.join(self.config, "world.yaml")) as file:
            text = file.read()
        for name in self.NAMES:
            own = 'watcher: %s, journal: {postgres: "%s user=vedette dbname=postgres"}, ' % (name, self.server(name))
            os.makedirs(self.config_of(name), exist_ok=True)
            path = os.path.join(self.config_of(name), "world.yaml")
            with open(path + ".new", "w") as file:
                file.write(text.replace("settings: {", "settings: {" + own))
            os.replace(path + ".new", path)

    def config_of(self, name):
        return self.config + "-" + name

    @property
    def place(self):
        return ["--config", self.config_of(self.NAMES[0])]

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
                inside = self.network.inside(name) if self.network else []
                with open(self.log, "a") as log:
                    self.processes[name] = subprocess.Popen(
                        inside + ["setpriv", "--pdeathsig", "KILL", self.vedette, "run", "--config", self.config_of(name)],
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=self.environment)

    def collect_one(self, name):
        process = self.processes.pop(name, None)
        if process is None:
            return None
        code = process.wait()
        self.check_end("the watcher " + name, code, self.asked_of.pop(name, None))
        return code

    def collect(self):
        for name in self.NAMES:
            if not self.is_alive(name):
                self.collect_one(name)

    def kill_one(self, name):
        if self.is_alive(name):
            self.asked_of[name] = signal.SIGKILL
            self.processes[name].kill()
        return self.collect_one(name)

    def has_part(self, name):
        """Whether the watcher that has the name now holds something; returns what tells when nobody holds it any more."""
        rows = self.database.rows("select number from watcher w where name = '%s' and exists "
                                  "(select 1 from lease where watcher = w.number)" % name)
        return rows and rows[0][0]

    def is_taken_over(self, number):
        return not self.database.rows("select 1 from lease where watcher = %s limit 1" % number)

    def stop_one(self, name):
        """SIGTERM; I10 promises an end within 10 s. Returns its code; 0 as well where a fault before has cost it its registration, which
        ends it with 75 at the same time."""
        process = self.processes.get(name)
        if process is None:
            return 0
        if self.is_alive(name):
            self.asked_of[name] = signal.SIGTERM
            process.terminate()
        try:
            process.wait(12)
        except subprocess.TimeoutExpired:
            self.odd.append("SIGTERM did not end the watcher %s within 12 s" % name)
            return self.kill_one(name)
        code = self.collect_one(name)
        return 0 if code == 75 else code

    def stop(self, seconds=12):
        codes = [self.stop_one(name) for name in self.NAMES]
        self.dump()
        return next((code for code in codes if code != 0), 0)

    def dump(self):
        """Writes what the verdict reads to SQLite."""
        tables = {"event": "seq, id, type, source, key, body",
                  "delivery": "id, message, source, sink, rule, event, state, reason, ended_at, priority, subject, bytes",
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
        self.close_servers()
        self.close_database()

    def close_database(self):
        for way in self.ways.values():
            way.close()
        if self.database:
            self.database.close()
        if self.network:
            self.network.close()


class FailoverWorld(SharedWorld):
    """The same watchers on a primary with a synchronous standby. Each connects to the one of them that accepts writes."""

    def open_database(self, directory):
        self.database = Cluster(directory)

    def server(self, name):
        return "host=%s" % ",".join(self.database.hosts)

    def stop(self, seconds=12):
        self.database.rejoin()
        return super().stop(seconds)


def lead(run):
    """Lists change, and sources and sinks fail, for a moment."""
    for _ in range(run.dice.randrange(1, 5)):
        run.advance()
        if run.dice.random() < 0.3:
            run.outage()
        time.sleep(run.dice.uniform(0, 0.5))


def live(run):
    """A watcher is killed, stopped past its registration, separated from the database or from everything, or ended; or the server
    crashes. One fault after the other, at random."""
    world = run.world
    faults = ["kill", "stop", "way", "crash", "term"] + (["partition"] if world.network else [])
    if not world.network:
        run.notes["partitions"] = "none: no network namespaces here"
    rounds = 0
    run.start()
    while run.time_left > 0:
        run.ensure_alive()
        lead(run)
        name, fault = run.dice.choice(world.NAMES), run.dice.choice(faults)
        if fault in ("kill", "stop", "term") and not world.is_alive(name):
            continue
        run.faults += 1
        rounds += 1
        seconds = run.dice.choice((2, 8, TAKEOVER + 2))
        if fault == "kill":
            part = world.has_part(name)
            world.kill_one(name)
            await_takeover(run, fault, part, TAKEOVER + 2)
        elif fault == "stop":
            part = world.has_part(name)
            world.processes[name].send_signal(signal.SIGSTOP)
            await_takeover(run, fault, part, seconds)
            world.processes[name].send_signal(signal.SIGCONT)
        elif fault == "way":
            part = world.has_part(name)
            world.ways[name].open.clear()
            await_takeover(run, fault, part, seconds)
            world.ways[name].open.set()
        elif fault == "partition":
            part = world.has_part(name)
            world.network.connect(name, False)
            await_takeover(run, fault, part, seconds)
            world.network.connect(name, True)
        elif fault == "crash":
            world.database.crash()
            wait_until(world.database.answers, 30)
        elif world.stop_one(name) != 0:
            world.odd.append("SIGTERM did not end the watcher %s with 0" % name)
        time.sleep(run.dice.uniform(0, 2))
    run.notes.update(rounds=rounds, takeovers=world.takeovers)


def await_takeover(run, fault, part, seconds):
    """The fault lasts so long, or until the others have the part of the watcher; the lists change meanwhile."""
    begin, steps = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        if steps % 3 == 0:
            run.advance()
        steps += 1
        if part and run.world.is_taken_over(part):
            run.world.takeovers.append((fault, round(time.monotonic() - begin, 1)))
            return
        time.sleep(0.2)
    if part and seconds > TAKEOVER:
        run.world.odd.append("nobody took over within %d s after '%s'" % (seconds, fault))


def fail_over(run):
    """The primary is lost again and again, while watchers are killed and sources and sinks fail; the standby takes its place."""
    world, rounds = run.world, 0
    run.start()
    while run.time_left > 0:
        lead(run)
        if run.dice.random() < 0.2:
            name = run.dice.choice(world.NAMES)
            if world.is_alive(name):
                world.kill_one(name)
        world.database.rejoin()
        begin = time.monotonic()
        world.database.fail_over()
        last = world.database.rows("select last_seq from journal")
        run.faults += 1
        rounds += 1

        def is_stored():
            run.advance()
            return world.database.rows("select last_seq from journal") != last

        if wait_until(is_stored, 60, pause=0.2):
            world.takeovers.append(("failover", round(time.monotonic() - begin, 1)))
        else:
            world.odd.append("nothing was stored within 60 s after a fail-over")
        run.ensure_alive()
    world.database.rejoin()
    run.notes.update(rounds=rounds, takeovers=world.takeovers)


def summary_of(takeovers):
    """p50 and p99 of all takeovers, and the number and slowest of each fault."""
    if not takeovers:
        return "no takeover"
    times = sorted(seconds for _, seconds in takeovers)

    def quantile(share):
        return times[min(len(times) - 1, int(share * len(times)))]

    faults = sorted({fault for fault, _ in takeovers})
    each = ", ".join("%s %d, at most %.1f s" % (fault, sum(f == fault for f, _ in takeovers), max(s for f, s in takeovers if f == fault))
                     for fault in faults)
    return "%d takeovers: p50 %.1f s, p99 %.1f s (%s)" % (len(times), quantile(0.5), quantile(0.99), each)
