# SPDX-License-Identifier: Apache-2.0
"""The PostgreSQL of the scenarios with several watchers: one server, or a primary with a synchronous standby that takes its place.
The servers listen on Unix sockets alone, and end with this process."""
from __future__ import annotations

import csv
import glob
import io
import os
import signal
import subprocess
import threading
import time

from world import Trouble, wait_until

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Server:
    """One process of Tests/lab/postgres."""

    def __init__(self, directory, *options):
        self.directory = directory
        self.process = subprocess.Popen([os.path.join(ROOT, "Tests/lab/postgres"), directory, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, answer):
        if self.process.stdout.readline() != answer + "\n":
            raise Trouble("Tests/lab/postgres %s is not '%s'" % (self.directory, answer))

    def order(self, word, answer):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        self.expect(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Database:
    """A PostgreSQL of its own in a directory."""

    def __init__(self, directory):
        self.psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1:]
        self.hosts = [directory]
        self.server = Server(directory)

    @property
    def socket(self):
        return os.path.join(self.server.directory, ".s.PGSQL.5432")

    def rows(self, query, patience=15):
        """The rows of the server that accepts writes; waits so many seconds for it."""
        deadline = time.monotonic() + patience
        while True:
            try:
                return self.ask(query)
            except Trouble:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.3)

    def ask(self, query):
        place = "host=%s user=vedette dbname=postgres target_session_attrs=read-write" % ",".join(self.hosts)
        done = subprocess.run(self.psql + [place, "--csv", "-t", "-c", query], capture_output=True, text=True, timeout=30)
        if done.returncode != 0:
            raise Trouble("psql: %s" % done.stderr.strip())
        return list(csv.reader(io.StringIO(done.stdout)))

    def crash(self):
        """Kills a backend: the server ends all of them, and recovers as after a crash."""
        for (pid,) in self.rows("select pid from pg_stat_activity where application_name = 'vedette' limit 1"):
            os.kill(int(pid), signal.SIGKILL)

    def answers(self):
        try:
            return bool(self.ask("select 1"))
        except Trouble:
            return False

    def close(self):
        self.server.close()


class Cluster(Database):
    """A primary whose commits wait for its standby. When it is lost, the standby takes its place and gets a new standby."""

    def __init__(self, directory):
        super().__init__(directory + "-a")
        self.hosts.append(directory + "-b")
        self.standby, self.joining, self.trouble = None, None, None
        self.join(self.hosts[1])

    def join(self, directory):
        """Starts a standby, and waits until commits wait for it."""
        self.standby = Server(directory, "--standby-of", self.server.directory)
        self.rows("alter system set synchronous_standby_names = '*'")
        self.rows("select pg_reload_conf()")
        if not wait_until(lambda: self.rows("select 1 from pg_stat_replication where sync_state = 'sync'"), 30, pause=0.1):
            raise Trouble("the standby does not become synchronous")

    def fail_over(self):
        """The primary is lost, and the standby becomes the primary. `rejoin` must follow."""
        lost, self.server, self.standby = self.server, self.standby, None
        lost.order("crash", "crashed")
        self.server.order("promote", "promoted")
        self.joining = threading.Thread(target=self.replace, args=(lost,), daemon=True)
        self.joining.start()

    def replace(self, lost):
        try:
            lost.close()
            self.join(lost.directory)
        except Exception as error:  # told by `rejoin`, in the thread that waits for it
            self.trouble = error

    def rejoin(self):
        """Waits until the new primary has a standby."""
        if self.joining:
            self.joining.join(90)
            if self.trouble or self.joining.is_alive():
                raise self.trouble or Trouble("the new primary got no standby within 90 s")
            self.joining = None

    def close(self):
        if self.joining:
            self.joining.join(90)
        for server in (self.standby, self.server):
            if server:
                server.close()
